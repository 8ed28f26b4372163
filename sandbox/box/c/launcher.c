/* The box: a process that is built once, then starts, limits and watches one program a run.
 *
 *   grader (Python) ══ SOCK_SEQPACKET, fd 3 ══ outer process ── clone ──▶ box, pid 1 of its namespace
 *                                                                          │ a run: clone, same memory
 *                                                                          ▼
 *                                                  [stub, pid 1 of a fresh PID namespace]
 *                                                                          │ vfork, exec
 *                                                                          ▼
 *                                                                        program
 *
 * The grader decides everything and sends it as data: namespaces, mounts, the seccomp programs, limits.
 * Descriptors are passed; no path made by a program is ever followed from outside the box.
 *
 * The parts, each using only those below it:
 *   launcher     requests, one run, the loop
 *   templates    interpreters from which runs are forked
 *   watch        starts a program, watches it, lends its core while it sleeps;  child: its process until exec
 *   usage        what it uses, how long it had no core
 *   run_group    the control group
 *   files        program, input, streams, the scratch folder
 *   messages     the socket to the grader
 *   setup        builds the box
 *
 * box.h declares what they offer each other; protocol.h and template.h are messages.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "box.h"

static struct run run;
static char *names[MAX_FDS], *collect[MAX_COLLECT + 1];
static char *inputs; /* of struct input */

/* ---- requests -------------------------------------------------------------------------------- */

static int take_strings(char *p, char *end, char **into, int n, char **after) {
    for (int i = 0; i < n; i++) {
        into[i] = p;
        p = memchr(p, 0, end - p);
        if (!p++) return -1;
    }
    *after = p;
    return 0;
}

static int parse_request(ssize_t length) { /* the message; 0, or -1 when it is malformed */
    char *end = message + length, *after, *python[2] = {NULL, NULL};
    run.rq = (struct request *)message;
    run.count += run.rq->op == OP_RUN;
    if (run.rq->argc > MAX_ARGS || run.rq->nfiles > MAX_FDS - 3 || run.rq->ncollect > MAX_COLLECT ||
        take_strings(message + sizeof *run.rq, end, run.argv, run.rq->argc, &after) ||
        take_strings(after, end, names, run.rq->nfiles, &after) ||
        take_strings(after, end, collect, run.rq->ncollect, &after) ||
        take_strings(after, end, python, run.rq->flags & FORK ? 2 : 0, &inputs) ||
        (size_t)(end - inputs) / sizeof(struct input) < run.rq->ninputs) return -1;
    if (run.rq->flags & (STDIN_FD | STDOUT_FD) && run.rq->ninputs > 1) return -1;
    run.inputs_data = run.rq->flags & (INPUTS_FD | STDIN_FD) ? NULL : inputs + run.rq->ninputs * sizeof(struct input);
    run.argv[run.rq->argc] = NULL;
    run.imports = python[0], run.prologue = python[1];
    return 0;
}

/* Make the input of one run current. Return 0, or -1 when it is not in the message. */
static int take_input(uint32_t i, const char *end) {
    memcpy(&run.input, inputs + i * sizeof run.input, sizeof run.input);
    run.rq->output = run.input.output;
    uint64_t last = (uint64_t)run.input.at + run.input.length;
    return run.inputs_data && last > (uint64_t)(end - run.inputs_data) ? -1 : 0;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* Start and watch the program. Return 0 after sending a fault. `executable`, `code`, `rest`: as passed. */
static int run_program(int executable, int code, const int *rest) {
    const char *failed;
    /* Before the imports of a template, which may write to the scratch folder. */
    if (scratch_prepare(run.rq->disk)) return send_fault(errno, "run", "scratch");
    int forked = (run.rq->flags & FORK) && templates_find(&run);
    run.exec_fd = executable;
    if (!forked) run.from.socket = -1;
    if (executable >= 0 && box.is_init && !box.uid && (run.exec_fd = private_executable(executable)) < 0)
        return send_fault(errno, "run", "executable");
    if (run.in_fd < 0) open_streams(&run);
    if (run.rq->flags & STDIN_FD) close(run.in_fd), run.in_fd = *rest++;
    if (run.rq->flags & INPUTS_FD) run.inputs_fd = *rest++;
    if (run.rq->flags & STDOUT_FD) close(run.out_fd), run.out_fd = *rest++;
    if (run.in_fd < 0 || run.out_fd < 0 || run.err_pipe[1] < 0) return send_fault(errno, "run", "descriptors");
    if (!write_stdin(&run)) return send_fault(errno, "run", "stdin");
    for (uint32_t i = 0; i < run.rq->nfiles; i++)
        if (copy_to_file(AT_FDCWD, names[i], rest[i], 0666)) return send_fault(errno, "file", names[i]);
    forget_outcome(&run);
    if ((failed = run_group_begin(&run))) return send_fault(errno, "run", failed);
    count_pids_from(FIRST_PID_OF_RUNS);
    if (forked && templates_start(&run, code)) {
        if (errno == ETIME) return send_fault(errno, "run", "fork");
        /* The memory may not suffice for a fork, or the template has ended: the program is executed. */
        forked = 0, run.from.socket = -1;
        if ((failed = run_group_begin(&run))) return send_fault(errno, "run", failed);
    }
    if (forked) watch(&run);
    else if (!(run.rq->flags & FRESH)) start(&run), watch(&run);
    else if (start_and_watch_in_stub(&run)) return send_fault(errno, "run", "clone");
    return 1;
}

/* The part of the output that memory holds: a hole that was never written to takes none. */
static int64_t bytes_in_memory(const struct stat *s) {
    return s->st_blocks * 512 < s->st_size ? s->st_blocks * 512 : s->st_size;
}

/* Open the files to collect: plain files, by their own name, in the box. Return their number. */
static int collect_files(struct reply *r, int *send) {
    int count = 0;
    for (uint32_t i = 0; i < run.rq->ncollect; i++) {
        int whole = !strcmp(collect[i], ".");
        int fd = whole ? archive_folder(run.rq->output) : open_plain(AT_FDCWD, collect[i]);
        if (fd >= 0) r->collected |= 1u << i, send[count++] = fd;
    }
    return count;
}

/* Return whether it ended in any other way than well, as far as the box can see. */
static int has_failed(const struct reply *r) {
    const struct request *rq = run.rq;
    return r->wstatus || r->killed || r->hit || r->cpu_ns > rq->cpu_ns || r->memory > rq->memory ||
           r->out_size > rq->output;
}

/* Report the run. Return the state of the request. Descriptors end it: while the grader has not read such
 * output, its memory would be part of the next run's. */
static uint32_t report(int is_last) {
    struct outcome *out = &run.out;
    struct stat s = {0};
    int send[MAX_FDS], count = 0;
    struct reply *r = reply_begin();
    char *text = (char *)(r + 1);
    r->wstatus = out->wstatus;
    r->killed = out->killed;
    r->wall_ns = out->wall_ns;
    r->end_ns = out->end_ns;
    r->err_len = out->err_len;
    r->err_total = out->err_total;
    r->memory = r->rss = out->peak_rss;
    r->file = out->file_rss ? out->file_rss : -1;
    r->cpu_ns = box.cpu_fd < 0 || out->supervised ? out->cpu_ns : run_group_cpu_ns();
    if (run.from.socket >= 0) {
        r->forked = 1;
        r->start_ns = run.from.start_ns;
        r->template_anon = run.from.anon;
        r->template_file = run.from.file;
    }
    if (out->killed == KILLED_STARVED) {
        send_fault(ETIME, "run", "no core was free for it");
        return FAILED;
    }
    /* A compiled program that cannot be started (a bad header, no loader) has failed itself. */
    if (out->exec_errno) {
        if (!(run.rq->flags & EXEC_FD) || !out->at_exec) {
            send_fault(out->exec_errno, "exec", run.argv[0]);
            return FAILED;
        }
        r->err_len = r->err_total =
            snprintf(out->err, sizeof out->err, "cannot be executed: %s\n", strerror(out->exec_errno));
        if (r->err_len > run.rq->err_cap) r->err_len = run.rq->err_cap;
    }
    if (!(run.rq->flags & STDOUT_FD) && !fstat(run.out_fd, &s)) r->out_size = s.st_size;
    run_group_report(&run, r->out_size ? bytes_in_memory(&s) : 0, r);
    r->needs_recycling |= templates_lost();
    if (out->many_files) r->hit |= HIT_FILES;
    if (!out->supervised) { /* only the kernel kills a stub: for memory */
        if (!(r->hit & HIT_MEMORY)) {
            send_fault(ECHILD, "run", "the stub was killed");
            return FAILED;
        }
        r->killed = KILLED_MEMORY;
    }
    if (scratch_is_full()) r->hit |= HIT_DISK;
    int by_fd = r->out_size > INLINE_CAP;
    if (by_fd) send[count++] = run.out_fd;
    else if (r->out_size) r->out_inline = pread(run.out_fd, text, r->out_size, 0) == r->out_size ? r->out_size : 0;
    memcpy(text + r->out_inline, out->err, r->err_len);
    count += collect_files(r, send + count);
    uint32_t state = has_failed(r) ? FAILED : is_last || count || r->needs_recycling || !folder_is_clean() ? OVER : MORE;
    r->state = state;
    reply_end(r);
    if (state != MORE) replies_send(send, count);
    else replies_send_due(out->end_ns);
    for (int i = by_fd; i < count; i++) close(send[i]); /* out_fd is closed with the streams */
    return state;
}

static void report_aborted(void) { /* before a run: none of the rest takes place */
    struct reply *r = reply_begin();
    r->wstatus = SIGKILL;
    r->killed = KILLED_ABORT;
    r->state = FAILED;
    reply_end(r);
    replies_send(NULL, 0);
}

static int is_passed(int fd) {
    for (int i = 0; i < npassed; i++)
        if (passed[i] == fd) return 1;
    return 0;
}

/* Close every descriptor of the run and remove what it left. */
static void clear_away_run(void) {
    if (run.exec_fd >= 0 && !is_passed(run.exec_fd)) close(run.exec_fd);
    run.exec_fd = -1;
    if (is_passed(run.in_fd)) run.in_fd = -1;
    if (is_passed(run.out_fd)) run.out_fd = -1;
    close_streams(&run);
    if (scratch_clean()) {
        replies_send(NULL, 0);
        _exit(1); /* without the folder the box is of no use */
    }
    run_group_drop();
}

static void prepare_run(void) {
    run_group_make();
    open_streams(&run);
}

/* Run the program once for each input, until one run has failed. */
static void do_runs(const char *end) {
    int executed = !!(run.rq->flags & EXEC_FD), coded = !!(run.rq->flags & CODE_FD);
    const int executable = executed ? *passed : -1, code = coded ? passed[executed] : -1;
    uint32_t state = MORE;
    for (uint32_t i = 0; i < run.rq->ninputs && state == MORE; i++) {
        if (i && (is_aborted(&run) || wait_for_core(&run))) {
            report_aborted();
            return;
        }
        if (i) prepare_run();
        state = FAILED;
        if (take_input(i, end)) send_fault(EBADMSG, "request", "input");
        else if (run_program(executable, code, passed + executed + coded)) state = report(i + 1 == run.rq->ninputs);
        clear_away_run();
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void load(void) {
    templates_wait();
    const char *failed = load_program_files(run.rq->nfiles, names, passed);
    if (failed) send_fault(errno, "load", failed);
    else reply_end(reply_begin()), replies_send(NULL, 0);
}

static void on_child(int s) { (void)s; }

static int serve(void) {
    struct sigaction sa = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
    sigset_t chld;
    sigaction(SIGCHLD, &sa, NULL);
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL); /* delivered only while a run is waited for */
    templates_begin();
    run.exec_fd = run.in_fd = run.in_writer = run.out_fd = run.err_pipe[0] = run.err_pipe[1] = -1;
    run.from.socket = -1;
    for (ssize_t n; (n = receive()) > 0;) {
        if (n < (ssize_t)sizeof *run.rq) continue; /* an abort of a request that had just ended */
        if (parse_request(n)) send_fault(EBADMSG, "request", "malformed");
        else if (run.rq->op == OP_LOAD) load();
        else do_runs(message + n);
        close_passed();
        if (run.in_fd < 0) prepare_run(); /* of the next request, while the grader reads the reply */
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1) return strcmp(argv[1], "self-test") ? 2 : 0; /* as the program of a trial run */
    return build_box(serve);
}

/* The box: a process that is built once, then starts, limits and watches one program a run.
 *
 *   driver (Python) ══ SOCK_SEQPACKET, fd 3 ══ outer process ── clone ──▶ box, pid 1 of its namespace
 *                                                                          │ a run: clone, same memory
 *                                                                          ▼
 *                                                  [stub, pid 1 of a fresh PID namespace]
 *                                                                          │ vfork, exec
 *                                                                          ▼
 *                                                                        program
 *
 * The driver decides everything and sends it as data: namespaces, mounts, the seccomp programs, limits.
 * Descriptors are passed; no path made by a program is ever followed from outside the box.
 *
 * The parts, each using only those below it:
 *   launcher     the messages, one run, the loop
 *   templates    interpreters from which runs are forked
 *   watch        starts a program and watches it;  child: its process until exec
 *   usage        what it uses;  waiting: how long it had no core
 *   run_group    the control group
 *   files        program, input, streams, the scratch folder;  run: the data of a run
 *   setup        builds the box;  kernel_file, protocol
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "protocol.h"
#include "run.h"
#include "run_group.h"
#include "setup.h"
#include "templates.h"
#include "watch.h"

static struct run run;
static char message[MESSAGE_CAP];
static int fds[MAX_FDS], nfds; /* as passed with the message */
static char *names[MAX_FDS], *collect[MAX_COLLECT + 1];

/* ---- messages -------------------------------------------------------------------------------- */

static ssize_t receive(void) {
    union { struct cmsghdr h; char b[CMSG_SPACE(sizeof fds)]; } c;
    struct iovec v = {message, sizeof message};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    ssize_t n;
    do n = recvmsg(SOCKET, &m, MSG_CMSG_CLOEXEC); while (n < 0 && errno == EINTR);
    nfds = 0;
    struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (h && h->cmsg_type == SCM_RIGHTS) {
        nfds = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(h), nfds * sizeof(int));
    }
    return n;
}

static void send_reply(struct reply *r, const void *out, const void *err, const int *send, int count) {
    union { struct cmsghdr h; char b[CMSG_SPACE(sizeof fds)]; } c;
    struct iovec v[3] = {{r, sizeof *r}, {(void *)out, r->out_inline}, {(void *)err, r->err_len}};
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 3};
    if (count) {
        m.msg_control = &c;
        m.msg_controllen = CMSG_SPACE(count * sizeof(int));
        c.h = (struct cmsghdr){CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&c.h), send, count * sizeof(int));
    }
    while (sendmsg(SOCKET, &m, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

/* Report a fault of the machine, not of the program. */
static int send_fault(int err, const char *stage, const char *what) {
    struct reply r = {.err = err ? err : EIO};
    char text[512];
    r.err_len = snprintf(text, sizeof text, "%s %s", stage, what);
    if (r.err_len >= sizeof text) r.err_len = sizeof text - 1;
    send_reply(&r, NULL, text, NULL, 0);
    return 0;
}

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
        take_strings(after, end, python, run.rq->flags & FORK ? 2 : 0, &run.stdin_data) ||
        end - run.stdin_data < run.rq->stdin_len) return -1;
    run.argv[run.rq->argc] = NULL;
    run.imports = python[0], run.prologue = python[1];
    return 0;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* Start and watch the program. Return 0 after sending a fault. `executable`, `code`, `rest`: as passed. */
static int run_program(int executable, int code, const int *rest) {
    const char *failed;
    /* First, because an import may write to it. */
    if (scratch_prepare(run.rq->disk)) return send_fault(errno, "run", "scratch");
    int forked = (run.rq->flags & FORK) && templates_find(&run);
    run.exec_fd = executable;
    if (!forked) run.from.socket = -1;
    if (executable >= 0 && box.is_init && !box.uid && (run.exec_fd = private_executable(executable)) < 0)
        return send_fault(errno, "run", "executable");
    if (run.in_fd < 0) open_streams(&run);
    if (run.rq->flags & STDIN_FD) close(run.in_fd), run.in_fd = *rest++;
    if (run.rq->flags & STDOUT_FD) close(run.out_fd), run.out_fd = *rest++;
    if (run.in_fd < 0 || run.out_fd < 0 || run.err_pipe[1] < 0) return send_fault(errno, "run", "descriptors");
    if (!write_stdin(&run)) return send_fault(errno, "run", "stdin");
    for (uint32_t i = 0; i < run.rq->nfiles; i++)
        if (copy_to_file(AT_FDCWD, names[i], rest[i], 0666)) return send_fault(errno, "file", names[i]);
    forget_outcome(&run);
    if ((failed = run_group_begin(&run))) return send_fault(errno, "run", failed);
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
    struct stat s;
    int count = 0;
    for (uint32_t i = 0; i < run.rq->ncollect; i++) {
        int fd = openat(AT_FDCWD, collect[i], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (fd >= 0 && !fstat(fd, &s) && S_ISREG(s.st_mode)) r->collected |= 1u << i, send[count++] = fd;
        else if (fd >= 0) close(fd);
    }
    return count;
}

static void report(void) {
    static char small[INLINE_CAP];
    struct outcome *out = &run.out;
    struct stat s = {0};
    int send[MAX_FDS], count = 0;
    struct reply r = {
        .wstatus = out->wstatus, .killed = out->killed, .wall_ns = out->wall_ns, .end_ns = out->end_ns,
        .err_len = out->err_len, .err_total = out->err_total, .memory = out->peak_rss,
        .cpu_ns = box.cpu_fd < 0 || out->supervised ? out->cpu_ns : run_group_cpu_ns()};
    r.rss = out->peak_rss;
    r.file = out->file_rss ? out->file_rss : -1;
    if (run.from.socket >= 0) {
        r.forked = 1;
        r.start_ns = run.from.start_ns;
        r.template_anon = run.from.anon;
        r.template_file = run.from.file;
    }
    if (out->killed == KILLED_STARVED) {
        send_fault(ETIME, "run", "no core was free for it");
        return;
    }
    /* A compiled program that cannot be started (a bad header, no loader) has failed itself. */
    if (out->exec_errno) {
        if (!(run.rq->flags & EXEC_FD) || !out->at_exec) {
            send_fault(out->exec_errno, "exec", run.argv[0]);
            return;
        }
        r.err_len = r.err_total =
            snprintf(out->err, sizeof out->err, "cannot be executed: %s\n", strerror(out->exec_errno));
        if (r.err_len > run.rq->err_cap) r.err_len = run.rq->err_cap;
    }
    if (!(run.rq->flags & STDOUT_FD) && !fstat(run.out_fd, &s)) r.out_size = s.st_size;
    run_group_report(&run, r.out_size ? bytes_in_memory(&s) : 0, &r);
    r.needs_recycling |= templates_lost();
    if (out->many_files) r.hit |= HIT_FILES;
    if (!out->supervised) { /* only the kernel kills a stub: for memory */
        if (!(r.hit & HIT_MEMORY)) {
            send_fault(ECHILD, "run", "the stub was killed");
            return;
        }
        r.killed = KILLED_MEMORY;
    }
    if (scratch_is_full()) r.hit |= HIT_DISK;
    int by_fd = r.out_size > (int64_t)sizeof small;
    if (by_fd) send[count++] = run.out_fd;
    else if (r.out_size) r.out_inline = pread(run.out_fd, small, r.out_size, 0) == r.out_size ? r.out_size : 0;
    count += collect_files(&r, send + count);
    send_reply(&r, small, out->err, send, count);
    for (int i = by_fd; i < count; i++) close(send[i]); /* out_fd is closed with the streams */
}

static void do_run(void) {
    int executed = !!(run.rq->flags & EXEC_FD), coded = !!(run.rq->flags & CODE_FD);
    if (run_program(executed ? *fds : -1, coded ? fds[executed] : -1, fds + executed + coded)) report();
}

/* ---- the loop -------------------------------------------------------------------------------- */

static int is_passed(int fd) {
    for (int i = 0; i < nfds; i++)
        if (fds[i] == fd) return 1;
    return 0;
}

static void close_passed(void) {
    for (int i = 0; i < nfds; i++) close(fds[i]);
    nfds = 0;
}

static void release_run(void) { /* every descriptor of the run */
    if (run.exec_fd >= 0 && !is_passed(run.exec_fd)) close(run.exec_fd);
    run.exec_fd = -1;
    if (is_passed(run.in_fd)) run.in_fd = -1;
    if (is_passed(run.out_fd)) run.out_fd = -1;
    close_streams(&run);
    close_passed();
}

static void load(void) {
    struct reply r = {0};
    templates_wait();
    const char *failed = load_program_files(run.rq->nfiles, names, fds);
    if (failed) send_fault(errno, "load", failed);
    else send_reply(&r, NULL, NULL, NULL, 0);
    close_passed();
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
        if (n < (ssize_t)sizeof *run.rq) continue; /* an abort of a run that had just ended */
        if (parse_request(n)) send_fault(EBADMSG, "request", "malformed");
        else if (run.rq->op == OP_LOAD) {
            load();
            continue;
        } else do_run();
        /* Make the box ready for the next run while the driver reads the reply. */
        release_run();
        if (scratch_clean()) return 1;
        run_group_drop();
        run_group_make();
        open_streams(&run);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1) return strcmp(argv[1], "self-test") ? 2 : 0; /* as the program of a trial run */
    return build_box(serve);
}

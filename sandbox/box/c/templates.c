#define _GNU_SOURCE
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "template.h"

enum {
    START_MS = 20000, IMPORT_MS = 60000, IMPORT_LEAST_MS = 1000, CASE_MS = 20000, KEY_CAP = 8192,
    MOST_BYTES = 384 << 20 /* held by the imports of all templates */
};

static struct template {
    int socket; /* -1: cases cannot be forked from it */
    int ready, used;
    pid_t pid;
    int64_t start_ns, anon, file, held; /* held: memory that its imports added to the group */
    char key[KEY_CAP];                  /* the modules it has imported */
} templates[MOST_TEMPLATES] = {[0 ... MOST_TEMPLATES - 1] = {.socket = -1}};
static struct template *const base = templates; /* has imported nothing */
static struct run streams; /* those of the templates, of the same kinds as those of runs */
static int count, now, was_ready;

/* ---- messages -------------------------------------------------------------------------------- */

/* Wait for an event. Return 0, or -1 when none comes: the template has ended or hangs. */
static int await_event(int socket, uint32_t kind, int timeout_ms, struct template_event *event) {
    struct pollfd ready = {socket, POLLIN, 0};
    int n;
    do n = poll(&ready, 1, timeout_ms); while (n < 0 && errno == EINTR);
    if (n > 0 && recv(socket, event, sizeof *event, 0) == sizeof *event && event->kind == kind) return 0;
    errno = n ? ECHILD : ETIME;
    return -1;
}

/* ---- ending a template ----------------------------------------------------------------------- */

enum { MOST_STRANGERS = 64 };
static pid_t ended[MOST_STRANGERS];
static int strangers, ended_count, large;

static int is_stranger(const char *name) { /* a process that is neither the box nor a template */
    if (*name < '0' || *name > '9' || !strcmp(name, "1")) return 0;
    for (int i = 0; i < MOST_TEMPLATES; i++)
        if (!strcmp(name, box.residents[i])) return 0;
    return 1;
}

static int end_stranger(int dir, const char *name) {
    (void)dir;
    if (!is_stranger(name)) return 0;
    pid_t pid = atoi(name);
    strangers++;
    kill(pid, SIGKILL);
    if (ended_count < MOST_STRANGERS) ended[ended_count++] = pid;
    return 0;
}

static int note_large(int dir, const char *name) {
    if (!is_stranger(name)) return 0;
    int64_t pages = kernel_field(dir, name, "statm", 1) - kernel_field(dir, name, "statm", 2);
    return large = large || pages * box.page > MOST_BYTES;
}

/* End every process of this namespace but the box and its templates, and wait for their ends: what an import
 * has started must not be there in a run, and a dead process counts as one until it is waited for. */
static void end_strangers(void) {
    enum { TURNS = 5000 };
    struct timespec moment = {0, 200000};
    for (int turn = 0; turn < TURNS; turn++) {
        strangers = 0;
        if (!turn) ended_count = 0;
        each_entry(PROC_FD, ".", end_stranger);
        while (waitpid(-1, NULL, WNOHANG | __WALL) > 0) {}
        /* /proc may hide a process that has given up its memory and is not yet waited for. */
        while (ended_count && kill(ended[ended_count - 1], 0)) ended_count--;
        if (!strangers && !ended_count) return;
        nanosleep(&moment, NULL);
    }
}

static void drop(struct template *t) {
    if (t->socket >= 0) close(t->socket);
    if (t->ready) box.resident--;
    *box.residents[t - templates] = 0;
    run_group_keeps(-t->held);
    t->socket = -1;
    t->ready = t->pid = t->held = 0;
    end_strangers();
}

/* ---- starting a template --------------------------------------------------------------------- */

/* Whether the template printed something when it imported its modules, which a case would not repeat. */
static int has_printed(void) {
    char text[4096];
    struct stat s;
    int some = !fstat(streams.out_fd, &s) && s.st_size;
    if (some && ftruncate(streams.out_fd, 0)) return 1;
    while (read(streams.err_pipe[0], text, sizeof text) > 0) some = 1;
    return some;
}

/* Wait while it imports its modules, as long as its memory is not too large. */
static int has_imported(const struct template *t, int timeout_ms, struct template_event *event) {
    enum { PERIOD_MS = 10 };
    for (large = 0; timeout_ms > 0 && !large; timeout_ms -= PERIOD_MS) {
        if (!await_event(t->socket, READY, PERIOD_MS, event)) return 1;
        if (errno != ETIME) return 0;
        each_entry(PROC_FD, ".", note_large);
    }
    return 0;
}

static int become_ready(struct template *t, int timeout_ms) {
    struct template_event event;
    if (!has_imported(t, timeout_ms, &event) || event.err || has_printed() ||
        event.anon - base->anon > MOST_BYTES) {
        drop(t);
        return -1;
    }
    t->anon = event.anon;
    t->file = event.file;
    memcpy(box.residents[t - templates], event.pid, sizeof event.pid);
    t->pid = atoi(event.pid);
    t->ready = 1;
    box.resident++;
    return 0;
}

/* Let the right to make namespaces, and no other, survive the exec of a process that is not root. */
static int keep_right(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    uint32_t bit = 1u << CAP_SYS_ADMIN;
    struct __user_cap_data_struct one[2] = {{bit, bit, bit}};
    return syscall(SYS_capset, &header, one) || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0);
}

static char stack[STACK] __attribute__((aligned(64)));

static int execute(void *of) {
    static char *env[64], preload[] = "LD_PRELOAD=/proc/self/fd/9";
    int theirs = *(int *)of, n = 0;
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (; box.env[n] && n < 62; n++) env[n] = box.env[n];
    env[n] = preload;
    sigaction(SIGCHLD, &dfl, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    umask(022);
    syscall(SYS_setsid);
    if (chdir("/") || dup2(box.hook_fd, HOOK_FD) < 0 || dup2(streams.in_fd, 0) < 0 || dup2(streams.out_fd, 1) < 0 ||
        dup2(streams.err_pipe[1], 2) < 0 || dup2(theirs, SOCKET) < 0 || fcntl(PROC_FD, F_SETFD, 0)) _exit(127);
    if (geteuid() && keep_right()) _exit(127);
    char *argv[] = {box.template_tool, box.template_script, NULL};
    execve(*argv, argv, env);
    _exit(127);
}

void templates_begin(void) {
    static struct template_setup setup;
    int ends[2];
    if (!box.template_tool) return;
    open_streams(&streams);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) return;
    setup.box = box;
    setup.filter_len = box.child_filter_len * sizeof(struct sock_filter);
    setup.script_len = strlen(box.template_script) + 1;
    setup.prelude_len = strlen(box.template_prelude) + 1;
    struct iovec parts[] = {{&setup, sizeof setup}, {box.child_filter, setup.filter_len},
                            {box.template_script, setup.script_len}, {box.template_prelude, setup.prelude_len}};
    count = 1;
    base->socket = ends[0];
    base->pid = clone(execute, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, ends + 1);
    close(ends[1]);
    if (base->pid < 0 || send_with(base->socket, parts, 4, NULL, 0, 0)) drop(base);
}

void templates_wait(void) {
    if (base->socket >= 0 && !base->ready) was_ready = !become_ready(base, START_MS);
}

int templates_lost(void) { return was_ready && !base->ready; }

/* ---- finding one for a run ------------------------------------------------------------------- */

static struct template *oldest(int ready) { /* the one used longest ago */
    struct template *found = NULL;
    for (struct template *t = templates + 1; t < templates + count; t++)
        if (t->ready >= ready && (!found || t->used < found->used)) found = t;
    return found;
}

static struct template *unused(void) {
    if (count < MOST_TEMPLATES) return templates + count++;
    struct template *t = oldest(0);
    drop(t);
    return t;
}

static int64_t bytes_of(const struct template *t) { return t == base || !t->ready ? 0 : t->anon - base->anon; }

static void drop_some(void) { /* the ones used longest ago, until the rest holds little enough */
    int64_t held = 0;
    for (struct template *t = templates; t < templates + count; t++) held += bytes_of(t);
    while (held > MOST_BYTES) {
        struct template *t = oldest(1);
        held -= bytes_of(t);
        drop(t);
        *t->key = '\n'; /* no program's key: it may be made again */
    }
}

/* A program whose imports take longer than twice its wall time will not end in time by itself either. */
static int longest_import_ms(const struct run *run) {
    int64_t ms = IMPORT_LEAST_MS + 2 * run->rq->wall_ns / 1000000;
    return ms < IMPORT_MS ? ms : IMPORT_MS;
}

static struct template *import(const struct run *run) {
    const char *key = run->imports;
    struct template_call call = {.op = HOLD};
    struct iovec part = {&call, sizeof call};
    struct template_event held;
    struct template *t = unused();
    run_group_lift(2LL * MOST_BYTES);
    count_pids_from(2);
    int64_t before = run_group_memory();
    int ends[2], names[2] = {-1, -1};
    ssize_t n = strlen(key);
    strcpy(t->key, key);
    t->used = ++now;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) return t;
    t->socket = ends[0];
    int bad = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, names);
    if (!bad) {
        bad = write(names[1], key, n) != n || shutdown(names[1], SHUT_WR) ||
              send_with(base->socket, &part, 1, (int[]){ends[1], names[0]}, 2, 0) ||
              await_event(base->socket, HELD, CASE_MS, &held) || held.err;
        close(names[0]);
    }
    close(ends[1]);
    if (bad) drop(t);
    else if (become_ready(t, longest_import_ms(run))) {}
    else if (!scratch_is_clean()) drop(t); /* every run has to write those files */
    else {
        char took[24] = "";
        if (read(names[1], took, sizeof took - 1) > 0) t->start_ns = strtoll(took, NULL, 10);
        run_group_keeps(t->held = run_group_memory() - before);
        drop_some();
    }
    if (names[1] > 0) close(names[1]);
    if (scratch_clean()) _exit(1); /* without the folder the box is of no use */
    return t;
}

int templates_find(struct run *run) {
    struct template *found = NULL;
    templates_wait();
    if (!base->ready || strlen(run->imports) >= KEY_CAP) return 0;
    for (struct template *t = templates; t < templates + count && !found; t++)
        if (!strcmp(t->key, run->imports)) found = t;
    if (!found) found = import(run);
    if (found->socket < 0) found = base; /* the run imports its modules itself */
    found->used = ++now;
    run->from.template = found - templates;
    run->from.socket = found->socket;
    return found->socket >= 0;
}

/* ---- forking a run --------------------------------------------------------------------------- */

int templates_start(struct run *run, int code) {
    struct template *t = templates + run->from.template;
    struct template_call call = {.op = CASE, .coded = code >= 0, .grouped = run_group_fd() >= 0,
                                 .prologue_len = strlen(run->prologue), .resident = box.resident,
                                 .rq = *run->rq};
    struct iovec parts[] = {{&call, sizeof call}, {run->prologue, call.prologue_len}};
    struct template_event event;
    int fds[5] = {run->in_fd, run->out_fd, run->err_pipe[1]}, n = 3;
    if (call.coded) fds[n++] = code;
    if (call.grouped) fds[n++] = run_group_fd();
    if (sched_getaffinity(0, sizeof call.cores, &call.cores)) return -1;
    run->from.start_ns = t->start_ns;
    run->from.anon = t->anon;
    run->from.file = t->file;
    run->from.pid = t->pid;
    start_counting(run);
    int bad = send_with(t->socket, parts, 2, fds, n, 0) || await_event(t->socket, STARTED, CASE_MS, &event);
    if (!bad && event.err) errno = event.err, bad = 1;
    if (bad) {
        int reason = errno;
        drop(t);
        if (t != base) *t->key = '\n'; /* it may be made again */
        errno = reason;
        return -1;
    }
    close(run->err_pipe[1]);
    run->err_pipe[1] = -1;
    memcpy(run->out.proc_pid, event.pid, sizeof run->out.proc_pid);
    memcpy(run->from.supervisor, event.supervisor, sizeof run->from.supervisor);
    run->out.program = atoi(event.pid);
    return 0;
}

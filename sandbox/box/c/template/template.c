/* A template: a Python interpreter that has started as for any program and waits where it would open the
 * program's file. Cases are forked from it and go on from there.
 *
 * This library is loaded before the interpreter (LD_PRELOAD). It replaces fopen, with which every CPython
 * opens the script, and uses nothing else of the interpreter than its C API.
 *
 *   box ── exec ─▶ base template ─ fork ─▶ template with modules imported
 *                      │ clone: same memory, fresh PID namespace
 *                      ▼
 *                  supervisor (pid 1) ─ fork ─▶ case (pid 2): gives up its rights, reads the program
 *
 * A template reads nothing of a program: only names of modules, of the interpreter's own installation. The
 * supervisor runs in the template's memory while the template is suspended, as after vfork.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../template.h"
#include "python.h"

enum { MOST_OPEN = 1024 }; /* descriptors that are looked for */

struct box box;
static struct sock_filter filter[FILTER_CAP];
static char script[SCRIPT_CAP], prelude[PRELUDE_CAP];
static union { struct template_setup setup; struct template_call call; char bytes[MESSAGE_CAP]; } given;
static int fds[MAX_FDS], nfds;
static char supervisor_stack[STACK] __attribute__((aligned(64)));
static void *case_starts[5];
static struct run run;
static struct template_event event;
static int runs; /* this is a case, and no template any more */

/* ---- messages -------------------------------------------------------------------------------- */

static ssize_t receive_call(void) {
    union { struct cmsghdr h; char b[CMSG_SPACE(sizeof fds)]; } c;
    struct iovec v = {&given, sizeof given - 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    ssize_t n;
    do n = recvmsg(SOCKET, &m, MSG_CMSG_CLOEXEC); while (n < 0 && errno == EINTR);
    struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    nfds = h ? (h->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
    if (nfds) memcpy(fds, CMSG_DATA(h), nfds * sizeof(int));
    static ssize_t length; /* of the last message, which is cleared: a case must find nothing of another case */
    if (n >= 0 && n < length) memset(given.bytes + n, 0, length - n);
    if (n >= 0) given.bytes[length = n] = 0;
    return n;
}

static void send_event(uint32_t kind, int err) {
    event.kind = kind;
    event.err = err;
    while (send(SOCKET, &event, sizeof event, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

static void close_fds(void) {
    for (int i = 0; i < nfds; i++) close(fds[i]);
    nfds = 0;
}

static int64_t time_ns(clockid_t clock) {
    struct timespec t;
    return clock_gettime(clock, &t) ? -1 : t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t cpu_ns(const struct rusage *u) {
    return (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000LL +
           (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000LL;
}

static void name_self(char *into) {
    ssize_t n = readlinkat(PROC_FD, "self", into, 15);
    into[n > 0 ? n : 0] = 0;
}

/* ---- what a template is ---------------------------------------------------------------------- */

static int64_t status_field(const char *text, const char *key) {
    const char *p = strstr(text, key);
    return p ? strtoll(p + strlen(key), NULL, 10) : -1;
}

static ssize_t read_own(const char *path, char *text, size_t size) {
    int fd = openat(PROC_FD, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 0, more;
    while (fd >= 0 && (size_t)n < size - 1 && (more = read(fd, text + n, size - 1 - n)) > 0) n += more;
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    return n;
}

/* Whether cases may be forked from this process: it has one thread, no children, no memory that a case would
 * share with it, and no descriptors but its own. Its memory goes into the event. */
static int may_fork(void) {
    static char text[256 * 1024];
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0) {}
    if (!pid) return 0;
    if (read_own("self/status", text, sizeof text) <= 0) return 0;
    event.anon = status_field(text, "RssAnon:") * 1024;
    event.file = status_field(text, "RssFile:") * 1024;
    if (status_field(text, "Threads:") != 1) return 0;
    ssize_t n = read_own("self/maps", text, sizeof text);
    if (n <= 0 || n >= (ssize_t)sizeof text - 1) return 0;
    for (char *line = text; line && *line; line = strchr(line, '\n'), line += !!line) {
        char *modes = strchr(line, ' ');
        if (modes && modes[2] == 'w' && modes[4] == 's') return 0;
    }
    for (int fd = PROC_FD + 1; fd < MOST_OPEN; fd++)
        if (fcntl(fd, F_GETFD) >= 0) return 0;
    return 1;
}

/* Report that cases may be forked from here, or why not. `failed`: its prelude raised an exception. */
static void report_ready(int failed) {
    memset(&event, 0, sizeof event);
    name_self(event.pid);
    send_event(READY, failed ? EINVAL : may_fork() ? 0 : EBUSY);
}

/* Fork another template. It becomes a child of the box, which also ends it. `fds` has its socket and one that
 * its modules are read from. Processes that the modules leave behind become its children: see may_fork. */
static void hold(void) {
    PyOS_BeforeFork();
    pid_t pid = fork();
    if (!pid && fork()) _exit(0);
    if (pid) {
        int err = pid < 0 ? errno : 0;
        if (!err) waitpid(pid, NULL, 0); /* before the box goes on: the child would count as a process of a run */
        PyOS_AfterFork_Parent();
        send_event(HELD, err);
        return;
    }
    PyOS_AfterFork_Child();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int bad = dup2(fds[0], SOCKET) < 0 || dup2(fds[1], NAMES_FD) < 0;
    for (int i = 0; i < nfds; i++)
        if (fds[i] != NAMES_FD) close(fds[i]);
    nfds = 0;
    bad = bad || run_prelude(prelude);
    close(NAMES_FD);
    report_ready(bad);
}

/* ---- a case ---------------------------------------------------------------------------------- */

static void begin_case(void) { /* in the case; the template's own frames are below this stack */
    if (box.mem_fd >= 0) { /* let the kernel end the case before the template when memory is short */
        prctl(PR_SET_DUMPABLE, 1);
        int fd = openat(PROC_FD, "self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        if (fd >= 0 && write(fd, "500", 3) == 3) errno = 0;
        if (fd >= 0) close(fd);
    }
    name_self(event.pid);
    int coded = !!given.call.coded;
    int bad = chdir("/box/work") || become_run(&run) || prctl(PR_SET_DUMPABLE, 1) ||
              (coded && dup2(fds[CASE_STREAMS], CODE_AT) < 0) || syscall(SYS_close_range, CODE_AT + coded, ~0U, 0);
    send_event(STARTED, bad ? errno ? errno : EIO : 0);
    if (bad) _exit(127);
    close(SOCKET);
    __builtin_longjmp(case_starts, 1);
}

static int supervise(void *unused) { /* pid 1 of the case's namespace */
    sigset_t all;
    struct rusage used = {0}; /* if wait4 fails: not figures of the run before */
    int status = 0;
    (void)unused;
    /* The interpreter's handlers must not run here, in the template's memory. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    name_self(event.supervisor);
    pid_t program = fork(), pid;
    if (!program) begin_case();
    close(fds[1]); /* closed in the template as well: only the case keeps its stdout */
    fds[1] = -1;
    if (program < 0) {
        send_event(STARTED, errno);
        _exit(0);
    }
    while ((pid = wait4(-1, &status, __WALL, &used)) != program)
        if (pid < 0 && errno != EINTR) break;
    event.end_ns = time_ns(CLOCK_MONOTONIC);
    event.wstatus = status;
    event.peak_rss = used.ru_maxrss * 1024;
    event.cpu_ns = cpu_ns(&used);
    end_others(); /* nothing of the run may outlive it */
    event.supervisor_ns = time_ns(CLOCK_THREAD_CPUTIME_ID);
    _exit(0);
}

/* Fork a case. Return 1 in the case. Return 0 in the template once the case has ended and its supervisor has
 * been waited for, because the supervisor would count as a process of the next run. */
static int start_case(void) {
    int status;
    memset(&event, 0, sizeof event);
    run.rq = &given.call.rq;
    box.resident = given.call.resident;
    run.in_fd = fds[0], run.out_fd = fds[1], run.err_pipe[1] = fds[2];
    syscall(SYS_sched_setaffinity, 0, sizeof given.call.cores, &given.call.cores);
    PyOS_BeforeFork();
    if (__builtin_setjmp(case_starts)) {
        PyOS_AfterFork_Child();
        return 1;
    }
    int group = given.call.grouped ? fds[CASE_STREAMS + given.call.coded] : -1;
    int flags = CLONE_VM | CLONE_FILES | CLONE_VFORK | CLONE_NEWPID | SIGCHLD;
    pid_t pid = clone_into(group, supervise, supervisor_stack + STACK, flags, NULL);
    int err = pid < 0 ? errno : 0;
    PyOS_AfterFork_Parent();
    if (err) send_event(STARTED, err);
    else if (waitpid(pid, &status, 0) == pid) {
        event.lost = !WIFEXITED(status);
        send_event(ENDED, 0);
    }
    close_fds();
    return 0;
}

/* Serve the box. Returns in a case that has no compiled code, where the interpreter goes on. */
static void serve(void) {
    if (!find_python()) _exit(126);
    int gil = PyGILState_Ensure();
    report_ready(run_prelude(prelude));
    for (ssize_t n; (n = receive_call()) >= (ssize_t)sizeof given.call;) {
        if (given.call.op == HOLD && nfds == 2) hold();
        else if (given.call.op == CASE && nfds >= CASE_STREAMS && start_case()) {
            runs = 1; /* from here fopen opens any file: compile() reads the program's line for an error */
            char *prologue = given.bytes + sizeof given.call;
            if (given.call.prologue_len && PyRun_SimpleString(prologue)) _exit(125);
            if (given.call.coded) run_program();
            let_it_end_itself();
            PyGILState_Release(gil);
            return;
        }
        close_fds();
    }
    _exit(0); /* the box has closed the socket */
}

/* ---- where the interpreter opens the program ------------------------------------------------- */

static FILE *open_file(const char *function, const char *path, const char *mode) {
    FILE *(*open)(const char *, const char *) = dlsym(RTLD_NEXT, function);
    if (!runs && !strcmp(path, script)) serve();
    return open(path, mode); /* a case without compiled code reads and compiles the source itself */
}

#define EXPORTED __attribute__((visibility("default")))
EXPORTED FILE *fopen64(const char *path, const char *mode) { return open_file("fopen64", path, mode); }
EXPORTED FILE *fopen(const char *path, const char *mode) { return open_file("fopen", path, mode); }

#define ASK(result, name) EXPORTED result name(void) { return asked = 1, syscall(SYS_##name); }
ASK(pid_t, getpid) ASK(pid_t, getppid) ASK(uid_t, getuid) ASK(uid_t, geteuid) ASK(gid_t, getgid) ASK(gid_t, getegid)

__attribute__((constructor)) static void before_the_interpreter(void) {
    struct template_setup *setup = &given.setup;
    char **to = environ, *rest = given.bytes + sizeof *setup;
    for (char **from = environ; *from; from++)
        if (strncmp(*from, "LD_PRELOAD=", 11)) *to++ = *from;
    *to = NULL;
    close(HOOK_FD);
    prctl(PR_SET_DUMPABLE, 0); /* a case cannot open the template's memory or descriptors */
    ssize_t n = receive_call();
    if (n < (ssize_t)sizeof *setup || setup->filter_len > sizeof filter || setup->script_len > SCRIPT_CAP ||
        setup->prelude_len > PRELUDE_CAP ||
        (size_t)n != sizeof *setup + setup->filter_len + setup->script_len + setup->prelude_len) _exit(126);
    box = setup->box;
    memcpy(filter, rest, setup->filter_len);
    memcpy(script, rest += setup->filter_len, setup->script_len);
    memcpy(prelude, rest + setup->script_len, setup->prelude_len);
    box.child_filter = filter;
}

/* One program: limited and isolated between vfork and exec, then watched until it has ended. */
#define _GNU_SOURCE
#include "launcher.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

static char stacks[2][65536] __attribute__((aligned(64)));

static int64_t now_ns(clockid_t c) {
    struct timespec t;
    return clock_gettime(c, &t) ? -1 : t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* ---- the program, between vfork and exec ---------------------------------------------- */

static void cap(int what, uint64_t soft, uint64_t hard) {
    struct rlimit l = {soft, hard};
    syscall(SYS_prlimit64, 0, what, &l, NULL);
}

static int confine(void) { /* without namespaces: what the program may touch is cut down by itself, per run */
    static struct sock_filter code[FILTER_CAP];
    pid_t me = getpid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setup.ruleset_fd >= 0 && syscall(SYS_landlock_restrict_self, setup.ruleset_fd, 0)) return -1;
    for (uint32_t i = 0; i < setup.child_filter_len; i++) {
        code[i] = setup.child_filter[i];
        if (code[i].k == MY_PID) code[i].k = me; /* signals reach nobody but itself */
    }
    struct sock_fprog prog = {setup.child_filter_len, code};
    return prog.len ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) : 0;
}

static int child(void *unused) {
    (void)unused;
    sigset_t none;
    ssize_t n = readlinkat(PROC_FD, "self", sh.proc_pid, sizeof sh.proc_pid - 1);
    sh.proc_pid[n > 0 ? n : 0] = 0;
    int adj = n > 0 ? openat(PROC_FD, "self/oom_score_adj", O_WRONLY | O_CLOEXEC) : -1;
    if (adj >= 0) { /* before the box, whatever the sizes */
        if (write(adj, "500", 3) != 3) errno = 0;
        close(adj);
    }
    if (dup2(now.in_fd, 0) < 0 || dup2(now.out_fd, 1) < 0 || dup2(now.err_pipe[1], 2) < 0) goto bad;
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &dfl, NULL); /* the only one the box handles; the rest is default since its start */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    uint64_t cpu_s = (now.rq->cpu_ns + 999999999) / 1000000000 + 1;
    uint64_t fsize = now.rq->output + 1 > now.rq->fsize ? now.rq->output + 1 : now.rq->fsize;
    cap(RLIMIT_CPU, cpu_s, cpu_s + 1);
    cap(RLIMIT_FSIZE, fsize, fsize);
    cap(RLIMIT_NOFILE, now.rq->nofile, now.rq->nofile);
    if (setup.nproc_rlimit) cap(RLIMIT_NPROC, now.rq->nproc + setup.nproc_rlimit, now.rq->nproc + setup.nproc_rlimit);
    umask(022);
    if (syscall(SYS_setsid) < 0) errno = 0;
    if (setup.uid && (syscall(SYS_setresgid, setup.uid, setup.uid, setup.uid) ||
                      syscall(SYS_setresuid, setup.uid, setup.uid, setup.uid))) goto bad;
    if (!setup.uid && setup.is_init) { /* one id only: exec would drop the capabilities, this does it first */
        struct __user_cap_header_struct ch = {_LINUX_CAPABILITY_VERSION_3, 0};
        struct __user_cap_data_struct none_cap[2] = {{0}};
        if (syscall(SYS_capset, &ch, none_cap)) goto bad;
    }
    if (!setup.is_init && confine()) goto bad;
    if (now.rq->flags & EXEC_FD) syscall(SYS_execveat, now.exec_fd, "", now.argv, setup.env, AT_EMPTY_PATH);
    else execve(now.argv[0], now.argv, setup.env);
bad:
    sh.exec_errno = errno ? errno : EIO;
    _exit(127);
}

/* ---- watching it ----------------------------------------------------------------------- */

int64_t number_at(int fd, const char *key) { /* a count in a kernel file, after its key */
    char t[512];
    ssize_t n = fd < 0 ? -1 : pread(fd, t, sizeof t - 1, 0);
    if (n <= 0) return -1;
    t[n] = 0;
    char *p = key ? strstr(t, key) : t;
    return p ? strtoll(p + (key ? strlen(key) : 0), NULL, 10) : -1;
}

static int64_t proc_number(const char *file, int field) { /* of the program, by the box's /proc */
    char path[64], t[128];
    snprintf(path, sizeof path, "%s/%s", sh.proc_pid, file);
    int fd = sh.proc_pid[0] ? openat(PROC_FD, path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? -1 : read(fd, t, sizeof t - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return -1;
    t[n] = 0;
    char *p = t;
    while (field-- > 0 && (p = strchr(p, ' '))) p++;
    return p ? strtoll(p, NULL, 10) : -1;
}

static int64_t cpu_base;
int64_t cpu_used(void) {
    if (setup.cpu_fd >= 0) return number_at(setup.cpu_fd, setup.cpu_key) * setup.cpu_unit - cpu_base;
    if (sh.program <= 0) return 0;
    return now_ns((~(clockid_t)sh.program << 3) | 2); /* that process's CPU clock */
}

static void drain(void) { /* stderr: the first bytes are kept, the rest is only counted */
    static char waste[65536];
    ssize_t n;
    for (int turn = 0; turn < 64; turn++) { /* bounded: the clock must be looked at */
        uint32_t room = now.rq->err_cap > sh.err_len ? now.rq->err_cap - sh.err_len : 0;
        n = read(now.err_pipe[0], room ? sh.err + sh.err_len : waste, room ? room : sizeof waste);
        if (n <= 0) return;
        sh.err_total += n;
        if (room) sh.err_len += n;
    }
}

static void look(int64_t started) { /* is a limit passed? */
    int64_t cpu = cpu_used(), wall = now_ns(CLOCK_MONOTONIC) - started;
    struct stat s;
    if (cpu > now.rq->cpu_ns) sh.killed = K_CPU;
    else if (setup.mem_fd < 0 && proc_number("statm", 1) * setup.page > now.rq->memory) sh.killed = K_MEMORY;
    else if (!(now.rq->flags & STDOUT_FD) && !fstat(now.out_fd, &s) && s.st_size > now.rq->output) sh.killed = K_OUTPUT;
    else if (wall > now.rq->wall_ns) {
        sh.waited_ns = proc_number("schedstat", 1); /* waiting for a core is not its doing */
        if (wall - (sh.waited_ns > 0 ? sh.waited_ns : 0) > now.rq->wall_ns) sh.killed = K_WALL;
    }
}

void supervise(void) { /* in the stub, or in the box itself (fast mode) */
    sigset_t chld, open;
    struct rusage ru = {0};
    int64_t t0 = now_ns(CLOCK_MONOTONIC), left, cpu_left;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, &open);
    sigdelset(&open, SIGCHLD);
    /* spawn_flags: where forking is barred, a namespace flag that only the box may use lets this one pass */
    sh.program = clone(child, stacks[1] + sizeof stacks[1], CLONE_VM | CLONE_VFORK | SIGCHLD | setup.spawn_flags, NULL);
    if (sh.program < 0) sh.exec_errno = errno;
    close(now.err_pipe[1]);
    now.err_pipe[1] = -1;
    for (int gone = sh.program < 0; !gone;) {
        pid_t p;
        int st;
        while ((p = wait4(-1, &st, WNOHANG | __WALL, &ru)) > 0)
            if (p == sh.program) {
                gone = 1;
                sh.wstatus = st;
                sh.end_ns = now_ns(CLOCK_MONOTONIC);
                sh.peak_rss = ru.ru_maxrss * 1024;
                sh.cpu_ns = (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000LL +
                            (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000LL;
                break;
            }
        if (gone) break;
        if (!sh.killed) look(t0);
        if (sh.killed) kill(sh.program, SIGKILL);
        if (sh.killed && !setup.is_init) kill(-sh.program, SIGKILL); /* a compiler's children share its group */
        cpu_left = now.rq->cpu_ns - cpu_used();
        left = t0 + now.rq->wall_ns - now_ns(CLOCK_MONOTONIC);
        if (left < 20000000) left = 20000000;
        if (cpu_left < left) left = cpu_left;
        if (now.rq->core < 0 && left > 10000000) left = 10000000; /* many cores: CPU runs faster than time */
        if (setup.mem_fd < 0 && left > 5000000) left = 5000000;
        if (left < 200000) left = 200000;
        struct timespec ts = {left / 1000000000, left % 1000000000};
        struct pollfd pf[2] = {{SOCKET, POLLIN | POLLRDHUP, 0}, {now.err_pipe[0], POLLIN, 0}};
        if (ppoll(pf, 2, &ts, &open) > 0) {
            if (pf[0].revents) sh.killed = K_ABORT;
            if (pf[1].revents & POLLIN) drain();
            else if (pf[1].revents) { close(now.err_pipe[0]); now.err_pipe[0] = -1; }
        }
    }
    sh.wall_ns = (sh.end_ns ? sh.end_ns : now_ns(CLOCK_MONOTONIC)) - t0;
    if (setup.is_init) { /* nothing of the run may outlive it; never kill(-1) outside a namespace */
        kill(-1, SIGKILL);
        while (wait4(-1, NULL, __WALL, NULL) > 0 || errno == EINTR) {}
    }
    if (now.err_pipe[0] >= 0) drain();
    sh.supervised = 1;
    sigprocmask(SIG_UNBLOCK, &chld, NULL);
}

static int stub(void *unused) {
    (void)unused;
    supervise();
    _exit(0);
}

int supervise_fresh(void) { /* the same from a stub that is pid 1 of a new namespace, which ends with it */
    int st, flags = CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_NEWPID | SIGCHLD;
    pid_t s = clone(stub, stacks[0] + sizeof stacks[0], flags, NULL);
    if (s < 0) return -1;
    while (wait4(s, &st, __WALL, NULL) < 0 && errno == EINTR) {}
    return 0;
}

void cpu_start(void) {
    cpu_base = 0;
    cpu_base = setup.cpu_fd >= 0 ? cpu_used() : 0;
}

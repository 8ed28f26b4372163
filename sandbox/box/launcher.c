/* The box: a process that is built once, then forks, limits and watches one program a run.
 *
 *   driver (Python) --SOCK_SEQPACKET, fd 3--> outer ---clone---> box (pid 1 of its namespace)
 *                                                                 | a run: clone, same memory
 *                                                                 v
 *                                               [stub, pid 1 of a fresh pid namespace]
 *                                                                 | vfork + exec
 *                                                                 v  the program
 *
 * The driver decides everything and hands it over as data: which namespaces, which mounts,
 * the seccomp program, the limits. This file only carries it out; wire.py is its other half.
 * Descriptors are passed; no path made by a program is ever followed from outside the box.
 */
#define _GNU_SOURCE
#include "launcher.h"

static struct shared { /* the box, its stub and the child before its exec share this memory */
    pid_t program;      /* as the supervisor sees it */
    char proc_pid[16];  /* as the box's /proc sees it */
    int exec_errno, supervised, wstatus, killed;
    int64_t cpu_ns, wall_ns, end_ns, peak_rss, err_total, waited_ns;
    uint32_t err_len;
    char err[ERR_CAP];
} sh;
static char buf[MESSAGE_CAP], stacks[2][65536] __attribute__((aligned(64)));
static int fds[MAX_FDS], nfds, sock = 3;
static struct request *rq = (struct request *)buf;
static char *argv[MAX_ARGS + 1], *names[MAX_FDS], *stdin_data;
static int in_fd, out_fd, exec_fd, err_pipe[2];

static int64_t now_ns(clockid_t c) {
    struct timespec t;
    return clock_gettime(c, &t) ? -1 : t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* ---- messages ------------------------------------------------------------------------ */

static ssize_t receive(void) {
    union { struct cmsghdr h; char b[CMSG_SPACE(sizeof fds)]; } c;
    struct iovec v = {buf, sizeof buf};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    ssize_t n;
    do n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC); while (n < 0 && errno == EINTR);
    nfds = 0;
    struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (h && h->cmsg_type == SCM_RIGHTS) {
        nfds = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(h), nfds * sizeof(int));
    }
    return n;
}

static void reply(struct reply *r, const void *out, const void *err, const int *send, int count) {
    union { struct cmsghdr h; char b[CMSG_SPACE(sizeof fds)]; } c;
    struct iovec v[3] = {{r, sizeof *r}, {(void *)out, r->out_inline}, {(void *)err, r->err_len}};
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 3};
    if (count) {
        m.msg_control = &c;
        m.msg_controllen = CMSG_SPACE(count * sizeof(int));
        c.h = (struct cmsghdr){CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&c.h), send, count * sizeof(int));
    }
    while (sendmsg(sock, &m, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

static void fault(int err, const char *stage, const char *what) { /* the machine's, not the program's */
    struct reply r = {.err = err ? err : EIO};
    char text[512];
    r.err_len = snprintf(text, sizeof text, "%s %s", stage, what);
    if (r.err_len >= sizeof text) r.err_len = sizeof text - 1;
    reply(&r, NULL, text, NULL, 0);
}

/* ---- the program, between vfork and exec ---------------------------------------------- */

static void cap(int what, uint64_t soft, uint64_t hard) {
    struct rlimit l = {soft, hard};
    syscall(SYS_prlimit64, 0, what, &l, NULL);
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
    if (dup2(in_fd, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(err_pipe[1], 2) < 0) goto bad;
    /* 13 signals that handlers or the box itself touched must be default again */
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &dfl, NULL);
    sigaction(SIGPIPE, &dfl, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    uint64_t cpu_s = (rq->cpu_ns + 999999999) / 1000000000 + 1;
    uint64_t fsize = rq->output + 1 > rq->fsize ? rq->output + 1 : rq->fsize;
    cap(RLIMIT_CPU, cpu_s, cpu_s + 1);
    cap(RLIMIT_FSIZE, fsize, fsize);
    cap(RLIMIT_NOFILE, rq->nofile, rq->nofile);
    if (setup.nproc_rlimit) cap(RLIMIT_NPROC, rq->nproc + setup.nproc_rlimit, rq->nproc + setup.nproc_rlimit);
    if (rq->core >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(rq->core, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    if (syscall(SYS_setsid) < 0) errno = 0;
    if (setup.uid && (syscall(SYS_setresgid, setup.uid, setup.uid, setup.uid) ||
                      syscall(SYS_setresuid, setup.uid, setup.uid, setup.uid))) goto bad;
    struct __user_cap_header_struct ch = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none_cap[2] = {{0}};
    if (syscall(SYS_capset, &ch, none_cap)) goto bad;
    if (rq->flags & EXEC_FD) syscall(SYS_execveat, exec_fd, "", argv, setup.env, AT_EMPTY_PATH);
    else execve(argv[0], argv, setup.env);
bad:
    sh.exec_errno = errno ? errno : EIO;
    _exit(127);
}

/* ---- watching it ----------------------------------------------------------------------- */

static int64_t number_at(int fd, const char *key) { /* a count in a kernel file, after its key */
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
static int64_t cpu_used(void) {
    if (setup.cpu_fd >= 0) return number_at(setup.cpu_fd, setup.cpu_key) * setup.cpu_unit - cpu_base;
    if (sh.program <= 0) return 0;
    return now_ns((~(clockid_t)sh.program << 3) | 2); /* that process's CPU clock */
}

static void drain(void) { /* stderr: the first bytes are kept, the rest is only counted */
    static char waste[65536];
    ssize_t n;
    for (int turn = 0; turn < 64; turn++) { /* bounded: the clock must be looked at */
        uint32_t room = rq->err_cap > sh.err_len ? rq->err_cap - sh.err_len : 0;
        n = read(err_pipe[0], room ? sh.err + sh.err_len : waste, room ? room : sizeof waste);
        if (n <= 0) return;
        sh.err_total += n;
        if (room) sh.err_len += n;
    }
}

static void look(int64_t started) { /* is a limit passed? */
    int64_t cpu = cpu_used(), wall = now_ns(CLOCK_MONOTONIC) - started;
    struct stat s;
    if (cpu > rq->cpu_ns) sh.killed = K_CPU;
    else if (setup.mem_fd < 0 && proc_number("statm", 1) * 4096 > rq->memory) sh.killed = K_MEMORY;
    else if (!(rq->flags & STDOUT_FD) && !fstat(out_fd, &s) && s.st_size > rq->output) sh.killed = K_OUTPUT;
    else if (wall > rq->wall_ns) {
        sh.waited_ns = proc_number("schedstat", 1); /* waiting for a core is not its doing */
        if (wall - (sh.waited_ns > 0 ? sh.waited_ns : 0) > rq->wall_ns) sh.killed = K_WALL;
    }
}

static void supervise(void) { /* in the stub, or in the box itself (fast mode) */
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
    close(err_pipe[1]);
    err_pipe[1] = -1;
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
        cpu_left = rq->cpu_ns - cpu_used();
        left = t0 + rq->wall_ns - now_ns(CLOCK_MONOTONIC);
        if (left < 20000000) left = 20000000;
        if (cpu_left < left) left = cpu_left;
        if (rq->core < 0 && left > 10000000) left = 10000000; /* many cores: CPU runs faster than time */
        if (setup.mem_fd < 0 && left > 5000000) left = 5000000;
        if (left < 200000) left = 200000;
        struct timespec ts = {left / 1000000000, left % 1000000000};
        struct pollfd pf[2] = {{sock, POLLIN | POLLRDHUP, 0}, {err_pipe[0], POLLIN, 0}};
        if (ppoll(pf, 2, &ts, &open) > 0) {
            if (pf[0].revents) sh.killed = K_ABORT;
            if (pf[1].revents & POLLIN) drain();
            else if (pf[1].revents) { close(err_pipe[0]); err_pipe[0] = -1; }
        }
    }
    sh.wall_ns = (sh.end_ns ? sh.end_ns : now_ns(CLOCK_MONOTONIC)) - t0;
    if (setup.is_init) { /* nothing of the run may outlive it; never kill(-1) outside a namespace */
        kill(-1, SIGKILL);
        while (wait4(-1, NULL, __WALL, NULL) > 0 || errno == EINTR) {}
    }
    if (err_pipe[0] >= 0) drain();
    sh.supervised = 1;
    sigprocmask(SIG_UNBLOCK, &chld, NULL);
}

static int stub(void *unused) {
    (void)unused;
    supervise();
    _exit(0);
}

/* ---- one run ---------------------------------------------------------------------------- */

static int take_strings(char *p, char *end, char **into, int n, char **after) {
    for (int i = 0; i < n; i++) {
        into[i] = p;
        p = memchr(p, 0, end - p);
        if (!p++) return -1;
    }
    *after = p;
    return 0;
}

static int put(int dir, const char *name, int from, int mode) { /* a descriptor's bytes into a new file */
    int to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    off_t at = 0;
    struct stat s;
    if (to < 0 || fstat(from, &s)) return -1;
    while (at < s.st_size)
        if (sendfile(to, from, &at, s.st_size - at) <= 0) { close(to); return -1; }
    fchmod(to, mode);
    return close(to);
}

static int write_number(int fd, int64_t v) {
    char t[24];
    int n = snprintf(t, sizeof t, "%lld", (long long)v);
    return pwrite(fd, t, n, 0) == n ? 0 : -1;
}

static int64_t mem_base, mem_limit_now, oom_base, pids_base, pids_now;
static const char *mem_start(void) { /* the cgroup's peak starts at what is left of the run before */
    if (setup.mem_fd < 0) return NULL;
    if (setup.peak_fd >= 0 && setup.peak_resets && pwrite(setup.peak_fd, "0", 1, 0) < 0) return "memory peak";
    mem_base = number_at(setup.mem_fd, NULL);
    int64_t want = mem_base + rq->memory + rq->output + 65536;
    if (want < mem_limit_now - 262144 || want > mem_limit_now) {
        mem_limit_now = want;
        if (write_number(setup.limit_fd, want)) return "memory limit";
    }
    if (setup.pids_max_fd >= 0 && pids_now != rq->nproc + 2) /* the box and its stub count as well */
        if (write_number(setup.pids_max_fd, pids_now = rq->nproc + 2)) return "process limit";
    oom_base = number_at(setup.oom_fd, setup.oom_key);
    pids_base = number_at(setup.pids_event_fd, "max ");
    return NULL;
}

static int reset(int force) { /* a clean scratch: a fresh tmpfs when this one was touched */
    static struct statfs was;
    static struct stat dirs[3];
    static int64_t disk;
    static const char *const sub[3] = {"work", "tmp", "shm"};
    struct statfs is;
    struct stat d[3];
    int same = !force && disk == rq->disk && !fstatfs(setup.scratch_fd, &is) && is.f_bfree == was.f_bfree &&
               is.f_ffree == was.f_ffree;
    for (int i = 0; same && i < 3; i++)
        same = !fstatat(setup.scratch_fd, sub[i], d + i, AT_SYMLINK_NOFOLLOW) && d[i].st_ino == dirs[i].st_ino &&
               d[i].st_mode == dirs[i].st_mode && !memcmp(&d[i].st_ctim, &dirs[i].st_ctim, sizeof d[i].st_ctim);
    if (same) return 0;
    char options[96];
    snprintf(options, sizeof options, "mode=755,size=%lld,nr_inodes=65536", (long long)(disk = rq->disk));
    if (chdir("/") || (setup.scratch_fd >= 0 && umount2("/box", MNT_DETACH))) return -1;
    if (mount("box", "/box", "tmpfs", MS_NOSUID | MS_NODEV, options)) return -1;
    if (setup.scratch_fd >= 0) close(setup.scratch_fd);
    if ((setup.scratch_fd = open("/box", O_DIRECTORY | O_CLOEXEC)) < 0) return -1;
    for (int i = 0; i < 3; i++)
        if (mkdirat(setup.scratch_fd, sub[i], 0777) || fchmodat(setup.scratch_fd, sub[i], i ? 01777 : 0777, 0) ||
            fstatat(setup.scratch_fd, sub[i], dirs + i, 0)) return -1;
    return chdir("/box/work") || fstatfs(setup.scratch_fd, &was) ? -1 : 0;
}

static void load(void) { /* program files into /program, which programs see read-only */
    static char old[MAX_FDS][256];
    static int count;
    while (count > 0) unlinkat(PROGRAM_FD, old[--count], 0);
    struct reply r = {0};
    for (uint32_t i = 0; i < rq->nfiles; i++) {
        if (strlen(names[i]) > 255 || put(PROGRAM_FD, names[i], fds[i], 0555)) return fault(errno, "load", names[i]);
        strcpy(old[count++], names[i]);
    }
    reply(&r, NULL, NULL, NULL, 0);
}

static void run(char **collect) {
    static char small[INLINE_CAP];
    int next = 0, send[MAX_FDS], count = 0, st;
    const char *why;
    struct rusage ru;
    exec_fd = rq->flags & EXEC_FD ? fds[next++] : -1;
    in_fd = rq->flags & STDIN_FD ? fds[next++] : memfd_create("stdin", MFD_CLOEXEC);
    out_fd = rq->flags & STDOUT_FD ? fds[next++] : memfd_create("stdout", MFD_CLOEXEC);
    memset(&sh, 0, offsetof(struct shared, err));
    if (in_fd < 0 || out_fd < 0 || pipe2(err_pipe, O_CLOEXEC | O_NONBLOCK)) return fault(errno, "run", "descriptors");
    fcntl(err_pipe[1], F_SETFL, 0); /* the program's end blocks, as any stderr does */
    if (!(rq->flags & STDIN_FD) && rq->stdin_len &&
        (write(in_fd, stdin_data, rq->stdin_len) != rq->stdin_len || lseek(in_fd, 0, SEEK_SET)))
        return fault(errno, "run", "stdin");
    if (setup.scratch && reset(0)) return fault(errno, "run", "scratch");
    for (uint32_t i = 0; i < rq->nfiles; i++)
        if (put(AT_FDCWD, names[i], fds[next + i], 0666)) return fault(errno, "file", names[i]);
    if ((why = mem_start())) return fault(errno, "run", why);
    cpu_base = 0;
    cpu_base = setup.cpu_fd >= 0 ? cpu_used() : 0;
    if (rq->flags & FRESH) {
        pid_t s = clone(stub, stacks[0] + sizeof stacks[0], CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_NEWPID | SIGCHLD, NULL);
        if (s < 0) return fault(errno, "run", "clone");
        while (wait4(s, &st, __WALL, &ru) < 0 && errno == EINTR) {}
    } else supervise();
    struct reply r = {.wstatus = sh.wstatus, .killed = sh.killed, .wall_ns = sh.wall_ns, .end_ns = sh.end_ns,
                      .waited_ns = sh.waited_ns, .err_len = sh.err_len, .err_total = sh.err_total,
                      .cpu_ns = setup.cpu_fd >= 0 ? cpu_used() : sh.cpu_ns, .memory = sh.peak_rss};
    if (sh.exec_errno) return fault(sh.exec_errno, "exec", argv[0]);
    struct stat s;
    struct statfs f;
    if (!(rq->flags & STDOUT_FD) && !fstat(out_fd, &s)) r.out_size = s.st_size;
    if (setup.mem_fd >= 0) {
        int64_t peak = number_at(setup.peak_fd, NULL) - mem_base;
        r.memory = peak > r.out_size ? peak - r.out_size : peak;
        r.peak_raw = peak;
        if (number_at(setup.oom_fd, setup.oom_key) > oom_base) r.hit |= H_MEMORY;
        if (number_at(setup.pids_event_fd, "max ") > pids_base) r.hit |= H_PROCESSES;
    }
    if (!sh.supervised && !(r.hit & H_MEMORY)) return fault(ECHILD, "run", "the stub was killed");
    if (!sh.supervised) r.killed = K_MEMORY;
    if (setup.scratch && !fstatfs(setup.scratch_fd, &f) && (!f.f_bfree || !f.f_ffree)) r.hit |= H_DISK;
    if (r.out_size > 0 && r.out_size <= (int64_t)sizeof small) {
        r.out_inline = pread(out_fd, small, r.out_size, 0) == r.out_size ? r.out_size : 0;
    } else if (r.out_size) send[count++] = out_fd;
    for (uint32_t i = 0; i < rq->ncollect; i++) { /* only a plain file, by its own name, inside the box */
        int c = openat(AT_FDCWD, collect[i], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (c >= 0 && !fstat(c, &s) && S_ISREG(s.st_mode)) r.collected |= 1u << i, send[count++] = c;
        else if (c >= 0) close(c);
    }
    reply(&r, small, sh.err, send, count);
    for (int i = send[0] == out_fd && count ? 1 : 0; i < count; i++) close(send[i]);
}

static void release(void) { /* every descriptor of the run, then a clean box before the next one asks */
    for (int i = 0; i < nfds; i++) close(fds[i]);
    if (!(rq->flags & STDIN_FD) && in_fd > 0) close(in_fd);
    if (!(rq->flags & STDOUT_FD) && out_fd > 0) close(out_fd);
    for (int i = 0; i < 2; i++)
        if (err_pipe[i] > 0) close(err_pipe[i]);
    in_fd = out_fd = err_pipe[0] = err_pipe[1] = -1;
}

static void on_child(int s) { (void)s; }

int box_loop(void) {
    struct sigaction sa = {.sa_handler = on_child};
    char *after, *collect[33];
    sigaction(SIGCHLD, &sa, NULL);
    in_fd = out_fd = err_pipe[0] = err_pipe[1] = -1;
    for (ssize_t n; (n = receive()) >= (ssize_t)sizeof *rq;) {
        char *p = buf + sizeof *rq, *end = buf + n;
        if (rq->argc > MAX_ARGS || rq->nfiles > MAX_FDS - 3 || rq->ncollect > 32 ||
            take_strings(p, end, argv, rq->argc, &after) || take_strings(after, end, names, rq->nfiles, &after) ||
            take_strings(after, end, collect, rq->ncollect, &after) || end - after < rq->stdin_len)
            fault(EBADMSG, "request", "malformed");
        else {
            argv[rq->argc] = NULL;
            stdin_data = after;
            if (rq->op == OP_LOAD) load();
            else run(collect);
        }
        release();
        if (rq->op == OP_RUN && setup.scratch && reset(0)) return 1;
    }
    return 0;
}

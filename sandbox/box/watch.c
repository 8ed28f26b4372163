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

static int64_t longest_ns(void) { return 15 * now.rq->wall_ns + 30000000000LL; } /* before the driver loses patience */

static int confine(void) { /* what only the program must not do, the box may: cut down by itself, per run */
    static struct sock_filter code[FILTER_CAP];
    pid_t me = getpid();
    if (!setup.is_init) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setup.ruleset_fd >= 0 && syscall(SYS_landlock_restrict_self, setup.ruleset_fd, 0)) return -1;
    for (uint32_t i = 0; i < setup.child_filter_len; i++) {
        code[i] = setup.child_filter[i];
        if (code[i].k == MY_PID) code[i].k = me; /* signals reach nobody but itself */
    }
    struct sock_fprog prog = {setup.child_filter_len, code};
    return prog.len ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) : 0;
}

static int child(void *unused) {
    (void)unused;
    sigset_t none;
    ssize_t n = readlinkat(PROC_FD, "self", sh.proc_pid, sizeof sh.proc_pid - 1);
    sh.proc_pid[n > 0 ? n : 0] = 0;
    if (now.ahead && gate_open()) goto bad;
    if (dup2(now.in_fd, 0) < 0 || dup2(now.out_fd, 1) < 0 || dup2(now.err_pipe[1], 2) < 0) goto bad;
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &dfl, NULL); /* the only one the box handles; the rest is default since its start */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* the watch decides on time: the kernel counts RLIMIT_CPU by whole ticks, and charged 14 s to a program that
     * had used 9.4 s while others ran between its ticks. The clock is the most that ticks can come to. What a
     * compiler starts where no group adds it up is seen by nobody else: there the ticks have to do. */
    uint64_t cpu_s = (setup.data_rlimit ? now.rq->cpu_ns : longest_ns()) / 1000000000 + 2;
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
    if (setup.data_rlimit) cap(RLIMIT_DATA, now.rq->memory, now.rq->memory); /* of each process: nobody adds them up */
    if (now.ahead && gate_arm()) goto bad;
    if ((!setup.is_init || setup.child_filter_len) && confine()) goto bad;
    sh.at_exec = 1; /* from here on a refusal is about the program's own file */
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

static int64_t proc_number(int dir, const char *of, const char *file, int field) { /* a file of small numbers */
    char path[64], t[128];
    snprintf(path, sizeof path, "%s/%s", of, file);
    int fd = *of ? openat(dir, path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? -1 : read(fd, t, sizeof t - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return -1;
    t[n] = 0;
    char *p = t;
    while (field-- > 0 && (p = strchr(p, ' '))) p++;
    return p ? strtoll(p, NULL, 10) : -1;
}

static int64_t group_base, own_base;
int64_t cpu_of_group(void) { return number_at(setup.cpu_fd, setup.cpu_key) * setup.cpu_unit - group_base; }

/* Said by whoever watches, who is in the group as well: its own share, which grows with time and with what the
 * program writes to stderr, is none of the program's. */
static int64_t cpu_used(void) {
    if (setup.cpu_fd < 0) return sh.program > 0 ? now_ns((~(clockid_t)sh.program << 3) | 2) : 0; /* that process's CPU clock */
    int64_t own = now_ns(CLOCK_PROCESS_CPUTIME_ID) - own_base; /* first: the group's count is up to date then */
    return cpu_of_group() - own;
}

static void cpu_begins(void) {
    if (setup.cpu_fd < 0) return;
    own_base = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    group_base = 0;
    group_base = cpu_of_group();
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

/* ---- what the kernel's /proc says of the run ------------------------------------------- */

enum { LOOK_NS = 50000000, TASKS = 1024, MOST_TASKS = 64 };
static struct { int tid; int64_t delay; } seen[TASKS]; /* how long each task had waited for a core when last looked at */
static int64_t most_delay, most_pages, looked_ns, looked_cpu, look_after;
static char stub_pid[16];
static int visited, runnable;

static void each(int at, const char *path, void (*visit)(int dir, const char *name)) { /* numbered entries of a folder */
    char entries[4096] __attribute__((aligned(8)));
    int dir = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long n; dir >= 0 && visited < MOST_TASKS && (n = syscall(SYS_getdents64, dir, entries, sizeof entries)) > 0;)
        for (long i = 0; i < n && visited < MOST_TASKS;) {
            char *e = entries + i;
            unsigned short length;
            memcpy(&length, e + 16, sizeof length); /* struct linux_dirent64: d_reclen, then type and name */
            if (e[19] >= '0' && e[19] <= '9') visit(dir, e + 19);
            i += length;
        }
    if (dir >= 0) close(dir);
}

static int state_of(int dir, const char *tid) { /* after the name, which may hold anything but has an end */
    char path[32], t[128];
    snprintf(path, sizeof path, "%.15s/stat", tid);
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, t, sizeof t - 1);
    if (fd >= 0) close(fd);
    t[n > 0 ? n : 0] = 0;
    char *p = strrchr(t, ')');
    return p && p[1] ? p[2] : 0;
}

static void note_delay(int dir, const char *tid) { /* the longest wait of any one task since the last look */
    int64_t delay = proc_number(dir, tid, "schedstat", 1);
    int n = atoi(tid), i = n % TASKS;
    visited++;
    runnable |= state_of(dir, tid) == 'R';
    if (delay < 0) return;
    for (int tries = 0; seen[i].tid && seen[i].tid != n && tries < 16; tries++) i = (i + 1) % TASKS;
    int64_t more = delay - (seen[i].tid == n ? seen[i].delay : 0);
    seen[i].tid = n;
    seen[i].delay = delay;
    if (more > most_delay) most_delay = more;
}

static void note_pages(int dir, const char *tid) { /* a leader that has ended shows no memory, its threads do */
    int64_t pages = proc_number(dir, tid, "statm", 1);
    visited++;
    if (pages > most_pages) most_pages = pages;
}

static void note_process(int dir, const char *pid) {
    char path[32];
    if (!strcmp(pid, "1") || !strcmp(pid, stub_pid)) return; /* the box and its stub */
    snprintf(path, sizeof path, "%.15s/task", pid);
    each(dir, path, note_delay);
}

static void of_program(const char *what, char *path) { snprintf(path, 32, "%s/%s", sh.proc_pid, what); }

static void look_begins(void) { /* most programs have ended before there is a first look */
    ssize_t n = readlinkat(PROC_FD, "self", stub_pid, sizeof stub_pid - 1);
    if (n <= 0) memcpy(stub_pid, "-", 2);
    else stub_pid[n] = 0;
    memset(seen, 0, sizeof seen);
}

/* Waiting for a core is not the program's doing: it is taken off the wall clock. Two signs of it: the
 * longest wait of one task since the last look (not the sum, or a crowd of sleepers that wake together
 * would buy time with no CPU), and a task that is ready to run right now (short-lived ones take their
 * own figures with them). Looked at after random times: nobody can be ready just then and sleep else. */
static void note_starvation(int64_t at, int64_t cpu) {
    char path[32];
    if (!stub_pid[0]) look_begins();
    int64_t gone_by = at - looked_ns, used = cpu - looked_cpu;
    if (gone_by < look_after) return;
    uint32_t chance = 0;
    syscall(SYS_getrandom, &chance, sizeof chance, 1);
    look_after = LOOK_NS / 2 + chance % (LOOK_NS / 2);
    looked_ns = at;
    looked_cpu = cpu;
    struct stat s;
    of_program("fd", path); /* its size is the number of open descriptors since Linux 6.2 */
    if (!fstatat(PROC_FD, path, &s, 0) && s.st_size >= now.rq->nofile) sh.many_files = 1;
    if (used > gone_by * 95 / 100) return; /* it had its core; the next look sees what it waited */
    most_delay = visited = runnable = 0;
    of_program("task", path);
    if (setup.is_init) each(PROC_FD, ".", note_process);
    else each(PROC_FD, path, note_delay);
    int64_t idle = gone_by - used;
    sh.waited_ns += runnable || most_delay > idle ? idle : most_delay;
}

static int64_t pages_held(void) {
    char path[32];
    int64_t pages = proc_number(PROC_FD, sh.proc_pid, "statm", 1);
    if (pages > 0) return pages;
    of_program("task", path);
    most_pages = visited = 0;
    each(PROC_FD, path, note_pages);
    return most_pages;
}

static int many_threads(void) { /* a task folder has one link a thread, and two of its own */
    char path[32];
    struct stat s;
    of_program("task", path);
    return !fstatat(PROC_FD, path, &s, 0) && s.st_nlink > now.rq->nproc + 2;
}

/* ---- the limits -------------------------------------------------------------------------- */

enum { MOST_FILES = 65536 };
static uint64_t free_blocks, free_files;

static void folder_begins(void) {
    struct statfs f;
    if (!fstatfs(WORK_FD, &f)) free_blocks = f.f_bfree, free_files = f.f_ffree;
}

static int folder_is_over(void) { /* on the host's disk: what the working folder holds; Landlock lets none be made in it */
    char entries[4096] __attribute__((aligned(8)));
    struct statfs f;
    struct stat s;
    if (fstatfs(WORK_FD, &f) ||
        ((free_blocks - f.f_bfree) * f.f_bsize + 0ULL <= (uint64_t)now.rq->disk || f.f_bfree > free_blocks)) {
        if (f.f_ffree > free_files || free_files - f.f_ffree <= MOST_FILES) return 0;
    }
    int64_t held = 0, files = 0;
    int dir = openat(WORK_FD, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long n; dir >= 0 && (n = syscall(SYS_getdents64, dir, entries, sizeof entries)) > 0;)
        for (long i = 0; i < n;) {
            unsigned short length;
            memcpy(&length, entries + i + 16, sizeof length);
            if (!fstatat(dir, entries + i + 19, &s, AT_SYMLINK_NOFOLLOW)) held += s.st_blocks * 512;
            files++;
            i += length;
        }
    if (dir >= 0) close(dir);
    return held > now.rq->disk || files > MOST_FILES;
}

static void look(int64_t started) { /* is a limit passed? */
    int64_t cpu = cpu_used(), at = now_ns(CLOCK_MONOTONIC), wall = at - started;
    struct stat s;
    note_starvation(at, cpu);
    int64_t waited = sh.waited_ns < wall - cpu ? sh.waited_ns : wall - cpu;
    if (cpu > now.rq->cpu_ns) sh.killed = K_CPU;
    else if (setup.mem_fd < 0 && pages_held() * setup.page > now.rq->memory) sh.killed = K_MEMORY;
    else if (!(now.rq->flags & STDOUT_FD) && !fstat(now.out_fd, &s) && s.st_size > now.rq->output) sh.killed = K_OUTPUT;
    else if (setup.mem_fd < 0 && !setup.nproc_rlimit && many_threads()) sh.killed = K_PROCESSES;
    else if (!setup.is_init && folder_is_over()) sh.killed = K_DISK;
    else if (wall - waited > now.rq->wall_ns) sh.killed = K_WALL;
    else if (wall > longest_ns()) sh.killed = K_STARVED;
}

static void offer_to_oom_killer(void) { /* the program before the box, whatever the sizes: only after its exec is it its own */
    char path[32];
    snprintf(path, sizeof path, "%s/oom_score_adj", sh.proc_pid);
    int fd = sh.proc_pid[0] ? openat(PROC_FD, path, O_WRONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && write(fd, "500", 3) != 3) errno = 0; /* it has ended already */
    if (fd >= 0) close(fd);
}

static int is_aborted(int events) { /* the driver is gone, or wants this very run to end */
    uint32_t said[2] = {0, 0};
    ssize_t n = events & POLLIN ? recv(SOCKET, said, sizeof said, MSG_DONTWAIT) : 0;
    return !n || (n == sizeof said && said[0] == OP_ABORT && said[1] == now.count);
}

static int64_t t0;
void watch_begins(void) { t0 = now_ns(CLOCK_MONOTONIC); }

void spawn(void) { /* in the stub, or in the box itself (fast mode); the program is on its way when it returns */
    watch_begins();
    cpu_begins();
    /* spawn_flags: where forking is barred, a namespace flag that only the box may use lets this one pass */
    int flags = CLONE_VM | CLONE_VFORK | SIGCHLD | setup.spawn_flags;
    sh.program = setup.leaves_fd >= 0 && !(now.rq->flags & FRESH) ? leaf_clone(child, stacks[1] + sizeof stacks[1], flags)
                                                                  : clone(child, stacks[1] + sizeof stacks[1], flags, NULL);
    if (sh.program < 0) sh.exec_errno = errno;
    if (setup.mem_fd >= 0 && sh.program > 0) offer_to_oom_killer();
    close(now.err_pipe[1]);
    now.err_pipe[1] = -1;
}

void end_all(void) {
    kill(-1, SIGKILL);
    while (wait4(-1, NULL, __WALL, NULL) > 0 || errno == EINTR) {}
}

void watch(void) { /* until it has ended, and nothing of it is left */
    sigset_t open; /* SIGCHLD is blocked but while it waits */
    struct rusage ru = {0};
    int64_t left, cpu_left;
    sigemptyset(&open);
    stub_pid[0] = 0;
    looked_ns = t0;
    looked_cpu = 0;
    look_after = LOOK_NS / 2;
    if (!setup.is_init) folder_begins();
    for (int gone = sh.program < 0, turn = 0; !gone;) {
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
        cpu_left = now.rq->cpu_ns;
        left = now.rq->wall_ns;
        if (turn++) { /* at first it has only just begun */
            if (!sh.killed) look(t0);
            if (sh.killed) kill(sh.program, SIGKILL);
            if (sh.killed && !setup.is_init) kill(-sh.program, SIGKILL); /* a compiler's children share its group */
            cpu_left -= cpu_used();
            left -= now_ns(CLOCK_MONOTONIC) - t0;
        }
        if (left < 20000000) left = 20000000;
        if (left > look_after) left = look_after; /* else: nothing to see until the next look */
        if (cpu_left < left) left = cpu_left;
        if (now.rq->core < 0 && left > 10000000) left = 10000000; /* many cores: CPU runs faster than time */
        if (setup.mem_fd < 0 && left > 5000000) left = 5000000;
        if (left < 200000) left = 200000;
        struct timespec ts = {left / 1000000000, left % 1000000000};
        struct pollfd pf[2] = {{SOCKET, POLLIN | POLLRDHUP, 0}, {now.err_pipe[0], POLLIN, 0}};
        if (ppoll(pf, 2, &ts, &open) > 0) {
            if (pf[0].revents && is_aborted(pf[0].revents)) sh.killed = K_ABORT;
            if (pf[1].revents & POLLIN) drain();
            else if (pf[1].revents) { close(now.err_pipe[0]); now.err_pipe[0] = -1; }
        }
    }
    sh.wall_ns = (sh.end_ns ? sh.end_ns : now_ns(CLOCK_MONOTONIC)) - t0;
    if (setup.is_init) end_all(); /* nothing of the run may outlive it; never kill(-1) outside a namespace */
    if (setup.cpu_fd >= 0) sh.cpu_ns = cpu_used();
    if (now.err_pipe[0] >= 0) drain();
    sh.supervised = 1;
}

static int stub(void *unused) {
    (void)unused;
    spawn();
    watch();
    _exit(0);
}

pid_t stub_clone(int (*does)(void *)) { /* pid 1 of a new namespace, which ends with it; shares all else with the box */
    int flags = CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_NEWPID | SIGCHLD;
    return setup.leaves_fd >= 0 ? leaf_clone(does, stacks[0] + sizeof stacks[0], flags)
                                : clone(does, stacks[0] + sizeof stacks[0], flags, NULL);
}

int supervise_fresh(void) {
    pid_t s = stub_clone(stub);
    if (s < 0) return -1;
    while (wait4(s, NULL, __WALL, NULL) < 0 && errno == EINTR) {}
    return 0;
}

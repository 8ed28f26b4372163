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

struct shared sh; /* the box, its stub and the child before its exec share this memory */
struct run now;
static char buf[MESSAGE_CAP];
static int fds[MAX_FDS], nfds;
static char *names[MAX_FDS], *stdin_data;

/* ---- messages ------------------------------------------------------------------------ */

static ssize_t receive(void) {
    union { struct cmsghdr h; char b[CMSG_SPACE(sizeof fds)]; } c;
    struct iovec v = {buf, sizeof buf};
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
    while (sendmsg(SOCKET, &m, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

static void fault(int err, const char *stage, const char *what) { /* the machine's, not the program's */
    struct reply r = {.err = err ? err : EIO};
    char text[512];
    r.err_len = snprintf(text, sizeof text, "%s %s", stage, what);
    if (r.err_len >= sizeof text) r.err_len = sizeof text - 1;
    reply(&r, NULL, text, NULL, 0);
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

int64_t mem_base;
static int64_t mem_first, mem_limit_now, oom_base, pids_base, pids_now;
static int64_t scratch_held(void) {
    struct statfs f;
    return fstatfs(setup.scratch_fd, &f) ? 0 : (int64_t)(f.f_blocks - f.f_bfree) * f.f_bsize;
}

/* What the group holds once the kernel has freed what the run before left to be freed (it does so late,
 * and the driver may not have read its output yet): counted in, it would be room for the next run. */
static int64_t settled(void) {
    enum { TURNS = 15, NOISE = 6 << 20 }; /* batches, and what small runs leave: not worth a wait */
    static int64_t calm;
    struct timespec moment = {0, 2000000};
    int64_t own = scratch_held(), held = number_at(setup.mem_fd, NULL);
    int turn = 0;
    for (; calm && held - own > calm + NOISE && turn < TURNS; turn++) {
        nanosleep(&moment, NULL);
        held = number_at(setup.mem_fd, NULL);
    }
    if (!calm || turn == TURNS || held - own < calm) calm = held - own; /* what stays is there to stay: file pages */
    return held;
}

static const char *mem_start(void) { /* the cgroup's peak starts at what is left of the run before */
    if (setup.mem_fd < 0) return NULL;
    if (setup.leaves_fd >= 0 && leaf_make()) return "memory group";
    mem_base = settled();
    if (setup.peak_fd >= 0 && setup.peak_resets && pwrite(setup.peak_fd, "0", 1, 0) < 0) return "memory peak";
    if (!mem_first) mem_first = mem_base;
    int64_t want = mem_base + now.rq->memory + now.rq->output + 2 * 65536; /* what it reads may lie there as well */
    if (want < mem_limit_now - 262144 || want > mem_limit_now) {
        if (write_number(setup.limit_fd, want)) return "memory limit";
        mem_limit_now = want;
    }
    int64_t most = now.rq->nproc + 2; /* the box and its stub count as well */
    if (setup.pids_max_fd >= 0 && pids_now != most) {
        if (write_number(setup.pids_max_fd, most)) return "process limit";
        pids_now = most;
    }
    oom_base = number_at(setup.oom_fd, setup.oom_key);
    pids_base = number_at(setup.pids_event_fd, "max ");
    return NULL;
}

static int64_t scratch_bytes; /* the size of the scratch as it is: clean since the end of the last run */
static int reset(int force) { /* a clean scratch: a fresh tmpfs when this one was touched */
    static struct statfs was;
    static struct stat dirs[4];
    static const char *const sub[4] = {"work", "tmp", "shm", "."}; /* with one id only, "." is the program's as well */
    struct statfs is;
    struct stat d[4];
    int same = !force && !fstatfs(setup.scratch_fd, &is) && is.f_bfree == was.f_bfree &&
               is.f_ffree == was.f_ffree;
    for (int i = 0; same && i < 4; i++) /* a change within one tick of the clock leaves ctime as it was */
        same = !fstatat(setup.scratch_fd, sub[i], d + i, AT_SYMLINK_NOFOLLOW) && d[i].st_ino == dirs[i].st_ino &&
               d[i].st_mode == dirs[i].st_mode && !memcmp(&d[i].st_ctim, &dirs[i].st_ctim, sizeof d[i].st_ctim) &&
               !memcmp(&d[i].st_mtim, &dirs[i].st_mtim, sizeof d[i].st_mtim) &&
               !memcmp(&d[i].st_atim, &dirs[i].st_atim, sizeof d[i].st_atim);
    if (same) return 0;
    char options[96];
    snprintf(options, sizeof options, "mode=755,size=%lld,nr_inodes=65536", (long long)(scratch_bytes = now.rq->disk));
    if (chdir("/") || (setup.scratch_fd >= 0 && umount2("/box", MNT_DETACH))) return -1;
    if (mount("box", "/box", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOATIME, options)) return -1;
    if (setup.scratch_fd >= 0) close(setup.scratch_fd);
    if ((setup.scratch_fd = open("/box", O_DIRECTORY | O_CLOEXEC)) < 0) return -1;
    for (int i = 0; i < 3; i++)
        if (mkdirat(setup.scratch_fd, sub[i], 0777) || fchmodat(setup.scratch_fd, sub[i], i ? 01777 : 0777, 0)) return -1;
    for (int i = 0; i < 4; i++)
        if (fstatat(setup.scratch_fd, sub[i], dirs + i, 0)) return -1;
    return chdir("/box/work") || fstatfs(setup.scratch_fd, &was) ? -1 : 0;
}

static void load(void) { /* program files into /program, which programs see read-only */
    static char old[MAX_FDS][256];
    static int count;
    while (count > 0) unlinkat(PROGRAM_FD, old[--count], 0);
    struct reply r = {0};
    for (uint32_t i = 0; i < now.rq->nfiles; i++) {
        if (strlen(names[i]) > 255 || put(PROGRAM_FD, names[i], fds[i], 0555)) return fault(errno, "load", names[i]);
        strcpy(old[count++], names[i]);
    }
    reply(&r, NULL, NULL, NULL, 0);
}

/* With one id only the program owns the shared executable and could leave a mode or a time on it
 * for the next run: it gets a copy on the read-only mount instead, made when the program changes. */
static int own_copy(int fd) {
    static struct stat was;
    static const char name[] = ".gradebox-executable", path[] = "/program/.gradebox-executable";
    struct stat s;
    if (fstat(fd, &s)) return -1;
    if (s.st_ino != was.st_ino || s.st_size != was.st_size || memcmp(&s.st_mtim, &was.st_mtim, sizeof s.st_mtim)) {
        memset(&was, 0, sizeof was);
        if ((unlinkat(PROGRAM_FD, name, 0) && errno != ENOENT) || put(PROGRAM_FD, name, fd, 0555)) return -1;
        was = s;
    }
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The size of what was printed as far as memory holds it: a hole written by nobody is no memory. */
static int64_t printed_bytes(const struct stat *s) { return s->st_blocks * 512 < s->st_size ? s->st_blocks * 512 : s->st_size; }

/* Memory that outlives the run: file pages read by it (charged to the box, gone when needed) would let
 * the next one have more than its limit. Then the driver takes a new box, with a new group. */
static int is_worn(int64_t printed) {
    enum { SLACK = 24 << 20 };
    return number_at(setup.mem_fd, NULL) - scratch_held() - printed > mem_first + SLACK;
}

static int unnamed_file(const char *name) { /* where the filter leaves no memfd, a nameless one on the box's own tmpfs */
    int fd = memfd_create(name, MFD_CLOEXEC);
    return fd >= 0 || errno != ENOSYS ? fd : openat(PROGRAM_FD, ".", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
}

/* What the next run needs, while the driver looks at the last one. The program may open its streams again (by
 * /dev/stdin and the like), also where its id is not the box's: hence their modes. */
static void prepare(void) {
    now.in_fd = unnamed_file("stdin");
    now.out_fd = unnamed_file("stdout");
    if (pipe2(now.err_pipe, O_CLOEXEC | O_NONBLOCK)) now.err_pipe[0] = now.err_pipe[1] = -1;
    else fcntl(now.err_pipe[1], F_SETFL, 0), fchmod(now.err_pipe[1], 0666); /* its end blocks, as any stderr does */
}

const char *run_begins(void) { /* memory is counted from here */
    memset(&sh, 0, offsetof(struct shared, err));
    return mem_start();
}

int give_stdin(void) { /* small input lies in the request */
    return (now.rq->flags & STDIN_FD) || !now.rq->stdin_len ||
           (write(now.in_fd, stdin_data, now.rq->stdin_len) == now.rq->stdin_len && !lseek(now.in_fd, 0, SEEK_SET));
}

static void run(char **collect) {
    static char small[INLINE_CAP];
    int next = 0, send[MAX_FDS], count = 0, passed = now.rq->flags & EXEC_FD ? fds[next++] : -1;
    int64_t read_later = 0;
    const char *why;
    if (ahead_runs(passed)) { /* its input came after its count had begun, in the same group but for leaves */
        if (setup.leaves_fd < 0) read_later = (now.rq->stdin_len + setup.page - 1) / setup.page * setup.page;
    } else {
        now.exec_fd = passed;
        if (passed >= 0 && setup.is_init && !setup.uid && (now.exec_fd = own_copy(passed)) < 0) return fault(errno, "run", "executable");
        if (now.in_fd < 0) prepare();
        if (now.rq->flags & STDIN_FD) close(now.in_fd), now.in_fd = fds[next++];
        if (now.rq->flags & STDOUT_FD) close(now.out_fd), now.out_fd = fds[next++];
        if (now.in_fd < 0 || now.out_fd < 0 || now.err_pipe[1] < 0) return fault(errno, "run", "descriptors");
        if (!give_stdin()) return fault(errno, "run", "stdin");
        if (setup.scratch && (scratch_bytes != now.rq->disk ? reset(1) : now.dropped && reset(0))) return fault(errno, "run", "scratch");
        now.dropped = 0;
        for (uint32_t i = 0; i < now.rq->nfiles; i++)
            if (put(AT_FDCWD, names[i], fds[next + i], 0666)) return fault(errno, "file", names[i]);
        if ((why = run_begins())) return fault(errno, "run", why);
        if (!(now.rq->flags & FRESH)) spawn(), watch();
        else if (supervise_fresh()) return fault(errno, "run", "clone");
    }
    struct reply r = {.wstatus = sh.wstatus, .killed = sh.killed, .wall_ns = sh.wall_ns, .end_ns = sh.end_ns,
                      .waited_ns = sh.waited_ns, .err_len = sh.err_len, .err_total = sh.err_total,
                      .cpu_ns = setup.cpu_fd < 0 || sh.supervised ? sh.cpu_ns : cpu_of_group(), .memory = sh.peak_rss};
    if (sh.killed == K_STARVED) return fault(ETIME, "run", "no core was free for it");
    if (sh.exec_errno) { /* a compiled program that cannot be started (no such loader, a bad header) is its own fault */
        if (!(now.rq->flags & EXEC_FD) || !sh.at_exec) return fault(sh.exec_errno, "exec", now.argv[0]);
        r.err_len = r.err_total = snprintf(sh.err, sizeof sh.err, "cannot be executed: %s\n", strerror(sh.exec_errno));
        if (r.err_len > now.rq->err_cap) r.err_len = now.rq->err_cap;
    }
    struct stat s;
    struct statfs f;
    if (!(now.rq->flags & STDOUT_FD) && !fstat(now.out_fd, &s)) r.out_size = s.st_size;
    if (setup.mem_fd >= 0) {
        int64_t peak = setup.leaves_fd < 0 ? number_at(setup.peak_fd, NULL) - mem_base : leaf_peak(), printed = r.out_size ? printed_bytes(&s) : 0, not_its = printed + read_later;
        r.memory = peak > not_its ? peak - not_its : peak;
        if (r.memory < GRAIN) /* the kernel charges groups in batches: below that, the resident size says more */
            r.memory = sh.peak_rss < GRAIN ? (r.memory > sh.peak_rss ? r.memory : sh.peak_rss) : GRAIN;
        r.peak_raw = peak;
        r.worn = is_worn(printed);
        if (number_at(setup.oom_fd, setup.oom_key) > oom_base) r.hit |= H_MEMORY;
        if (number_at(setup.pids_event_fd, "max ") > pids_base) r.hit |= H_PROCESSES;
    }
    if (sh.many_files) r.hit |= H_FILES;
    if (!sh.supervised && !(r.hit & H_MEMORY)) return fault(ECHILD, "run", "the stub was killed");
    if (!sh.supervised) r.killed = K_MEMORY;
    if (setup.scratch && !fstatfs(setup.scratch_fd, &f) && (!f.f_bfree || !f.f_ffree)) r.hit |= H_DISK;
    if (r.out_size > 0 && r.out_size <= (int64_t)sizeof small) {
        r.out_inline = pread(now.out_fd, small, r.out_size, 0) == r.out_size ? r.out_size : 0;
    } else if (r.out_size) send[count++] = now.out_fd;
    for (uint32_t i = 0; i < now.rq->ncollect; i++) { /* only a plain file, by its own name, inside the box */
        int c = openat(AT_FDCWD, collect[i], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (c >= 0 && !fstat(c, &s) && S_ISREG(s.st_mode)) r.collected |= 1u << i, send[count++] = c;
        else if (c >= 0) close(c);
    }
    reply(&r, small, sh.err, send, now.gave = count);
    ahead_remember(passed);
    for (int i = send[0] == now.out_fd && count ? 1 : 0; i < count; i++) close(send[i]);
}

static int is_passed(int fd) {
    for (int i = 0; i < nfds; i++)
        if (fds[i] == fd) return 1;
    return 0;
}

static void close_passed(void) {
    for (int i = 0; i < nfds; i++) close(fds[i]);
    nfds = 0;
}

void close_streams(void) {
    int *of[] = {&now.in_fd, &now.out_fd, &now.err_pipe[0], &now.err_pipe[1]};
    for (int i = 0; i < 4; i++) {
        if (*of[i] > 0) close(*of[i]);
        *of[i] = -1;
    }
}

static void release(void) { /* every descriptor of the run, then a clean box before the next one asks */
    if (now.exec_fd >= 0 && !is_passed(now.exec_fd)) close(now.exec_fd);
    now.exec_fd = -1;
    if (is_passed(now.in_fd)) now.in_fd = -1;
    if (is_passed(now.out_fd)) now.out_fd = -1;
    close_streams();
    close_passed();
}

static void on_child(int s) { (void)s; }

int box_loop(void) {
    struct sigaction sa = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
    char *after, *collect[33];
    sigset_t chld;
    sigaction(SIGCHLD, &sa, NULL);
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL); /* let through only where a run is waited for */
    now.exec_fd = now.in_fd = now.out_fd = now.err_pipe[0] = now.err_pipe[1] = -1;
    for (ssize_t n; (n = receive()) > 0;) {
        if (n < (ssize_t)sizeof *now.rq) continue; /* an abort of a run that had just ended */
        char *end = buf + n;
        now.rq = (struct request *)buf;
        now.args = buf + sizeof *now.rq;
        now.count += now.rq->op == OP_RUN;
        if (now.rq->argc > MAX_ARGS || now.rq->nfiles > MAX_FDS - 3 || now.rq->ncollect > 32 ||
            take_strings(now.args, end, now.argv, now.rq->argc, &now.args_end) || take_strings(now.args_end, end, names, now.rq->nfiles, &after) ||
            take_strings(after, end, collect, now.rq->ncollect, &after) || end - after < now.rq->stdin_len) {
            ahead_forget();
            fault(EBADMSG, "request", "malformed");
        } else {
            now.argv[now.rq->argc] = NULL;
            stdin_data = after;
            if (now.rq->op == OP_LOAD) ahead_forget(), load();
            else run(collect);
        }
        if (now.rq->op == OP_LOAD) {
            close_passed();
            continue;
        }
        release();
        if (setup.scratch && scratch_bytes && reset(0)) return 1;
        if (setup.leaves_fd >= 0) leaf_drop(), leaf_make(); /* while nobody waits */
        prepare();
        ahead_begin();
    }
    return 0;
}

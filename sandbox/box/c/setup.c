/* An outer process, which keeps the grader's user, makes a child in new namespaces. The child follows
 * the steps of the plan (mounts, folders, Landlock rules), locks itself in and becomes the box.
 */
#define _GNU_SOURCE
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct box box;
static char plan_message[128 * 1024];
static struct plan *plan = (struct plan *)plan_message;

static void die(const char *stage, const char *what) { /* report errno to the grader and exit */
    struct { struct reply r; char text[256]; } m = {.r = {.err = errno ? errno : EIO}};
    m.r.err_len = snprintf(m.text, sizeof m.text, "%s %s", stage, what);
    if (m.r.err_len >= sizeof m.text) m.r.err_len = sizeof m.text - 1;
    if (send(SOCKET, &m, sizeof m.r + m.r.err_len, MSG_NOSIGNAL) < 0) _exit(2);
    _exit(1);
}

/* ---- steps: each takes (path, argument, flags) and returns 0, or -1 with errno ----------
 * r: read-only, d: devices may be used, o: optional, no error where what is named is missing. */

static int may_be_missing(const char *flags) { return errno == ENOENT && strchr(flags, 'o'); }
static int harden(const char *path, const char *flags) {
    struct mount_attr a = {.attr_set = MOUNT_ATTR_NOSUID};
    if (strchr(flags, 'r')) a.attr_set |= MOUNT_ATTR_RDONLY;
    if (!strchr(flags, 'd')) a.attr_set |= MOUNT_ATTR_NODEV;
    return syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &a, sizeof a);
}
static int step_dir(const char *path, const char *mode, const char *flags) {
    (void)flags;
    return mkdir(path, 0755) && errno != EEXIST ? -1 : chmod(path, strtol(mode, NULL, 8));
}
static int step_link(const char *path, const char *target, const char *flags) {
    (void)flags;
    return symlink(target, path);
}
static int step_file(const char *path, const char *text, const char *flags) {
    (void)flags;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    ssize_t n = strlen(text);
    return fd < 0 || write(fd, text, n) != n || close(fd) ? -1 : 0;
}
static int step_bind(const char *path, const char *from, const char *flags) {
    if (mount(from, path, NULL, MS_BIND | MS_REC, NULL)) return may_be_missing(flags) ? 0 : -1;
    return harden(path, flags);
}
static int step_tmpfs(const char *path, const char *options, const char *flags) {
    int how = MS_NOSUID | (strchr(flags, 'd') ? 0 : MS_NODEV) | (strchr(flags, 'r') ? MS_RDONLY : 0);
    return mount("box", path, "tmpfs", how, options) && !may_be_missing(flags) ? -1 : 0;
}
/* Keep a private, writable view of a mount; make the visible one read-only. */
static int keep_writable(const char *path, int number) {
    int fd = syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fd < 0) return -1;
    if (fd != number && (dup3(fd, number, O_CLOEXEC) < 0 || close(fd))) return -1;
    return harden(path, "r");
}
/* Open the counter of the namespace's process ids, which the visible /proc does not have. */
static int open_pid_counter(void) {
    enum { CREATE = 6, CLOEXEC = 1 };
    int fs = syscall(SYS_fsopen, "proc", CLOEXEC), fd = -1, mounted = -1;
    if (fs >= 0 && !syscall(SYS_fsconfig, fs, CREATE, NULL, NULL, 0)) mounted = syscall(SYS_fsmount, fs, CLOEXEC, 0);
    if (mounted >= 0) fd = openat(mounted, "sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    int kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);
    if (fd >= 0) close(fd);
    if (mounted >= 0) close(mounted);
    if (fs >= 0) close(fs);
    return kept;
}
static int step_proc(const char *path, const char *options, const char *flags) {
    if (mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) &&
        mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2"))
        return strchr(flags, 'o') ? 0 : -1;
    box.pid_counter_fd = open_pid_counter();
    return keep_writable(path, PROC_FD);
}
void count_pids_from(int first) {
    char text[16];
    int n = snprintf(text, sizeof text, "%d", first - 1);
    if (box.pid_counter_fd >= 0 && pwrite(box.pid_counter_fd, text, n, 0) != n) errno = 0;
}
static int step_program(const char *path, const char *options, const char *flags) {
    return step_tmpfs(path, options, flags) ? -1 : keep_writable(path, PROGRAM_FD);
}
/* Make `path` the root. The old root is mounted at `old`, or detached where `old` is empty. */
static int step_root(const char *path, const char *old, const char *flags) {
    (void)flags;
    if (chdir(path) || syscall(SYS_pivot_root, ".", *old ? old : ".")) return -1;
    return (!*old && umount2(".", MNT_DETACH)) || chdir("/") ? -1 : 0;
}
/* Remount read-only. */
static int step_seal(const char *path, const char *unused, const char *flags) {
    (void)unused;
    struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID};
    (void)flags;
    return syscall(SYS_mount_setattr, AT_FDCWD, path, 0, &a, sizeof a);
}

/* Open a folder under a fixed descriptor number. */
static int step_keep(const char *path, const char *number, const char *flags) {
    (void)flags;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), to = atoi(number);
    return fd < 0 || (fd != to && (dup3(fd, to, O_CLOEXEC) < 0 || close(fd))) ? -1 : 0;
}
static int step_enter(const char *path, const char *arg, const char *flags) {
    return step_keep(path, arg, flags) || chdir(path);
}
static uint64_t guarded; /* the accesses to files that Landlock refuses unless a rule allows them */

/* Begin the Landlock rules, for a version of the kernel's interface. */
static int step_guard(const char *path, const char *version, const char *flags) {
    static const uint64_t by_abi[] = {0, 0x1fff, 0x3fff, 0x7fff, 0x7fff, 0xffff};
    long abi = atol(version);
    (void)path, (void)flags;
    guarded = by_abi[abi > 5 ? 5 : abi];
    struct { uint64_t fs, net, scoped; } handled = {guarded, abi >= 4 ? 3 : 0, abi >= 6 ? 3 : 0};
    int fd = syscall(SYS_landlock_create_ruleset, &handled, abi < 4 ? 8 : abi < 6 ? 16 : 24, 0);
    return fd < 0 || (box.ruleset_fd = fcntl(fd, F_DUPFD_CLOEXEC, 10)) < 0 || close(fd) ? -1 : 0;
}
/* Add a Landlock rule. */
static int step_allow(const char *path, const char *rights, const char *flags) {
    uint64_t file = 0x1 | 0x2 | 0x4 | 0x4000 | 0x8000;
    struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat s;
    if (rule.parent_fd < 0 || fstat(rule.parent_fd, &s)) return strchr(flags, 'o') ? 0 : -1;
    rule.allowed_access = 0x4 | 0x8; /* read files and folders */
    if (strchr(rights, 'x')) rule.allowed_access |= 0x1;
    if (strchr(rights, 'w')) rule.allowed_access |= 0x2;
    /* a: everything but making device nodes and sockets. */
    if (strchr(rights, 'a')) rule.allowed_access = guarded & ~0xa40ULL;
    /* n: no making of folders, because the disk limit counts only one level. */
    if (strchr(rights, 'n')) rule.allowed_access &= ~0x80ULL;
    rule.allowed_access &= S_ISDIR(s.st_mode) ? guarded : guarded & file;
    int bad = syscall(SYS_landlock_add_rule, box.ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return bad;
}

static const struct { char op; int (*run)(const char *, const char *, const char *); } steps[] = {
    {'D', step_dir}, {'L', step_link}, {'F', step_file}, {'B', step_bind}, {'T', step_tmpfs},
    {'P', step_proc}, {'X', step_program}, {'R', step_root}, {'S', step_seal},
    {'K', step_keep}, {'C', step_enter}, {'G', step_guard},
    {'A', step_allow},
};

static char *take(char **at, char *end) {
    char *p = *at, *z = p < end ? memchr(p, 0, end - p) : NULL;
    if (!z) { errno = EBADMSG; die("plan", "cut"); }
    *at = z + 1;
    return p;
}

static void take_step(char **at, char *end) {
    char *op = take(at, end), *path = take(at, end), *arg = take(at, end), *flags = take(at, end);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].op == *op) {
            if (steps[i].run(path, arg, flags)) die(op, path);
            return;
        }
    errno = EBADMSG;
    die("plan: unknown step", op);
}

static char *stage(char *at, char *end) {
    /* For root, the box has ids that may not reach every source (below a 0700 home). The outer process,
     * still root, mounts each source at /tmp/<number>, where the box finds it. */
    int trees[64];
    char place[32];
    struct stat s[64];
    if (plan->staged > 64) { errno = EBADMSG; die("plan", "sources"); }
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) die("stage", "namespace");
    for (uint32_t i = 0; i < plan->staged; i++) {
        const char *from = take(&at, end);
        trees[i] = syscall(SYS_open_tree, AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
        if (trees[i] < 0 || fstat(trees[i], s + i)) die("stage", from);
    }
    if (step_tmpfs("/tmp", "mode=755,size=1m", "")) die("stage", "/tmp");
    for (uint32_t i = 0; i < plan->staged; i++) {
        snprintf(place, sizeof place, "/tmp/%u", i);
        if ((S_ISDIR(s[i].st_mode) ? step_dir(place, "755", "") : step_file(place, "", "")) ||
            syscall(SYS_move_mount, trees[i], "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH))
            die("stage", place);
        close(trees[i]);
    }
    return at;
}

/* Programs do not get the grader's own soft limits, but no limit, or the hard one. */
static void raise_soft_limits(void) {
    static const int kinds[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK};
    struct rlimit l, all = {RLIM_INFINITY, RLIM_INFINITY};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (setrlimit(kinds[i], &all) && !getrlimit(kinds[i], &l)) {
            l.rlim_cur = l.rlim_max;
            setrlimit(kinds[i], &l);
        }
}

static int enter_box(int ready, char *at, char *end, int (*serve)(void)) {
    static char *env[64];
    char go;
    while (read(ready, &go, 1) < 0 && errno == EINTR) {}
    close(ready);
    errno = 0;
    if (plan->set_ids && (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, 0, 0, 0) ||
                          syscall(SYS_setresuid, 0, 0, 0))) die("ids", "");
    if (plan->uid && !plan->set_ids && syscall(SYS_setgroups, 0, NULL)) die("groups", "");
    /* The box is in its control group by now, which the namespace makes the root. Where each run has a group,
     * the box must reach it to start the program; then each run gets a namespace (run_group_clone). */
    int own_view = (plan->clone_flags & CLONE_NEWCGROUP) && box.run_groups_fd < 0;
    if (own_view && unshare(CLONE_NEWCGROUP)) die("cgroup namespace", "");
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the grader ends the outer process; then the box ends too */
    umask(0);
    setsid();
    if ((plan->clone_flags & CLONE_NEWNS) && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        die("mounts", "private");
    if (plan->env >= sizeof env / sizeof *env) die("plan", "environment");
    for (uint32_t i = 0; i < plan->env; i++) env[i] = take(&at, end);
    for (uint32_t i = 0; i < plan->steps; i++) take_step(&at, end);
    if (plan->templates) {
        box.template_tool = take(&at, end);
        box.template_script = take(&at, end);
        box.template_prelude = take(&at, end);
    }
    box.env = env;
    box.is_init = getpid() == 1;
    if (box.is_init != !!(plan->clone_flags & CLONE_NEWPID)) die("plan", "pid namespace");
    struct rlimit no_core = {1, 1};
    /* 1, because with 0 a core_pattern that is a pipe still starts the host's collector. */
    setrlimit(RLIMIT_CORE, &no_core);
    raise_soft_limits(); /* the memory limit covers deep recursion */
    personality(ADDR_NO_RANDOMIZE);
    prctl(PR_SET_DUMPABLE, 0); /* no tracing, no reading through /proc */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("no_new_privs", "");
    static struct sock_filter code[FILTER_CAP], child_code[FILTER_CAP];
    if (plan->filter_len > sizeof code || plan->child_filter_len > sizeof code ||
        (size_t)(end - at) < plan->filter_len + plan->child_filter_len) die("plan", "filter");
    struct sock_fprog prog = {plan->filter_len / sizeof *code, code};
    memcpy(code, at, plan->filter_len);
    memcpy(child_code, at + plan->filter_len, plan->child_filter_len);
    box.child_filter = child_code;
    box.child_filter_len = plan->child_filter_len / sizeof *code;
    if (prog.len && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog)) die("seccomp", "");
    struct reply hello = {0};
    if (send(SOCKET, &hello, sizeof hello, MSG_NOSIGNAL) < 0) return 1;
    return serve();
}

static void write_file(pid_t pid, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = strlen(text);
    if (fd < 0 || write(fd, text, n) != n || close(fd)) die("ids", path);
}

static int keep_fd(const int *fds, int count, int index) {
    if (index < 0 || index >= count) return -1;
    return fcntl(fds[index], F_DUPFD_CLOEXEC, 10); /* above the fixed numbers */
}

int build_box(int (*serve)(void)) {
    union { struct cmsghdr h; char b[CMSG_SPACE(16 * sizeof(int))]; } c;
    struct iovec v = {plan_message, sizeof plan_message - 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    if (syscall(SYS_close_range, 4, ~0U, 0)) /* whatever the grader itself inherited */
        for (int fd = 4; fd < 65536; fd++) close(fd);
    ssize_t n = recvmsg(SOCKET, &m, MSG_CMSG_CLOEXEC);
    if (n < (ssize_t)sizeof *plan) return 2;
    struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    int count = h ? (h->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0, *fds = h ? (int *)CMSG_DATA(h) : NULL, go[2];
    box = (struct box){
        .cpu_fd = keep_fd(fds, count, plan->cpu), .mem_fd = keep_fd(fds, count, plan->mem),
        .peak_fd = keep_fd(fds, count, plan->peak), .limit_fd = keep_fd(fds, count, plan->limit),
        .oom_fd = keep_fd(fds, count, plan->oom), .pids_event_fd = keep_fd(fds, count, plan->pids_event),
        .pids_max_fd = keep_fd(fds, count, plan->pids_max),
        .run_groups_fd = keep_fd(fds, count, plan->run_groups), .ruleset_fd = -1, .pid_counter_fd = -1,
        .hook_fd = keep_fd(fds, count, plan->hook),
        .page = sysconf(_SC_PAGESIZE), .peak_resets = plan->peak_resets, .spawn_flags = plan->spawn_flags,
        .data_rlimit = plan->data_rlimit, .has_scratch = plan->scratch, .cpu_unit = plan->cpu_unit,
        .uid = plan->uid, .nproc_rlimit = plan->nproc_rlimit,
        .cpu_key = *plan->cpu_key ? plan->cpu_key : NULL, .oom_key = plan->oom_key};
    for (int i = 0; i < count; i++) close(fds[i]);
    fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
    char *rest = plan_message + sizeof *plan;
    if (plan->staged) rest = stage(rest, plan_message + n);
    if (pipe2(go, O_CLOEXEC)) die("pipe", "");
    pid_t pid = syscall(SYS_clone, (plan->clone_flags & ~CLONE_NEWCGROUP) | SIGCHLD, 0, 0, 0, 0);
    if (pid < 0) die("clone", "namespaces");
    if (!pid) {
        close(go[1]);
        _exit(enter_box(go[0], rest, plan_message + n, serve));
    }
    if (*plan->uid_map) {
        if (!plan->set_ids) write_file(pid, "setgroups", "deny");
        write_file(pid, "gid_map", plan->gid_map);
        write_file(pid, "uid_map", plan->uid_map);
    }
    struct reply born = {.out_size = pid};
    char in_group;
    if (send(SOCKET, &born, sizeof born, MSG_NOSIGNAL) < 0) return 2;
    /* The grader has put the box into its group: all memory of the box is counted in it. */
    while ((n = recv(SOCKET, &in_group, 1, 0)) < 0 && errno == EINTR) {}
    if (n != 1) return 2;
    close(SOCKET);
    close(go[1]);
    int st;
    while (waitpid(pid, &st, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(st) ? WEXITSTATUS(st) : 3;
}

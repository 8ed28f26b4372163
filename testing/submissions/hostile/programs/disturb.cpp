// Signals, limits and priorities of others; memory of others.
#include "attack.h"
#include <functional>
#include <sys/ptrace.h>
#include <sys/uio.h>

static pid_t others[3];
static int count;

static void targets(const char *grader) {
    pid_t all[] = {1, getppid(), (pid_t)atoi(grader)};
    for (pid_t pid : all)
        if (pid > 0 && pid != getpid()) others[count++] = pid;
}

static void kills(const char *grader, const char *) {
    targets(grader);
    for (int i = 0; i < count; i++)
        for (int number : {SIGTERM, SIGSTOP, SIGKILL, SIGSEGV, SIGCHLD, SIGXCPU}) {
            kill(others[i], number);
            syscall(SYS_tgkill, others[i], others[i], number);
            syscall(SYS_tkill, others[i], number);
            siginfo_t info = {};
            info.si_code = -1;
            syscall(SYS_rt_sigqueueinfo, others[i], number, &info);
        }
    signal(SIGTERM, SIG_IGN);
    kill(-1, SIGTERM);
    kill(0, SIGTERM);
    for (int i = 0; i < count; i++) kill(-others[i], SIGKILL);
}

static void kill_everyone(const char *, const char *) {
    held();
    kill(-1, SIGKILL);
    kill(0, SIGKILL);
}

static void async_signals(const char *grader, const char *) { // the kernel as the messenger
    targets(grader);
    int pair[2];
    if (pipe(pair)) return;
    for (int i = 0; i < count; i++)
        for (int fd : {0, 1, 2, pair[0]}) {
            if (!fcntl(fd, F_SETOWN, others[i]) && fcntl(fd, F_SETSIG, SIGKILL) == 0) fcntl(fd, F_SETFL, O_ASYNC);
            if (write(pair[1], "x", 1) != 1) return;
        }
}

static void by_descriptor(const char *grader, const char *) {
    targets(grader);
    for (int i = 0; i < count; i++) {
        int fd = syscall(434, others[i], 0); // may be had, to wait on
        refused("pidfd_getfd", syscall(438, fd, 0, 0));
        refused("pidfd_send_signal", syscall(424, fd, SIGKILL, NULL, 0));
        if (fd >= 0) must_fail("setns", setns(fd, CLONE_NEWNS | CLONE_NEWNET));
    }
}

static void limits(const char *grader, const char *) {
    targets(grader);
    struct rlimit zero = {0, 0};
    for (int i = 0; i < count; i++)
        for (int what = 0; what < 16; what++) must_fail("prlimit", prlimit(others[i], (__rlimit_resource)what, &zero, NULL));
}

static void priorities(const char *grader, const char *) {
    targets(grader);
    struct sched_param fifo = {1}, plain = {0};
    for (int i = 0; i < count; i++) {
        must_fail("setpriority", setpriority(PRIO_PROCESS, others[i], 19));
        must_fail("sched_setscheduler", sched_setscheduler(others[i], SCHED_IDLE, &plain));
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(0, &set);
        must_fail("sched_setaffinity", sched_setaffinity(others[i], sizeof set, &set));
        must_fail("ioprio_set", syscall(SYS_ioprio_set, 1, others[i], 3 << 13));
    }
    must_fail("PRIO_USER", setpriority(PRIO_USER, 0, 19));
    must_fail("PRIO_PGRP", setpriority(PRIO_PGRP, 1, 19));
    must_fail("nice", setpriority(PRIO_PROCESS, 0, -20));
    must_fail("fifo", sched_setscheduler(0, SCHED_FIFO, &fifo));
    cpu_set_t all;
    memset(&all, 255, sizeof all);
    must_fail("own affinity", sched_setaffinity(0, sizeof all, &all));
}

static void memory(const char *grader, const char *) {
    targets(grader);
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)targets, 1};
    for (int i = 0; i < count; i++) {
        must_fail("attach", ptrace(PTRACE_ATTACH, others[i], 0, 0));
        must_fail("seize", ptrace(PTRACE_SEIZE, others[i], 0, 0));
        must_fail("process_vm_readv", process_vm_readv(others[i], &here, 1, &there, 1, 0));
        must_fail("process_vm_writev", process_vm_writev(others[i], &here, 1, &there, 1, 0));
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/mem", others[i]);
        must_fail("mem", open(path, O_RDWR));
        refused("kcmp", syscall(SYS_kcmp, others[i], others[i], 0, 0, 0));
        refused("process_madvise", syscall(440, 0, NULL, 0, 4, 0));
        refused("process_mrelease", syscall(448, 0, 0));
    }
    must_fail("traceme", ptrace(PTRACE_TRACEME, 0, 0, 0));
    int own = open("/proc/self/mem", O_RDWR); // its own is its own
    if (own >= 0) close(own);
}

// Whether all pages of a file are in memory: a read that may not wait finds each of them.
static bool is_cached(int fd, long size) {
    char byte;
    struct iovec one = {&byte, 1};
    for (long at = 0; at < size; at += 4096)
        if (preadv2(fd, &one, 1, at, RWF_NOWAIT) != 1) return false;
    return true;
}

static void page_cache(const char *, const char *) { // who starts a compiler next would be charged for reading it again
    static char block[1 << 20];
    int files = 0; // few: where reads may always wait, nothing is to be seen
    for (const char *folder : {"/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/bin"}) {
        DIR *d = opendir(folder);
        for (struct dirent *e; d && files < 8 && (e = readdir(d));) {
            struct stat s;
            int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_NONBLOCK);
            if (fd < 0) continue;
            if (!fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_size > 8192 && s.st_size < 1 << 20) {
                const std::function<void(char *)> ways[] = {
                    [&](char *) { posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); },
                    [&](char *) { syscall(SYS_fadvise64, fd, 0l, 0l, 1ul << 32 | POSIX_FADV_DONTNEED); },
                    [&](char *) { posix_fadvise(fd, 0, 0, POSIX_FADV_NOREUSE); },
                    [&](char *) { sync_file_range(fd, 0, 0, 7); },
                    [&](char *p) { madvise(p, s.st_size, 21); }, // MADV_PAGEOUT
                    [&](char *p) { msync(p, s.st_size, MS_INVALIDATE); },
                    [&](char *) { struct iovec v = {block, sizeof block}; preadv2(fd, &v, 1, 0, 0x80); }, // RWF_DONTCACHE
                };
                int number = 0;
                files++;
                for (auto &way : ways) {
                    if (pread(fd, block, sizeof block, 0) != s.st_size || !is_cached(fd, s.st_size)) break; // not to be seen here
                    number++;
                    char *p = (char *)mmap(NULL, s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
                    if (number == 5) for (long i = 0; i < s.st_size; i += 4096) block[0] += p[i];
                    way(p);
                    munmap(p, s.st_size);
                    if (!is_cached(fd, s.st_size)) breach("%s left memory, way %d", e->d_name, number);
                }
            }
            close(fd);
        }
        if (d) closedir(d);
    }
}

static void advice(const char *, const char *) { // what sends pages of a shared file away, or makes them larger for all
    char *p = (char *)mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int number : {20, 21, 25}) must_fail("madvise", madvise(p, 8 << 20, number)); // COLD, PAGEOUT, COLLAPSE
    must_fail("madvise, a high word", syscall(SYS_madvise, p, 4096ul, 1ul << 32 | 21));
    struct iovec v = {p, 4096};
    int self = syscall(434, getpid(), 0);
    for (int number : {20, 21}) refused("process_madvise", syscall(440, self, &v, 1ul, number, 0));
    refused("process_madvise of itself", syscall(440, -10000, &v, 1ul, 21, 0)); // PIDFD_SELF
}

static void leases(const char *, const char *) { // whoever opens the file next would wait up to 45 s
    int own = open("leased", O_RDWR | O_CREAT, 0600), folder = open(".", O_RDONLY);
    uint32_t delegation[4] = {0, F_WRLCK};
    for (int fd : {own, folder, 0, 1, open("/proc/self/exe", O_RDONLY), open("/bin/sh", O_RDONLY), open("/usr/lib", O_RDONLY), open("/bin/sh", O_RDONLY | O_PATH)}) {
        if (fd < 0) continue;
        for (int kind : {F_RDLCK, F_WRLCK}) {
            must_fail("F_SETLEASE", fcntl(fd, F_SETLEASE, kind));
            must_fail("F_SETLEASE, a high word", syscall(SYS_fcntl, fd, 1ul << 32 | F_SETLEASE, kind));
        }
        must_fail("F_NOTIFY", fcntl(fd, F_NOTIFY, 0x3f));
        must_fail("F_SETDELEG", fcntl(fd, 1040, delegation));
    }
    unlink("leased");
}

static void user_signals(const char *, const char *) { // the number that its user may have waiting
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    siginfo_t info = {};
    info.si_code = -1;
    int queued = 0;
    while (queued < 100000 && !syscall(SYS_rt_sigqueueinfo, getpid(), SIGRTMIN, &info)) queued++;
    if (queued > 2000) breach("%d signals are waiting", queued);
}

static const attack attacks[] = {
    {"page_cache", page_cache}, {"advice", advice}, {"leases", leases},
    {"kills", kills}, {"kill_everyone", kill_everyone}, {"async_signals", async_signals}, {"by_descriptor", by_descriptor},
    {"limits", limits}, {"user_signals", user_signals}, {"priorities", priorities}, {"memory", memory},
};
int main(int argc, char **argv) { return dispatch(attacks, argc, argv); }

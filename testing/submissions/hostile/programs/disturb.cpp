// Signals, limits and priorities of others; memory of others.
#include "attack.h"
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

static const attack attacks[] = {
    {"kills", kills}, {"kill_everyone", kill_everyone}, {"async_signals", async_signals}, {"by_descriptor", by_descriptor},
    {"limits", limits}, {"priorities", priorities}, {"memory", memory},
};
int main(int argc, char **argv) { return dispatch(attacks, argc, argv); }

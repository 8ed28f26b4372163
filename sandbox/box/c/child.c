#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "box.h"

#define MOST_REQUESTED (64ull << 30) /* bytes of address space that a program can write */
#define MY_PID 0xF1F1F1F1u /* in the program's filter: replaced by its own pid (seccomp.py) */

static void set_limit(int what, uint64_t soft, uint64_t hard) {
    struct rlimit l = {soft, hard};
    syscall(SYS_prlimit64, 0, what, &l, NULL);
}

static void set_limits(const struct run *run) {
    enum { MOST_SIGNALS = 1024 };
    const struct request *rq = run->rq;
    /* The watcher enforces CPU time. The kernel counts RLIMIT_CPU in whole ticks: it charged 14 s to
     * a program that had used 9.4 s while others ran between its ticks. Ticks never exceed the wall
     * clock, hence this limit. Only for a compiler without a group, whose children nothing else
     * counts, the ticks have to do. */
    uint64_t cpu_s = (box.data_rlimit ? rq->cpu_ns : longest_ns(run)) / 1000000000 + 2;
    uint64_t fsize = rq->output + 1 > rq->fsize ? rq->output + 1 : rq->fsize;
    set_limit(RLIMIT_CPU, cpu_s, cpu_s + 1);
    set_limit(RLIMIT_FSIZE, fsize, fsize);
    set_limit(RLIMIT_NOFILE, rq->nofile, rq->nofile);
    /* Queued signals and timers count for the user, who may have other programs here. */
    struct rlimit signals;
    if (!getrlimit(RLIMIT_SIGPENDING, &signals) && signals.rlim_max > MOST_SIGNALS)
        set_limit(RLIMIT_SIGPENDING, MOST_SIGNALS, MOST_SIGNALS);
    /* Templates count for a program that has their id. */
    uint64_t processes = rq->nproc + box.nproc_rlimit + (box.uid ? 0 : box.resident);
    if (box.nproc_rlimit) set_limit(RLIMIT_NPROC, processes, processes);
}

static int take_ids(void) { /* change to the program's user and drop all capabilities */
    uint32_t id = box.uid;
    if (id && (syscall(SYS_setresgid, id, id, id) || syscall(SYS_setresuid, id, id, id))) return -1;
    /* Exec drops them in a namespace, but not those of user id 0, ambient or inheritable ones outside. */
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct no_capabilities[2] = {{0}};
    return syscall(SYS_capset, &header, no_capabilities);
}

/* ---- confinement ----------------------------------------------------------------------------- */

static int confine(void) { /* forbid what the box may do and the program may not */
    static struct sock_filter code[FILTER_CAP];
    pid_t me = getpid();
    if (!box.is_init) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (box.ruleset_fd >= 0 && syscall(SYS_landlock_restrict_self, box.ruleset_fd, 0)) return -1;
    for (uint32_t i = 0; i < box.child_filter_len; i++) {
        code[i] = box.child_filter[i];
        if (code[i].k == MY_PID) code[i].k = me;
    }
    struct sock_fprog prog = {box.child_filter_len, code};
    return prog.len ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) : 0;
}

int become_run(const struct run *run) {
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigset_t none;
    if (dup2(run->in_fd, 0) < 0 || dup2(run->out_fd, 1) < 0 || dup2(run->err_pipe[1], 2) < 0) return -1;
    sigaction(SIGCHLD, &dfl, NULL); /* the only signal the box handles */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    set_limits(run);
    umask(022);
    /* A session of its own would also get a scheduling group of its own, whose making takes time for each
     * core of the machine. In a namespace it has no other process to share the box's session with. */
    if (syscall(box.is_init ? SYS_setpgid : SYS_setsid, 0, 0) < 0) errno = 0;
    if (take_ids()) return -1;
    /* Without a group, memory is limited for each of a compiler's processes. With one, a request that no
     * machine can meet fails also where the kernel grants any (vm.overcommit_memory is 1), so that a
     * program that handles the failure has the same verdict everywhere. */
    uint64_t most = run->rq->memory;
    if (!box.data_rlimit && most < MOST_REQUESTED) most = MOST_REQUESTED;
    set_limit(RLIMIT_DATA, most, most);
    return (!box.is_init || box.child_filter_len) && confine() ? -1 : 0;
}

/* kill(-1) looks at every process of the machine, so it is called only when the namespace has others: those
 * that have lost their parent are children of this one. */
void end_others(void) {
    if (wait4(-1, NULL, WNOHANG | __WALL, NULL) < 0 && errno == ECHILD) return;
    kill(-1, SIGKILL);
    while (wait4(-1, NULL, __WALL, NULL) > 0 || errno == EINTR) {}
}

int start_program(void *of) {
    struct run *run = of;
    struct outcome *out = &run->out;
    ssize_t n = readlinkat(PROC_FD, "self", out->proc_pid, sizeof out->proc_pid - 1);
    out->proc_pid[n > 0 ? n : 0] = 0;
    if (!become_run(run)) {
        out->at_exec = 1; /* from here on a failure is the fault of the program's own file */
        if (run->rq->flags & EXEC_FD)
            syscall(SYS_execveat, run->exec_fd, "", run->argv, box.env, AT_EMPTY_PATH);
        else execve(run->argv[0], run->argv, box.env);
    }
    out->exec_errno = errno ? errno : EIO;
    _exit(127);
}

/* As clone(2) of the C library, by clone3: the child runs on its own stack and exits with what the
 * function returns. */
static long clone3_call(struct clone_args *a, int (*function)(void *), void *argument) {
#if defined __x86_64__
    register long result __asm__("rax") = SYS_clone3;
    register int (*f)(void *) __asm__("r8") = function;
    register void *arg __asm__("r9") = argument;
    __asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\tmov %%r9, %%rdi\n\tcall *%%r8\n\t"
                     "mov %%eax, %%edi\n\tmov %[exit], %%eax\n\tsyscall\n1:"
                     : "+r"(result)
                     : "D"(a), "S"(sizeof *a), "r"(f), "r"(arg), [exit] "i"(SYS_exit)
                     : "rcx", "r11", "memory");
    return result;
#elif defined __aarch64__
    register long x0 __asm__("x0") = (long)a;
    register long x1 __asm__("x1") = sizeof *a;
    register int (*f)(void *) __asm__("x2") = function;
    register void *arg __asm__("x3") = argument;
    register long x8 __asm__("x8") = SYS_clone3;
    __asm__ volatile("svc #0\n\tcbnz x0, 1f\n\t"
                     "mov x29, #0\n\tmov x0, x3\n\tblr x2\n\tmov x8, %[exit]\n\tsvc #0\n1:"
                     : "+r"(x0)
                     : "r"(x1), "r"(f), "r"(arg), "r"(x8), [exit] "i"(SYS_exit)
                     : "x30", "cc", "memory");
    return x0;
#else
#error "child.c: clone3 for this machine is missing"
#endif
}

pid_t clone_into(int group, int (*function)(void *), char *stack_end, int flags, void *argument) {
    if (group < 0) return clone(function, stack_end, flags, argument);
    struct clone_args a = {
        .flags = (uint64_t)((flags & ~0xff) | CLONE_NEWCGROUP) | CLONE_INTO_CGROUP,
        .exit_signal = flags & 0xff, .cgroup = group,
        .stack = (uintptr_t)stack_end - STACK, .stack_size = STACK};
    long pid = clone3_call(&a, function, argument);
    if (pid > 0) return pid;
    errno = -pid;
    return -1;
}

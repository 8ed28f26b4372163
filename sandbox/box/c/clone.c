#define _GNU_SOURCE
#include "clone.h"

#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

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
#error "clone.c: clone3 for this machine is missing"
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

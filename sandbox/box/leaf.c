/* A fresh control group for every run, where the kernel cannot reset a group's peak (cgroup v2
 * before Linux 6.12).
 *
 *   <the box's group>/            CPU, processes and the memory limit: kept descriptors, as always
 *   ├── box/                      the box itself
 *   └── run-<n>/                  one run: its memory.peak starts at nothing
 *
 * The run is started in its group (clone3): moving it there would cost milliseconds. The group
 * for the next run is made after the answer to this one, while nobody waits.
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <linux/sched.h>

static int leaf_fd = -1, peak_fd = -1, number;
static char name[24];

int leaf_make(void) {
    if (leaf_fd >= 0) return 0;
    snprintf(name, sizeof name, "run-%d", number);
    if (mkdirat(setup.leaves_fd, name, 0755) && errno != EEXIST) return -1;
    if ((leaf_fd = openat(setup.leaves_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) return -1;
    if ((peak_fd = openat(leaf_fd, "memory.peak", O_RDONLY | O_CLOEXEC)) >= 0) return 0;
    close(leaf_fd);
    leaf_fd = -1;
    return -1;
}

int64_t leaf_peak(void) { return number_at(peak_fd, NULL); }

void leaf_drop(void) {
    if (leaf_fd < 0) return;
    close(leaf_fd);
    close(peak_fd);
    leaf_fd = peak_fd = -1;
    if (unlinkat(setup.leaves_fd, name, AT_REMOVEDIR)) number++; /* something still dies in it: the driver removes it */
}

/* As clone(2) of the C library, by the newer call: the child runs on its own stack and ends with
 * what the function returns. */
static long clone_into(struct clone_args *a, int (*does)(void *)) {
#if defined __x86_64__
    register long result __asm__("rax") = SYS_clone3;
    register int (*f)(void *) __asm__("r8") = does;
    __asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\txor %%edi, %%edi\n\tcall *%%r8\n\t"
                     "mov %%eax, %%edi\n\tmov %[exit], %%eax\n\tsyscall\n1:"
                     : "+r"(result) : "D"(a), "S"(sizeof *a), "r"(f), [exit] "i"(SYS_exit) : "rcx", "r11", "memory");
    return result;
#elif defined __aarch64__
    register long x0 __asm__("x0") = (long)a;
    register long x1 __asm__("x1") = sizeof *a;
    register int (*f)(void *) __asm__("x2") = does;
    register long x8 __asm__("x8") = SYS_clone3;
    __asm__ volatile("svc #0\n\tcbnz x0, 1f\n\t"
                     "mov x29, #0\n\tblr x2\n\tmov x8, %[exit]\n\tsvc #0\n1:"
                     : "+r"(x0) : "r"(x1), "r"(f), "r"(x8), [exit] "i"(SYS_exit) : "x30", "cc", "memory");
    return x0;
#else
#error "leaf.c: clone3 for this machine is missing"
#endif
}

pid_t leaf_clone(int (*does)(void *), char *stack_end, int flags) {
    enum { STACK = 65536 };
    struct clone_args a = {.flags = (uint64_t)((flags & ~0xff) | CLONE_NEWCGROUP) | CLONE_INTO_CGROUP,
        .exit_signal = flags & 0xff, .cgroup = leaf_fd,
        .stack = (uintptr_t)stack_end - STACK, .stack_size = STACK};
    long pid = clone_into(&a, does);
    if (pid > 0) return pid;
    errno = -pid;
    return -1;
}

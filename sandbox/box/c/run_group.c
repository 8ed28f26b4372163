/* Where the kernel cannot reset a group's peak memory (cgroup v2 before Linux 6.12), every run gets
 * a group of its own:
 *
 *   <the box's group>/            counts CPU time and processes, limits memory; kept descriptors
 *   ├── box/                      the box itself
 *   └── run-<n>/                  one run: its memory.peak starts at zero
 *
 * The run is started in its group (clone3), because moving a process costs milliseconds. The group
 * of the next run is made after the reply to this one, while the driver is busy.
 */
#define _GNU_SOURCE
#include "run_group.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "kernel_file.h"
#include "setup.h"

/* ---- a group for each run -------------------------------------------------------------------- */

static int group_fd = -1, peak_fd = -1, number;
static char name[24];

int run_group_make(void) {
    if (box.run_groups_fd < 0 || group_fd >= 0) return 0;
    snprintf(name, sizeof name, "run-%d", number);
    if (mkdirat(box.run_groups_fd, name, 0755) && errno != EEXIST) return -1;
    if ((group_fd = openat(box.run_groups_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) return -1;
    if ((peak_fd = openat(group_fd, "memory.peak", O_RDONLY | O_CLOEXEC)) >= 0) return 0;
    close(group_fd);
    group_fd = -1;
    return -1;
}

void run_group_drop(void) {
    if (group_fd < 0) return;
    close(group_fd);
    close(peak_fd);
    group_fd = peak_fd = -1;
    /* A process of the run may still be ending in it. Then the driver removes the group later. */
    if (unlinkat(box.run_groups_fd, name, AT_REMOVEDIR)) number++;
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
#error "run_group.c: clone3 for this machine is missing"
#endif
}

pid_t run_group_clone(int (*function)(void *), char *stack_end, int flags, void *argument, int own) {
    enum { STACK = 65536 };
    if (box.run_groups_fd < 0 || !own) return clone(function, stack_end, flags, argument);
    struct clone_args a = {
        .flags = (uint64_t)((flags & ~0xff) | CLONE_NEWCGROUP) | CLONE_INTO_CGROUP,
        .exit_signal = flags & 0xff, .cgroup = group_fd,
        .stack = (uintptr_t)stack_end - STACK, .stack_size = STACK};
    long pid = clone3_call(&a, function, argument);
    if (pid > 0) return pid;
    errno = -pid;
    return -1;
}

/* ---- CPU time -------------------------------------------------------------------------------- */

static int64_t cpu_base;

int64_t run_group_cpu_ns(void) { return kernel_number(box.cpu_fd, box.cpu_key) * box.cpu_unit - cpu_base; }

void run_group_cpu_begin(void) {
    cpu_base = 0;
    cpu_base = run_group_cpu_ns();
}

/* ---- memory and processes -------------------------------------------------------------------- */

static int64_t memory_base, memory_at_first, memory_limit, oom_base, pids_base, pids_limit;

static int64_t run_group_memory(void) { return kernel_number(box.mem_fd, NULL); }

static int write_number(int fd, int64_t value) {
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)value);
    return pwrite(fd, text, n, 0) == n ? 0 : -1;
}

/* Return what the group holds once the kernel has freed the memory of the run before. It does so
 * late, and the driver may not have read the output yet. Memory that is still to be freed would be
 * extra room for the next run. */
static int64_t settled_memory(void) {
    enum { TURNS = 15, NOISE = 6 << 20 }; /* small runs leave less than NOISE: not worth a wait */
    static int64_t usual;
    struct timespec moment = {0, 2000000};
    int64_t scratch = scratch_bytes_held(), held = run_group_memory();
    int turn = 0;
    for (; usual && held - scratch > usual + NOISE && turn < TURNS; turn++) {
        nanosleep(&moment, NULL);
        held = run_group_memory();
    }
    /* What is left after all turns stays: pages of files. */
    if (!usual || turn == TURNS || held - scratch < usual) usual = held - scratch;
    return held;
}

const char *run_group_begin(const struct run *run) {
    enum { MARGIN = 2 * 65536, CLOSE_ENOUGH = 262144 };
    if (box.mem_fd < 0) return NULL;
    if (run_group_make()) return "memory group";
    memory_base = settled_memory();
    if (box.peak_fd >= 0 && box.peak_resets && pwrite(box.peak_fd, "0", 1, 0) < 0) return "memory peak";
    if (!memory_at_first) memory_at_first = memory_base;
    /* Its output and the input it reads may be held in memory as well. */
    int64_t limit = memory_base + run->rq->memory + run->rq->output + MARGIN;
    if (limit < memory_limit - CLOSE_ENOUGH || limit > memory_limit) {
        if (write_number(box.limit_fd, limit)) return "memory limit";
        memory_limit = limit;
    }
    int64_t processes = run->rq->nproc + 2; /* the box and its stub are in the group */
    if (box.pids_max_fd >= 0 && pids_limit != processes) {
        if (write_number(box.pids_max_fd, processes)) return "process limit";
        pids_limit = processes;
    }
    oom_base = kernel_number(box.oom_fd, box.oom_key);
    pids_base = kernel_number(box.pids_event_fd, "max ");
    return NULL;
}

/* Whether memory outlives the run: pages of files that it read are charged to the box and freed
 * only under pressure. They would let the next run have more than its limit. */
static int needs_recycling(int64_t printed) {
    enum { SLACK = 24 << 20 };
    return run_group_memory() - scratch_bytes_held() - printed > memory_at_first + SLACK;
}

void run_group_report(const struct run *run, int64_t printed, struct reply *reply) {
    enum { GRAIN = 1 << 20 }; /* bytes: the kernel charges groups in batches */
    if (box.mem_fd < 0) return;
    int64_t rss = run->out.peak_rss;
    int64_t peak = box.run_groups_fd < 0 ? kernel_number(box.peak_fd, NULL) - memory_base
                                         : kernel_number(peak_fd, NULL);
    if (peak > printed) peak -= printed;
    if (peak < GRAIN) /* below that, the resident size is the better figure */
        peak = rss >= GRAIN ? GRAIN : peak > rss ? peak : rss;
    reply->memory = peak;
    reply->needs_recycling = needs_recycling(printed);
    if (kernel_number(box.oom_fd, box.oom_key) > oom_base) reply->hit |= HIT_MEMORY;
    if (kernel_number(box.pids_event_fd, "max ") > pids_base) reply->hit |= HIT_PROCESSES;
}

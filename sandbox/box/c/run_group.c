/* Where the kernel cannot reset a group's peak memory (cgroup v2 before Linux 6.12), every run gets
 * a group of its own:
 *
 *   <the box's group>/            counts CPU time and processes, limits memory; kept descriptors
 *   ├── box/                      the box itself
 *   └── run-<n>/                  one run: its memory.peak starts at zero
 *
 * The run is started in its group (clone3), because moving a process costs milliseconds. The group
 * of the next run is made after the reply to this one, while the grader is busy.
 */
#define _GNU_SOURCE
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
    /* A process of the run may still be ending in it. Then the grader removes the group later. */
    if (unlinkat(box.run_groups_fd, name, AT_REMOVEDIR)) number++;
}

int run_group_fd(void) { return group_fd; }

/* ---- CPU time -------------------------------------------------------------------------------- */

static int64_t cpu_base;

int64_t run_group_cpu_ns(void) { return kernel_number(box.cpu_fd, box.cpu_key) * box.cpu_unit - cpu_base; }

void run_group_cpu_begin(void) {
    cpu_base = 0;
    cpu_base = run_group_cpu_ns();
}

/* ---- memory and processes -------------------------------------------------------------------- */

static int64_t memory_base, memory_at_first, memory_usual, memory_limit, oom_base, pids_base, pids_limit;

int64_t run_group_memory(void) { return kernel_number(box.mem_fd, NULL); }

void run_group_keeps(int64_t bytes) {
    if (memory_at_first) memory_at_first += bytes;
    memory_usual = 0;
}

static int write_number(int fd, int64_t value) {
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)value);
    return pwrite(fd, text, n, 0) == n ? 0 : -1;
}

void run_group_lift(int64_t bytes) {
    if (box.mem_fd >= 0 && !write_number(box.limit_fd, run_group_memory() + bytes)) memory_limit = 0;
}

/* Return what the group holds once the kernel has freed the memory of the run before. It does so
 * late, and the grader may not have read the output yet. Memory that is still to be freed would be
 * extra room for the next run. */
static int64_t settled_memory(void) {
    enum { TURNS = 15, NOISE = 6 << 20 }; /* small runs leave less than NOISE: not worth a wait */
    struct timespec moment = {0, 2000000};
    int64_t scratch = scratch_bytes_held(), held = run_group_memory();
    int turn = 0;
    for (; memory_usual && held - scratch > memory_usual + NOISE && turn < TURNS; turn++) {
        nanosleep(&moment, NULL);
        held = run_group_memory();
    }
    /* What is left after all turns stays: pages of files. */
    if (!memory_usual || turn == TURNS || held - scratch < memory_usual) memory_usual = held - scratch;
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
    /* The box and, with a namespace for the run, a stub or supervisor are in the group as well. */
    int64_t processes = run->rq->nproc + 1 + !!(run->rq->flags & FRESH) + box.resident;
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

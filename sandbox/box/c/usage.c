#define _GNU_SOURCE
#include "usage.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel_file.h"
#include "setup.h"
#include "waiting.h"

static void program_path(const struct run *run, const char *what, char *path) {
    snprintf(path, 32, "%s/%s", run->out.proc_pid, what);
}

static int is_number(const char *name) { return *name >= '0' && *name <= '9'; }

/* After a longer time between two samples the watcher was stopped itself, and probably the program too. */
enum { SAMPLE_NS = 50000000, UNWATCHED_NS = 2 * SAMPLE_NS, MOST_TASKS = 64 };
static int64_t sampled_ns, sampled_cpu_ns, sample_interval;
static int64_t free_blocks, free_files;
static int visited;

void usage_begin(int64_t started_ns) {
    struct statfs f;
    sampled_ns = started_ns;
    sampled_cpu_ns = 0;
    sample_interval = SAMPLE_NS / 2;
    waiting_begin(started_ns);
    if (!box.is_init && !fstatfs(WORK_FD, &f)) free_blocks = f.f_bfree, free_files = f.f_ffree;
}

int64_t usage_sample_interval_ns(void) { return sample_interval; }

int usage_sample(struct run *run, int64_t now_ns, int64_t cpu_ns) {
    char path[32];
    struct stat s;
    uint32_t chance = 0;
    if (now_ns - sampled_ns < sample_interval) return 0;
    syscall(SYS_getrandom, &chance, sizeof chance, 1);
    sample_interval = SAMPLE_NS / 2 + chance % (SAMPLE_NS / 2);
    int64_t passed = now_ns - sampled_ns, unused = passed - (cpu_ns - sampled_cpu_ns);
    sampled_ns = now_ns;
    sampled_cpu_ns = cpu_ns;
    int64_t shared = kernel_field(PROC_FD, run->out.proc_pid, "statm", 2);
    if (shared > 0) run->out.file_rss = shared * box.page;
    program_path(run, "fd", path); /* since Linux 6.2 its size is the number of open descriptors */
    if (!fstatat(PROC_FD, path, &s, 0) && s.st_size >= run->rq->nofile) run->out.many_files = 1;
    int64_t waited = waiting_since_last(run, now_ns, cpu_ns);
    run->out.waited_ns += passed > UNWATCHED_NS && unused > waited ? unused : waited;
    return 1;
}

/* ---- one process ----------------------------------------------------------------------------- */

/* The resident size and the page tables, which it does not include: reading one byte of every 2 MB of an
 * empty mapping takes 4 KB of them each time. They are read only where they may matter: they are smaller
 * than a 256th of the address space. -1 on failure, 0 for a thread that has ended. */
static int64_t memory_of(int dir, const char *pid, int64_t limit) {
    char path[32];
    int64_t resident = kernel_field(dir, pid, "statm", 1) * box.page;
    if (resident <= 0 || resident > limit) return resident;
    if (resident + kernel_field(dir, pid, "statm", 0) * box.page / 256 <= limit) return resident;
    snprintf(path, sizeof path, "%.15s/status", pid);
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    int64_t kilobytes = kernel_number(fd, "\nVmPTE:"); /* a name may hold anything but a new line */
    if (fd >= 0) close(fd);
    return resident + (kilobytes > 0 ? kilobytes * 1024 : 0);
}

static int64_t most_memory, memory_limit;

static int note_memory(int dir, const char *tid) {
    if (visited >= MOST_TASKS) return 1;
    if (!is_number(tid)) return 0;
    int64_t memory = memory_of(dir, tid, memory_limit);
    visited++;
    if (memory > most_memory) most_memory = memory;
    return 0;
}

int64_t usage_memory(const struct run *run) {
    char path[32];
    int64_t memory = memory_of(PROC_FD, run->out.proc_pid, run->rq->memory);
    if (memory > 0) return memory;
    /* A first thread that has ended shows no memory, the others do. */
    program_path(run, "task", path);
    memory_limit = run->rq->memory;
    most_memory = visited = 0;
    each_entry(PROC_FD, path, note_memory);
    return most_memory;
}

/* The task folder has a link for each thread, and two more. */
int usage_too_many_threads(const struct run *run) {
    char path[32];
    struct stat s;
    program_path(run, "task", path);
    return !fstatat(PROC_FD, path, &s, 0) && s.st_nlink > run->rq->nproc + 2;
}

/* ---- a folder of the host -------------------------------------------------------------------- */

enum { MOST_FILES = 65536 };
static int64_t folder_bytes, folder_files;

static int add_file(int dir, const char *name) {
    struct stat s;
    if (!fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW)) folder_bytes += s.st_blocks * 512;
    folder_files++;
    return 0;
}

/* One level suffices: Landlock allows no folders in it. */
int usage_folder_too_large(const struct run *run) {
    struct statfs f;
    uint64_t disk = run->rq->disk;
    if (fstatfs(WORK_FD, &f) || (int64_t)f.f_bfree > free_blocks ||
        (free_blocks - f.f_bfree) * (uint64_t)f.f_bsize <= disk) { /* a quick check first */
        if ((int64_t)f.f_ffree > free_files || free_files - (int64_t)f.f_ffree <= MOST_FILES) return 0;
    }
    folder_bytes = folder_files = 0;
    each_entry(WORK_FD, ".", add_file);
    return folder_bytes > run->rq->disk || folder_files > MOST_FILES;
}

#define _GNU_SOURCE
#include "usage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel_file.h"
#include "setup.h"

static void program_path(const struct run *run, const char *what, char *path) {
    snprintf(path, 32, "%s/%s", run->out.proc_pid, what);
}

static int is_number(const char *name) { return *name >= '0' && *name <= '9'; }

/* ---- waiting for a core ------------------------------------------------------------------------
 * The time a program waits for a core is taken off its wall clock. There are two signs of waiting:
 * the longest wait of any one task since the last sample (not the sum: a crowd of sleepers that wake
 * together would gain time without using CPU), and a task that is ready to run at this moment
 * (short-lived tasks take their own figures with them). Samples are taken at random times, so that a
 * program cannot be ready just then and sleep otherwise. */

enum { SAMPLE_NS = 50000000, TASKS = 1024, MOST_TASKS = 64 };
static struct { int tid; int64_t delay; } tasks[TASKS]; /* each task's wait at the last sample */
static int64_t longest_delay, most_pages, sampled_ns, sampled_cpu, sample_interval;
static int64_t free_blocks, free_files;
static char stub_pid[16];
static int visited, runnable;

static int state_of(int dir, const char *tid) {
    char path[32], text[128];
    snprintf(path, sizeof path, "%.15s/stat", tid);
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    char *p = strrchr(text, ')'); /* the name before it may hold anything */
    return p && p[1] ? p[2] : 0;
}

static int note_delay(int dir, const char *tid) {
    if (visited >= MOST_TASKS) return 1;
    if (!is_number(tid)) return 0;
    int64_t delay = kernel_field(dir, tid, "schedstat", 1);
    int n = atoi(tid), i = n % TASKS;
    visited++;
    runnable |= state_of(dir, tid) == 'R';
    if (delay < 0) return 0;
    for (int tries = 0; tasks[i].tid && tasks[i].tid != n && tries < 16; tries++) i = (i + 1) % TASKS;
    int64_t more = delay - (tasks[i].tid == n ? tasks[i].delay : 0);
    tasks[i].tid = n;
    tasks[i].delay = delay;
    if (more > longest_delay) longest_delay = more;
    return 0;
}

static int note_process(int dir, const char *pid) {
    char path[32];
    if (visited >= MOST_TASKS) return 1;
    if (!is_number(pid) || !strcmp(pid, "1") || !strcmp(pid, stub_pid)) return 0; /* box and stub */
    snprintf(path, sizeof path, "%.15s/task", pid);
    each_entry(dir, path, note_delay);
    return 0;
}

void usage_begin(int64_t started_ns) {
    struct statfs f;
    stub_pid[0] = 0;
    sampled_ns = started_ns;
    sampled_cpu = 0;
    sample_interval = SAMPLE_NS / 2;
    if (!box.is_init && !fstatfs(WORK_FD, &f)) free_blocks = f.f_bfree, free_files = f.f_ffree;
}

static void first_sample(void) { /* most programs end before it */
    ssize_t n = readlinkat(PROC_FD, "self", stub_pid, sizeof stub_pid - 1);
    if (n <= 0) memcpy(stub_pid, "-", 2);
    else stub_pid[n] = 0;
    memset(tasks, 0, sizeof tasks);
}

int64_t usage_sample_interval_ns(void) { return sample_interval; }

void usage_sample(struct run *run, int64_t now_ns, int64_t cpu_ns) {
    char path[32];
    struct stat s;
    uint32_t chance = 0;
    if (!stub_pid[0]) first_sample();
    int64_t elapsed = now_ns - sampled_ns, used = cpu_ns - sampled_cpu;
    if (elapsed < sample_interval) return;
    syscall(SYS_getrandom, &chance, sizeof chance, 1);
    sample_interval = SAMPLE_NS / 2 + chance % (SAMPLE_NS / 2);
    sampled_ns = now_ns;
    sampled_cpu = cpu_ns;
    program_path(run, "fd", path); /* since Linux 6.2 its size is the number of open descriptors */
    if (!fstatat(PROC_FD, path, &s, 0) && s.st_size >= run->rq->nofile) run->out.many_files = 1;
    if (used > elapsed * 95 / 100) return; /* it had its core; the next sample sees any wait */
    longest_delay = visited = runnable = 0;
    program_path(run, "task", path);
    if (box.is_init) each_entry(PROC_FD, ".", note_process);
    else each_entry(PROC_FD, path, note_delay);
    int64_t idle = elapsed - used;
    run->out.waited_ns += runnable || longest_delay > idle ? idle : longest_delay;
}

/* ---- one process ----------------------------------------------------------------------------- */

static int note_pages(int dir, const char *tid) {
    if (visited >= MOST_TASKS) return 1;
    if (!is_number(tid)) return 0;
    int64_t pages = kernel_field(dir, tid, "statm", 1);
    visited++;
    if (pages > most_pages) most_pages = pages;
    return 0;
}

int64_t usage_memory(const struct run *run) {
    char path[32];
    int64_t pages = kernel_field(PROC_FD, run->out.proc_pid, "statm", 1);
    if (pages <= 0) { /* a first thread that has ended shows no memory, the others do */
        program_path(run, "task", path);
        most_pages = visited = 0;
        each_entry(PROC_FD, path, note_pages);
        pages = most_pages;
    }
    return pages * box.page;
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

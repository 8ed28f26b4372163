#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "box.h"

/* ---- the kernel's files ---------------------------------------------------------------------- */

int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    return clock_gettime(clock, &t) ? -1 : t.tv_sec * 1000000000LL + t.tv_nsec;
}

int64_t kernel_number(int fd, const char *key) {
    char text[2048]; /* more than /proc/<pid>/status has before its last figures of memory */
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (n <= 0) return -1;
    text[n] = 0;
    char *p = key ? strstr(text, key) : text;
    return p ? strtoll(p + (key ? strlen(key) : 0), NULL, 10) : -1;
}

char *kernel_text(int dir, const char *folder, const char *file, char *text, size_t size) {
    char path[32];
    snprintf(path, sizeof path, "%.15s/%s", folder, file);
    int fd = *folder ? openat(dir, path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    return text;
}

int64_t kernel_field(int dir, const char *folder, const char *file, int field) {
    char text[128], *p = kernel_text(dir, folder, file, text, sizeof text);
    if (!*p) return -1;
    while (field-- > 0 && (p = strchr(p, ' '))) p++;
    return p ? strtoll(p, NULL, 10) : -1;
}

void each_entry(int at, const char *path, int (*visit)(int dir, const char *name)) {
    enum { LENGTH_AT = 16, NAME_AT = 19 }; /* struct linux_dirent64: d_reclen, d_name */
    char entries[4096] __attribute__((aligned(8)));
    int stop = 0, dir = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long n; dir >= 0 && !stop &&
                 (n = syscall(SYS_getdents64, dir, entries, sizeof entries)) > 0;)
        for (long i = 0; i < n && !stop;) {
            unsigned short length;
            memcpy(&length, entries + i + LENGTH_AT, sizeof length);
            stop = visit(dir, entries + i + NAME_AT);
            i += length;
        }
    if (dir >= 0) close(dir);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void program_path(const struct run *run, const char *what, char *path) {
    snprintf(path, 32, "%s/%s", run->out.proc_pid, what);
}

static int is_number(const char *name) { return *name >= '0' && *name <= '9'; }

/* More than UNWATCHED_NS between two samples: the watcher itself was stopped, and probably the program too. */
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
    program_path(run, "fd", path); /* since Linux 6.2 the folder's size is the number of open descriptors */
    if (!fstatat(PROC_FD, path, &s, 0) && s.st_size >= run->rq->nofile) run->out.many_files = 1;
    int64_t waited = waiting_since_last(run, now_ns, cpu_ns);
    run->out.waited_ns += passed > UNWATCHED_NS && unused > waited ? unused : waited;
    return 1;
}

/* ---- one process ----------------------------------------------------------------------------- */

/* The resident size plus the page tables, which it does not include: each byte that a program reads in another
 * 2 MB of an empty mapping takes 4 KB of page tables. They are smaller than a 256th of the address space, so
 * they are read only where they may exceed the limit. -1 on failure, 0 for a thread that has ended. */
static int64_t memory_of(int dir, const char *pid, int64_t limit) {
    char path[32];
    int64_t resident = kernel_field(dir, pid, "statm", 1) * box.page;
    if (resident <= 0 || resident > limit) return resident;
    if (resident + kernel_field(dir, pid, "statm", 0) * box.page / 256 <= limit) return resident;
    snprintf(path, sizeof path, "%.15s/status", pid);
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    int64_t kilobytes = kernel_number(fd, "\nVmPTE:"); /* the process's name may hold anything but a new line */
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

/* Looking at one level suffices, because Landlock lets programs make no folders in the working folder. */
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

/* ---- waiting for a core ---------------------------------------------------------------------- */

/* The kernel counts for each task how long it ran and how long it was queued for its core. The sum is
 * the time in which the task was ready. All tasks of a run are on one core, so while a task is ready
 * the core is used either by the run or by somebody else:
 *
 *     waited  =  longest time in which any one task was ready  -  CPU time of the run
 *
 * Hence tasks that wake together and wait for one another gain nothing. A task is compared with its own
 * figures at the last look only. One that was not seen then gains nothing either, unless that look was
 * complete: then the task is new. A wait is counted when it ends; what the run used of it before the last
 * look is not subtracted, so waits across looks gain at most the CPU time used.
 *
 * A task that starts and ends between two looks takes its figures with it. So a task that is ready at
 * this moment counts as waiting since the last look. This is a guess that a program can bring about on
 * purpose: a timer with slack goes off together with the watcher's. So the guesses of a run together are
 * limited to the CPU time that the run has used.
 */
/* counted: ns of the kernel, until the task last got its core. queued: ns in the queue since then, if known. */
struct task { int tid, ready; int64_t counted, queued; };
struct look { struct task tasks[MOST_TASKS]; int count, complete; int64_t ns, cpu_ns; };

static struct look looks[2], *last = &looks[0], *current = &looks[1];
static int64_t longest_ready, guessed_ns;
static char watcher[16];

static int is_ready(int dir, const char *tid) {
    char text[128];
    char *p = strrchr(kernel_text(dir, tid, "stat", text, sizeof text), ')'); /* the name may hold ) */
    return p && p[1] && p[2] == 'R';
}

static const struct task *as_last_seen(const struct task *task) {
    for (int i = 0; i < last->count; i++)
        if (last->tasks[i].tid == task->tid && last->tasks[i].counted <= task->counted)
            return &last->tasks[i];
    return NULL; /* the task is new, or has the number of another task that has ended */
}

static int look_at_task(int dir, const char *tid) {
    char text[128], *end;
    if (!is_number(tid)) return 0;
    if (current->count == MOST_TASKS) return !(current->complete = 0);
    struct task *task = &current->tasks[current->count++];
    *task = (struct task){.tid = atoi(tid), .ready = is_ready(dir, tid)};
    task->counted = strtoll(kernel_text(dir, tid, "schedstat", text, sizeof text), &end, 10);
    task->counted += strtoll(end, NULL, 10);
    const struct task *before = as_last_seen(task);
    if (!before && !last->complete) return 0;
    /* The task did not run since the last look, and was ready then and now: it was queued in between. */
    if (before && before->counted == task->counted && before->ready && task->ready)
        task->queued = before->queued + current->ns - last->ns;
    int64_t ready = task->counted + task->queued - (before ? before->counted + before->queued : 0);
    if (ready > longest_ready) longest_ready = ready;
    return 0;
}

static int (*at_task)(int dir, const char *tid);

static int look_at_process(int dir, const char *pid) {
    char path[32];
    if (!current->complete) return 1;
    if (!is_number(pid) || !strcmp(pid, "1") || !strcmp(pid, watcher)) return 0; /* box; stub or supervisor */
    for (int i = 0; i < MOST_TEMPLATES; i++)
        if (!strcmp(pid, box.residents[i])) return 0;
    snprintf(path, sizeof path, "%.15s/task", pid);
    each_entry(dir, path, at_task);
    return 0;
}

static void each_task(const struct run *run, int (*visit)(int dir, const char *tid)) {
    char path[32];
    if (!watcher[0] && run->from.socket >= 0) memcpy(watcher, run->from.supervisor, sizeof watcher);
    else if (!watcher[0]) {
        ssize_t n = readlinkat(PROC_FD, "self", watcher, sizeof watcher - 1);
        watcher[n > 0 ? n : 0] = 0;
    }
    at_task = visit;
    snprintf(path, sizeof path, "%s/task", run->out.proc_pid);
    if (box.is_init) each_entry(PROC_FD, ".", look_at_process);
    else each_entry(PROC_FD, path, visit);
}

void waiting_begin(int64_t now_ns) {
    *last = (struct look){.complete = 1, .ns = now_ns};
    guessed_ns = 0;
    watcher[0] = 0;
}

int64_t waiting_since_last(const struct run *run, int64_t now_ns, int64_t cpu_ns) {
    current->count = 0;
    current->complete = 1;
    current->ns = now_ns;
    current->cpu_ns = cpu_ns;
    longest_ready = 0;
    each_task(run, look_at_task);
    int64_t used = cpu_ns - last->cpu_ns, unused = now_ns - last->ns - used;
    int64_t waited = longest_ready > used ? longest_ready - used : 0, guess = 0;
    for (int i = 0; i < current->count && !guess; i++)
        if (current->tasks[i].ready) guess = unused - waited;
    if (guess > cpu_ns - guessed_ns) guess = cpu_ns - guessed_ns;
    if (guess < 0) guess = 0;
    guessed_ns += guess;
    struct look *spare = last;
    last = current;
    current = spare;
    return waited + guess;
}

/* ---- what the tasks do at this moment -------------------------------------------------------- */

static struct tasks now;

static int count_task(int dir, const char *tid) {
    if (!is_number(tid)) return 0;
    now.count++;
    now.ready += is_ready(dir, tid);
    return now.count == MOST_TASKS;
}

struct tasks waiting_tasks(const struct run *run) {
    now = (struct tasks){0, 0};
    current->complete = 1;
    each_task(run, count_task);
    return now;
}

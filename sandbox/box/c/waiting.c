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
 * this moment counts as waiting since the last look. This is a guess, and programs can provoke it (a
 * timer with slack goes off together with the watcher's), so all guesses of a run together
 * are not more than the CPU time that it used.
 */
#define _GNU_SOURCE
#include "waiting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel_file.h"
#include "setup.h"

enum { MOST_TASKS = 64 };

/* counted: by the kernel, up to when the task last got its core. queued: known time since then. */
struct task { int tid, ready; int64_t counted, queued; };
struct look { struct task tasks[MOST_TASKS]; int count, complete; int64_t ns, cpu_ns; };

static struct look looks[2], *last = &looks[0], *current = &looks[1];
static int64_t longest_ready, guessed_ns;
static char watcher[16];

static int is_number(const char *name) { return *name >= '0' && *name <= '9'; }

static char *read_text(int dir, const char *tid, const char *file, char *text, size_t size) {
    char path[32];
    snprintf(path, sizeof path, "%.15s/%s", tid, file);
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static int is_ready(int dir, const char *tid) {
    char text[128];
    char *p = strrchr(read_text(dir, tid, "stat", text, sizeof text), ')'); /* its name holds anything */
    return p && p[1] && p[2] == 'R';
}

static const struct task *as_last_seen(const struct task *task) {
    for (int i = 0; i < last->count; i++)
        if (last->tasks[i].tid == task->tid && last->tasks[i].counted <= task->counted)
            return &last->tasks[i];
    return NULL; /* it is new, or another one of that number was */
}

static int look_at_task(int dir, const char *tid) {
    char text[128], *end;
    if (!is_number(tid)) return 0;
    if (current->count == MOST_TASKS) return !(current->complete = 0);
    struct task *task = &current->tasks[current->count++];
    *task = (struct task){.tid = atoi(tid), .ready = is_ready(dir, tid)};
    task->counted = strtoll(read_text(dir, tid, "schedstat", text, sizeof text), &end, 10);
    task->counted += strtoll(end, NULL, 10);
    const struct task *before = as_last_seen(task);
    if (!before && !last->complete) return 0;
    /* It did not run since the last look, and was ready then and now: it was queued in between. */
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

/*   has its core ── no CPU for WINDOW_NS ──▶ lent ── some CPU ──▶ waits ── OP_GO ──▶ has its core
 *                      OP_IDLE                        OP_AWAKE
 *
 * Little CPU time counts as none: a program that wakes up now and then for a moment stays asleep. One that
 * is ready and gets no CPU, because something else uses its core, does not sleep.
 *
 * A run that waits is stopped, if it has one task, which is neither asleep again nor able to notice SIGCONT.
 * A stop ends some system calls with EINTR, so a task that is in one is not stopped, nor are several tasks.
 * They share the core with whoever has it. The time that a run was stopped is taken off its wall clock.
 *
 * A run lends its core a few times at most: programs that sleep and wake up all the time get little use of
 * cores that others hold.
 */
#define _GNU_SOURCE
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW_NS = 100000000, LITTLE_NS = 1000000, LENT_LOOK_NS = 10000000, MOST_LENT = 8 };

static enum { HOLDS, LENT, WAITS } state;
static int lent;
static pid_t stopped; /* by a signal: what kill() was given, or 0 */
static int64_t window_ns, window_cpu_ns, seen_ns;

void idle_begin(const struct run *run, int64_t now_ns) {
    state = HOLDS;
    lent = run->rq->flags & LEND ? 0 : MOST_LENT;
    stopped = 0;
    window_ns = seen_ns = now_ns;
    window_cpu_ns = 0;
}

static void tell(const struct run *run, uint32_t what) {
    notify(&(struct notice){.op = what, .number = run->count}, 0);
}

static int has_signal(const char *status, const char *mask, int signal) {
    const char *p = strstr(status, mask);
    return !p || strtoull(p + strlen(mask), NULL, 16) >> (signal - 1) & 1;
}

/* Whether the program would notice that it was continued: it handles the signal or has blocked it. */
static int notices(const struct run *run) {
    char text[4096];
    kernel_text(PROC_FD, run->out.proc_pid, "status", text, sizeof text);
    /* A name may hold anything but a new line. */
    return has_signal(text, "\nSigBlk:", SIGCONT) || has_signal(text, "\nSigCgt:", SIGCONT);
}

static void stop(pid_t which) {
    state = WAITS;
    if (which && !kill(which, SIGSTOP)) stopped = which;
}

static void wake_up(struct run *run) {
    struct tasks tasks = waiting_tasks(run);
    stop(tasks.count == 1 && tasks.ready == 1 && !notices(run) ? run->out.program : 0);
    tell(run, OP_AWAKE);
}

void idle_look(struct run *run, int64_t now_ns, int64_t cpu_ns) {
    if (stopped) run->out.stopped_ns += now_ns - seen_ns;
    seen_ns = now_ns;
    if (state == WAITS || (state == HOLDS && lent == MOST_LENT)) return;
    int has_run = cpu_ns - window_cpu_ns > LITTLE_NS;
    if (!has_run && now_ns - window_ns < WINDOW_NS) return;
    if (has_run && state == LENT) wake_up(run);
    else if (!has_run && state == HOLDS && !waiting_tasks(run).ready) {
        state = LENT;
        lent++;
        tell(run, OP_IDLE);
    }
    window_ns = now_ns;
    window_cpu_ns = cpu_ns;
}

void idle_pause(const struct run *run, int64_t now_ns) {
    if (state != HOLDS || run->from.socket >= 0 || run->out.program <= 0) return;
    seen_ns = now_ns;
    stop(box.is_init ? -1 : -run->out.program); /* a compiler's children share its process group */
}

int64_t idle_next_look_ns(void) { return state == LENT ? LENT_LOOK_NS : INT64_MAX; }

void idle_go_on(struct run *run, int64_t now_ns) {
    if (state != WAITS) return;
    if (stopped) {
        run->out.stopped_ns += now_ns - seen_ns;
        kill(stopped, SIGCONT);
    }
    stopped = 0;
    state = HOLDS;
    window_ns = seen_ns = now_ns;
}

int idle_asks(const struct run *run) {
    stopped = 0; /* it has ended */
    if (state == LENT) tell(run, OP_AWAKE);
    if (state == LENT) state = WAITS;
    return state == WAITS;
}

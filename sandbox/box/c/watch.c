#define _GNU_SOURCE
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "template.h"

/* Of the stub, and of the program's process before its exec. */
static char stacks[2][STACK] __attribute__((aligned(64)));
static int64_t started_ns, own_cpu_base, supervisor_ns;

/* ---- a run that sleeps ------------------------------------------------------------------------ */

/* A run that sleeps lends its core: the grader may use it for another run meanwhile.
 *
 *   has its core ── no CPU for WINDOW_NS ──▶ lent ── some CPU ──▶ waits ── OP_GO ──▶ has its core
 *                      OP_IDLE                        OP_AWAKE
 *
 * Little CPU time counts as none: a program that wakes up now and then for a moment stays asleep. One that
 * is ready and gets no CPU, because something else uses its core, does not sleep.
 *
 * A run that waits is stopped if it has one task, which is not asleep again and would not notice SIGCONT.
 * A stop ends some system calls with EINTR, so a task that is in one is not stopped, nor are several tasks.
 * A run that is not stopped shares the core with whoever has it. The time for which a run was stopped is
 * taken off its wall clock.
 *
 * A run lends its core a few times at most: programs that sleep and wake up all the time get little use of
 * cores that others hold.
 */
enum { WINDOW_NS = 100000000, LITTLE_NS = 1000000, LENT_LOOK_NS = 10000000, MOST_LENT = 8 };

static enum { HOLDS, LENT, WAITS } state;
static int lent;
static pid_t stopped; /* by a signal: what kill() was given, or 0 */
static int64_t window_ns, window_cpu_ns, seen_ns;

static void idle_begin(const struct run *run, int64_t now_ns) {
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
    /* Searched with a new line before it, because the program's name may hold anything but a new line. */
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

static void idle_look(struct run *run, int64_t now_ns, int64_t cpu_ns) {
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

static void idle_pause(const struct run *run, int64_t now_ns) {
    if (state != HOLDS || run->from.socket >= 0 || run->out.program <= 0) return;
    seen_ns = now_ns;
    stop(box.is_init ? -1 : -run->out.program); /* a compiler's children share its process group */
}

static int64_t idle_next_look_ns(void) { return state == LENT ? LENT_LOOK_NS : INT64_MAX; }

static void idle_go_on(struct run *run, int64_t now_ns) {
    if (state != WAITS) return;
    if (stopped) {
        run->out.stopped_ns += now_ns - seen_ns;
        kill(stopped, SIGCONT);
    }
    stopped = 0;
    state = HOLDS;
    window_ns = seen_ns = now_ns;
}

static int idle_asks(const struct run *run) {
    stopped = 0; /* the run before has ended */
    if (state == LENT) tell(run, OP_AWAKE);
    if (state == LENT) state = WAITS;
    return state == WAITS;
}

/* ---- CPU time and the limits ----------------------------------------------------------------- */

static int64_t process_ns(pid_t pid) { return clock_ns((~(clockid_t)pid << 3) | 2); }

/* The watcher is in the group as well, with a forked run also its template and its supervisor. Their CPU
 * time, of which the watcher's grows with the run's duration and with what the program writes to stderr, is
 * not counted as the program's. */
static int64_t cpu_used(const struct run *run) {
    pid_t pid = run->out.program;
    /* Without a control group the run has one process: read its CPU clock. */
    if (box.cpu_fd < 0) return pid > 0 ? process_ns(pid) : 0;
    /* First, because reading the watcher's clock brings the group's count up to date. */
    int64_t own = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own_cpu_base;
    if (run->from.socket >= 0) own += process_ns(run->from.pid) - run->from.cpu_base + supervisor_ns;
    return run_group_cpu_ns() - own;
}

static void check_limits(struct run *run) { /* note the limit that the run has exceeded */
    struct outcome *out = &run->out;
    const struct request *rq = run->rq;
    int64_t cpu = cpu_used(run), now = clock_ns(CLOCK_MONOTONIC);
    struct stat s;
    int sampled = usage_sample(run, now, cpu);
    idle_look(run, now, cpu);
    int64_t wall = now - started_ns - out->stopped_ns;
    int64_t waited = out->waited_ns < wall - cpu ? out->waited_ns : wall - cpu;
    int alone = box.mem_fd < 0, talks = !!(rq->flags & STDOUT_FD);
    /* A notice that the grader has no room for is dropped: the next one has the totals as well. */
    if (talks && sampled)
        notify(&(struct notice){OP_BUSY, run->count, now, cpu + waited + out->stopped_ns}, MSG_DONTWAIT);
    if (cpu > rq->cpu_ns) out->killed = KILLED_CPU;
    else if (alone && usage_memory(run) > rq->memory) out->killed = KILLED_MEMORY;
    else if (!talks && !fstat(run->out_fd, &s) && s.st_size > rq->output)
        out->killed = KILLED_OUTPUT;
    else if (alone && !box.nproc_rlimit && usage_too_many_threads(run)) out->killed = KILLED_PROCESSES;
    else if (!box.is_init && usage_folder_too_large(run)) out->killed = KILLED_DISK;
    else if (!talks && wall - waited > rq->wall_ns) out->killed = KILLED_WALL;
    else if (wall > longest_ns(run)) out->killed = KILLED_STARVED;
}

static int64_t until_next_check(const struct run *run, int first) { /* in ns */
    enum { SHORTEST = 200000, WALL_SHORTEST = 20000000, ALONE_LONGEST = 5000000 };
    int64_t cpu_left = run->rq->cpu_ns, left = run->rq->wall_ns;
    if (!first) {
        cpu_left -= cpu_used(run);
        left -= clock_ns(CLOCK_MONOTONIC) - started_ns;
    }
    if (left < WALL_SHORTEST) left = WALL_SHORTEST;
    if (left > usage_sample_interval_ns()) left = usage_sample_interval_ns();
    if (left > idle_next_look_ns()) left = idle_next_look_ns();
    if (cpu_left < left) left = cpu_left; /* one core: CPU time grows no faster than wall time */
    /* Without a control group, only these checks enforce the memory limit. */
    if (box.mem_fd < 0 && left > ALONE_LONGEST) left = ALONE_LONGEST;
    return left < SHORTEST ? SHORTEST : left;
}

/* ---- what comes from the program and from the grader ----------------------------------------- */

static void drain_stderr(struct run *run) { /* keep the first bytes, count the rest */
    static char waste[65536];
    struct outcome *out = &run->out;
    for (int turn = 0; turn < 64; turn++) { /* bounded: limits are checked between two calls */
        uint32_t room = run->rq->err_cap > out->err_len ? run->rq->err_cap - out->err_len : 0;
        ssize_t n = read(run->err_pipe[0], room ? out->err + out->err_len : waste, room ? room : sizeof waste);
        if (n <= 0) return;
        out->err_total += n;
        if (room) out->err_len += n;
    }
}

int is_aborted(struct run *run) {
    uint32_t message[2] = {0, 0};
    ssize_t n = recv(SOCKET, message, sizeof message, MSG_DONTWAIT);
    if (n != sizeof message || message[1] != run->count) return !n;
    if (message[0] == OP_GO) idle_go_on(run, clock_ns(CLOCK_MONOTONIC));
    if (message[0] == OP_PAUSE) idle_pause(run, clock_ns(CLOCK_MONOTONIC));
    int killed = message[0] == OP_EXPIRE ? KILLED_WALL : message[0] == OP_FLOODS ? KILLED_OUTPUT : 0;
    if (killed && !run->out.killed) run->out.killed = killed;
    return message[0] == OP_ABORT;
}

int wait_for_core(struct run *run) {
    struct pollfd fd = {SOCKET, POLLIN | POLLRDHUP, 0};
    while (idle_asks(run))
        if (poll(&fd, 1, -1) > 0 && is_aborted(run)) return -1;
    return 0;
}

static void wait_for_event(struct run *run, int64_t ns) {
    sigset_t none; /* SIGCHLD is blocked except while waiting */
    sigemptyset(&none);
    struct timespec timeout = {ns / 1000000000, ns % 1000000000};
    struct pollfd fds[3] = {{SOCKET, POLLIN | POLLRDHUP, 0}, {run->err_pipe[0], POLLIN, 0},
                            {run->from.socket, POLLIN, 0}};
    if (ppoll(fds, 3, &timeout, &none) <= 0) return;
    if (fds[0].revents && is_aborted(run)) run->out.killed = KILLED_ABORT;
    if (fds[1].revents & POLLIN) drain_stderr(run);
    else if (fds[1].revents) {
        close(run->err_pipe[0]);
        run->err_pipe[0] = -1;
    }
}

/* ---- starting and watching ------------------------------------------------------------------- */

/* Let the kernel end the program before the box when memory is short. Called after the program's exec: until
 * then it shares its memory, and so its score, with the box. */
static void prefer_for_oom_killer(const struct run *run) {
    char path[32];
    snprintf(path, sizeof path, "%s/oom_score_adj", run->out.proc_pid);
    int fd = run->out.proc_pid[0] ? openat(PROC_FD, path, O_WRONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && write(fd, "500", 3) != 3) errno = 0; /* the program has ended already */
    if (fd >= 0) close(fd);
}

void start_counting(struct run *run) {
    started_ns = clock_ns(CLOCK_MONOTONIC);
    supervisor_ns = 0;
    if (box.cpu_fd < 0) return;
    if (run->from.socket >= 0) run->from.cpu_base = process_ns(run->from.pid);
    own_cpu_base = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    run_group_cpu_begin();
}

void start(struct run *run) {
    start_counting(run);
    /* spawn_flags: where the filter refuses forks, it lets this one pass by a namespace flag, which needs a
     * capability that only the box has. A stub is in the run's group already. */
    int flags = CLONE_VM | CLONE_VFORK | SIGCHLD | box.spawn_flags;
    char *stack_end = stacks[1] + sizeof stacks[1];
    run->out.program = clone_into(run->rq->flags & FRESH ? -1 : run_group_fd(), start_program, stack_end, flags, run);
    if (run->out.program < 0) run->out.exec_errno = errno;
    if (box.mem_fd >= 0 && run->out.program > 0) prefer_for_oom_killer(run);
    close(run->err_pipe[1]);
    run->err_pipe[1] = -1;
}

/* Whether a forked run has ended: its template then sends what the supervisor measured, or is lost itself. */
static int case_has_ended(struct run *run) {
    struct template_event event;
    ssize_t n = recv(run->from.socket, &event, sizeof event, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    run->out.lost = n != sizeof event || event.kind != ENDED || event.lost;
    if (run->out.lost) return 1;
    supervisor_ns = event.supervisor_ns;
    run->out.wstatus = event.wstatus;
    run->out.end_ns = event.end_ns;
    run->out.peak_rss = event.peak_rss;
    run->out.cpu_ns = event.cpu_ns;
    return 1;
}

static int has_ended(struct run *run) { /* reap what has ended; 1 when the program is among them */
    if (run->from.socket >= 0) return case_has_ended(run);
    struct rusage ru;
    pid_t pid;
    int status;
    while ((pid = wait4(-1, &status, WNOHANG | __WALL, &ru)) > 0) {
        if (pid != run->out.program) continue;
        run->out.wstatus = status;
        run->out.end_ns = clock_ns(CLOCK_MONOTONIC);
        run->out.peak_rss = ru.ru_maxrss * 1024;
        run->out.cpu_ns = (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000LL +
                          (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000LL;
        return 1;
    }
    return 0;
}

void watch(struct run *run) {
    struct outcome *out = &run->out;
    usage_begin(started_ns);
    idle_begin(run, started_ns);
    /* The box keeps no stdout: the other program's input ends when this program closes its output, not when
     * the run ends. */
    if (run->rq->flags & STDOUT_FD) close_one_passed(run->out_fd), run->out_fd = -1;
    for (int first = 1; out->program >= 0 && !has_ended(run); first = 0) {
        if (!first && !out->killed) check_limits(run); /* at first the run has only just begun */
        if (!first) replies_send_due(clock_ns(CLOCK_MONOTONIC)); /* replies of the runs before */
        if (!first && out->killed) {
            kill(out->program, SIGKILL);
            /* A compiler's children share its process group. */
            if (!box.is_init) kill(-out->program, SIGKILL);
        }
        wait_for_event(run, until_next_check(run, first));
    }
    out->wall_ns = (out->end_ns ? out->end_ns : clock_ns(CLOCK_MONOTONIC)) - started_ns - out->stopped_ns;
    /* Nothing of the run may outlive it. Only in a PID namespace: elsewhere, processes of others would end. In
     * a forked run the supervisor has done this. */
    if (box.is_init && run->from.socket < 0) end_others();
    if (box.cpu_fd >= 0) out->cpu_ns = cpu_used(run);
    if (run->err_pipe[0] >= 0) drain_stderr(run);
    out->supervised = !out->lost;
}

static int stub(void *run) {
    start(run);
    watch(run);
    _exit(0);
}

int start_and_watch_in_stub(struct run *run) {
    int flags = CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_NEWPID | SIGCHLD;
    pid_t pid = clone_into(run_group_fd(), stub, stacks[0] + sizeof stacks[0], flags, run);
    if (pid < 0) return -1;
    while (wait4(pid, NULL, __WALL, NULL) < 0 && errno == EINTR) {}
    return 0;
}

/* Starting a program costs more than many programs use, and a grader runs the same one for test after
 * test. A box that is idle starts the program of the last request again, up to its first instruction:
 *
 *   run A ─▶ reply ─▶ idle ─▶ [exec A, stopped] ─▶ request: A again? ─ yes ─▶ continue it
 *                                                                  └─ no ──▶ kill it, start as usual
 *
 * The stopped program is a process of its own, with the limits of its run, for that run alone. None of
 * its instructions has run, and it shares nothing with the run before.
 */
#define _GNU_SOURCE
#include "prespawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "run_group.h"
#include "setup.h"
#include "watch.h"

enum { IDLE_US = 100, KEY_CAP = 8192, MOST_FAILURES = 3 };

static struct {
    int key_fd, exec_fd; /* of the executable: as passed, as executed; -1: by path */
    struct stat key_file;
    size_t key_length;
    char key[KEY_CAP]; /* the request it is for: header and arguments */
    int repeated;      /* the same request came twice in a row, so it may come a third time */
    int ready, failures;
    pid_t stub;
    cpu_set_t cores;
    int64_t memory;           /* held by its group once it was stopped */
    /* Futexes. stopped: 1, or -1 when it does not stop. requested: 1, then 2 once it is continued. */
    int stopped, requested;
} next = {.key_fd = -1, .exec_fd = -1};

static void futex(int *word, int op, int value, const struct timespec *timeout) {
    syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

/* ---- stopping and continuing it: in its stub, or in the box where there is none ----------------- */

/* Return CLD_STOPPED, the way it ended, or 0 while it runs; leave it to be reaped. */
static int state_of(pid_t pid) {
    siginfo_t info = {0};
    if (waitid(P_PID, pid, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT)) return -1;
    return info.si_pid ? info.si_code : 0;
}

static int wait_until_stopped(pid_t program) { /* 1, or -1 when it ended or does not stop */
    struct timespec moment = {0, 20000};
    int state = 0;
    for (int turn = 0; turn < 20000 && program > 0 && !(state = state_of(program)); turn++)
        if (turn < 50) sched_yield(); /* it has this very core */
        else nanosleep(&moment, NULL);
    return state == CLD_STOPPED ? 1 : -1;
}

static void continue_and_watch(struct run *run) { /* unless it was killed or continued by others */
    if (next.stopped > 0 && state_of(run->out.program) != CLD_STOPPED) next.stopped = -1;
    if (next.stopped < 0) return;
    next.requested = 2;
    start_clock(); /* before: it may end before this process goes on */
    kill(run->out.program, SIGCONT);
    watch(run);
}

static int stub(void *of) {
    struct run *run = of;
    start(run);
    next.stopped = wait_until_stopped(run->out.program);
    futex(&next.stopped, FUTEX_WAKE, 1, NULL);
    while (next.stopped > 0 && !next.requested) futex(&next.requested, FUTEX_WAIT, 0, NULL);
    continue_and_watch(run);
    _exit(0);
}

/* ---- which request it is for ----------------------------------------------------------------- */

static size_t key_of(const struct run *run, char *key) {
    struct request rq = *run->rq;
    size_t n = run->args_end - run->args;
    rq.stdin_len = rq.ncollect = 0; /* these may differ between runs */
    memcpy(key, &rq, sizeof rq);
    memcpy(key + sizeof rq, run->args, n);
    return sizeof rq + n;
}

static int is_possible(const struct run *run) { /* to start a run like this before its request */
    return box.is_init && run->rq->op == OP_RUN && !run->rq->nfiles &&
           !(run->rq->flags & (STDIN_FD | STDOUT_FD)) &&
           (size_t)(run->args_end - run->args) <= KEY_CAP - sizeof *run->rq;
}

static int is_same(const struct run *run, int executable) {
    static char key[KEY_CAP];
    struct stat s;
    size_t n = is_possible(run) ? key_of(run, key) : 0;
    if (!n || n != next.key_length || memcmp(key, next.key, n)) return 0;
    return next.key_fd < 0 || (!fstat(executable, &s) && s.st_ino == next.key_file.st_ino &&
                               s.st_dev == next.key_file.st_dev);
}

/* Whether the kernel has freed memory of the run before since this one began. Then its memory would
 * be counted from too high a figure. */
static int baseline_has_moved(void) {
    enum { BATCH = 256 << 10 };
    if (box.mem_fd < 0) return 0;
    int64_t held = run_group_memory();
    return held < run_group_baseline() || held < next.memory - BATCH;
}

static int fits(const struct run *run, int executable) {
    cpu_set_t cores;
    next.repeated = is_same(run, executable);
    return next.repeated && next.ready && !baseline_has_moved() &&
           !sched_getaffinity(0, sizeof cores, &cores) && CPU_EQUAL(&cores, &next.cores);
}

/* ---- in the box ------------------------------------------------------------------------------ */

static void reap(pid_t pid) {
    while (wait4(pid, NULL, __WALL, NULL) < 0 && errno == EINTR) {}
}

static void discard(struct run *run) {
    pid_t pid = next.stub > 0 ? next.stub : run->out.program;
    if (!next.ready) return;
    next.ready = 0;
    run->start_discarded = 1;
    if (pid > 0) {
        kill(pid, SIGKILL); /* a stub takes its whole namespace with it */
        reap(pid);
    }
    kill_all(); /* if others continued it, it may have started processes */
    close_streams(run);
    run_group_drop(); /* it has counted this start */
}

static void forget_key(void) {
    if (next.exec_fd >= 0 && next.exec_fd != next.key_fd) close(next.exec_fd);
    if (next.key_fd >= 0) close(next.key_fd);
    next.key_fd = next.exec_fd = -1;
    next.key_length = next.repeated = 0;
}

int prespawn_run(struct run *run, int executable) {
    if (fits(run, executable) && write_stdin(run)) {
        if (next.stub <= 0) continue_and_watch(run);
        else {
            next.requested = 1;
            futex(&next.requested, FUTEX_WAKE, 1, NULL);
            reap(next.stub);
            next.stub = 0;
            /* it had ended, or the stub was killed */
            if (next.requested < 2) next.stopped = -1, run->out.program = 0;
        }
        if (next.stopped > 0) return !(next.ready = 0);
    }
    discard(run);
    if (!next.repeated) forget_key();
    return 0;
}

void prespawn_remember(struct run *run, int executable) {
    if (next.key_length || !is_possible(run)) return;
    if (executable >= 0) {
        next.key_fd = fcntl(executable, F_DUPFD_CLOEXEC, 10);
        next.exec_fd = run->exec_fd == executable ? next.key_fd : fcntl(run->exec_fd, F_DUPFD_CLOEXEC, 10);
        if (next.key_fd < 0 || next.exec_fd < 0 || fstat(next.key_fd, &next.key_file)) return forget_key();
    }
    next.key_length = key_of(run, next.key);
}

void prespawn_begin(struct run *run) {
    static struct request rq;
    struct pollfd message = {SOCKET, POLLIN | POLLRDHUP, 0};
    struct timespec idle = {0, IDLE_US * 1000}, timeout = {2, 0};
    if (!next.repeated || !next.key_length || next.failures >= MOST_FAILURES) return;
    if (ppoll(&message, 1, &idle, NULL)) return;
    memcpy(&rq, next.key, sizeof rq); /* its arguments are still in the last message */
    run->rq = &rq;
    run->exec_fd = next.exec_fd;
    run->stop_at_exec = next.ready = 1;
    next.stub = next.stopped = next.requested = 0;
    forget_outcome(run);
    if (run_group_begin(run) || sched_getaffinity(0, sizeof next.cores, &next.cores)) next.stopped = -1;
    else if (!(rq.flags & FRESH)) {
        start(run);
        next.stopped = wait_until_stopped(run->out.program);
    } else if ((next.stub = clone_stub(stub, run)) > 0)
        while (!next.stopped && !state_of(next.stub)) futex(&next.stopped, FUTEX_WAIT, 0, &timeout);
    run->stop_at_exec = 0;
    run->exec_fd = -1;
    if (next.stopped > 0) next.memory = run_group_memory();
    else {
        next.failures++;
        discard(run);
    }
}

void prespawn_forget(struct run *run) {
    discard(run);
    forget_key();
}

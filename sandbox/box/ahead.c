/* The next run's program, started before it is asked for: up to its first instruction.
 *
 *   run A ─▶ reply ─▶ idle for a moment ─▶ [exec A, stopped] ─▶ request: A again? ─yes─▶ let it go
 *                                                                     └─no─▶ kill it, run as ever
 *
 * Starting a program costs more than many programs use, and a grader runs the same one for test
 * after test. What stands ready is a process of its own, made for the one run it gets, with the
 * limits of that run: nothing of it has run, nothing is shared with the run before.
 *
 * How it is stopped without a tracer: its last act before exec is to hold a pipe that exec closes,
 * whose other end then signals its owner, which is the process itself, with SIGSTOP. The kernel
 * delivers that on the way back to user mode, which would be the program's first instruction.
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <linux/futex.h>

enum { IDLE_US = 100, KEY_CAP = 8192, REFUSALS = 3 };

static struct {
    int key_fd, exec_fd; /* the executable as it was passed, and as it is executed; -1: by its path */
    struct stat of;
    size_t length;
    char key[KEY_CAP]; /* the request it is for: header and arguments */
    int again;         /* the same request came twice in a row, so it may come a third time */
    int ready, refused;
    pid_t stub;
    cpu_set_t cores;
    int64_t held; /* by its group, once it stood */
} next = {.key_fd = -1, .exec_fd = -1};

/* ---- in the child, between vfork and exec ------------------------------------------------ */

static int gate[2];
int gate_open(void) { return pipe2(gate, O_CLOEXEC); } /* before the limit on open files */

int gate_arm(void) { /* under its last ids: who may signal whom is decided by those at this moment */
    for (int i = 0; i < 2; i++)
        if (fcntl(gate[i], F_SETOWN, getpid()) || fcntl(gate[i], F_SETSIG, SIGSTOP) || fcntl(gate[i], F_SETFL, O_ASYNC))
            return -1;
    return 0;
}

/* ---- the stub of a fresh namespace ------------------------------------------------------- */

static void futex(int *at, int op, int value, const struct timespec *patience) {
    syscall(SYS_futex, at, op, value, patience, NULL, 0);
}

static int state(pid_t pid) { /* CLD_STOPPED, how it ended, or 0 while it runs; nothing is taken note of */
    siginfo_t of = {0};
    return waitid(P_PID, pid, &of, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) ? -1 : of.si_pid ? of.si_code : 0;
}

static int stands(void) { /* waits for the program to stop; one that got away is ended */
    struct timespec moment = {0, 20000};
    int is = 0;
    for (int turn = 0; turn < 20000 && sh.program > 0 && !(is = state(sh.program)); turn++)
        if (turn < 50) sched_yield(); /* it has this very core */
        else nanosleep(&moment, NULL);
    return is == CLD_STOPPED ? 1 : -1;
}

static void let_go(void) { /* unless somebody has ended it or let it go meanwhile */
    if (sh.stands > 0 && state(sh.program) != CLD_STOPPED) sh.stands = -1;
    if (sh.stands < 0) return;
    sh.go = 2;
    watch_begins(); /* it may be through before this process goes on */
    kill(sh.program, SIGCONT);
    watch();
}

static int stub(void *unused) {
    (void)unused;
    spawn();
    sh.stands = stands();
    futex(&sh.stands, FUTEX_WAKE, 1, NULL);
    while (sh.stands > 0 && !sh.go) futex(&sh.go, FUTEX_WAIT, 0, NULL);
    let_go();
    _exit(0);
}

/* ---- in the box ---------------------------------------------------------------------------- */

static size_t key_of(char *into) {
    struct request r = *now.rq;
    size_t n = now.args_end - now.args;
    r.stdin_len = r.ncollect = 0; /* what may differ from run to run */
    memcpy(into, &r, sizeof r);
    memcpy(into + sizeof r, now.args, n);
    return sizeof r + n;
}

static int may_be(void) { /* can a run like this one be begun before it is asked for? */
    return setup.is_init && now.rq->op == OP_RUN && !now.rq->nfiles && !(now.rq->flags & (STDIN_FD | STDOUT_FD)) &&
           (size_t)(now.args_end - now.args) <= KEY_CAP - sizeof *now.rq;
}

static void forget(void) {
    if (next.exec_fd >= 0 && next.exec_fd != next.key_fd) close(next.exec_fd);
    if (next.key_fd >= 0) close(next.key_fd);
    next.key_fd = next.exec_fd = -1;
    next.length = next.again = 0;
}

void ahead_drop(void) { /* it is not what is wanted now */
    pid_t of = next.stub > 0 ? next.stub : sh.program;
    if (!next.ready) return;
    next.ready = 0;
    now.dropped = 1;
    if (of > 0) {
        kill(of, SIGKILL); /* a stub takes its whole namespace with it */
        while (wait4(of, NULL, __WALL, NULL) < 0 && errno == EINTR) {}
    }
    end_all(); /* where it was let go by somebody, it may have started others */
    close_streams();
    if (setup.leaves_fd >= 0) leaf_drop(); /* it has counted this one's start */
}

static int is_same(size_t n, const char *key, int passed) {
    struct stat s;
    if (!n || n != next.length || memcmp(key, next.key, n)) return 0;
    return next.key_fd < 0 || (!fstat(passed, &s) && s.st_ino == next.of.st_ino && s.st_dev == next.of.st_dev);
}

/* What the kernel still held for the run before has been freed since this one began: counted from too high. */
static int is_lighter(void) {
    enum { BATCH = 256 << 10 };
    int64_t held = setup.mem_fd < 0 ? 0 : number_at(setup.mem_fd, NULL);
    return setup.mem_fd >= 0 && (held < mem_base || held < next.held - BATCH);
}

static int fits(int passed) { /* whether what stands ready is for the run asked for now */
    static char key[KEY_CAP];
    cpu_set_t cores;
    next.again = is_same(may_be() ? key_of(key) : 0, key, passed);
    return next.again && next.ready && !is_lighter() && !sched_getaffinity(0, sizeof cores, &cores) &&
           CPU_EQUAL(&cores, &next.cores);
}

int ahead_runs(int passed) { /* does the run with what stands ready; 0: there is nothing, or nothing that fits */
    if (fits(passed) && give_stdin()) {
        if (next.stub <= 0) let_go();
        else {
            sh.go = 1;
            futex(&sh.go, FUTEX_WAKE, 1, NULL);
            while (wait4(next.stub, NULL, __WALL, NULL) < 0 && errno == EINTR) {}
            next.stub = 0;
            if (sh.go < 2) sh.stands = -1, sh.program = 0; /* also when the stub itself was ended */
        }
        if (sh.stands > 0) return !(next.ready = 0);
    }
    ahead_drop();
    if (!next.again) forget();
    return 0;
}

void ahead_remember(int passed) { /* after a run that went well */
    if (next.length || !may_be()) return;
    if (passed >= 0) {
        next.key_fd = fcntl(passed, F_DUPFD_CLOEXEC, 10);
        next.exec_fd = now.exec_fd == passed ? next.key_fd : fcntl(now.exec_fd, F_DUPFD_CLOEXEC, 10);
        if (next.key_fd < 0 || next.exec_fd < 0 || fstat(next.key_fd, &next.of)) return forget();
    }
    next.length = key_of(next.key);
}

void ahead_begin(void) { /* when nobody asks for anything just now */
    static struct request rq;
    struct pollfd asked = {SOCKET, POLLIN | POLLRDHUP, 0};
    struct timespec moment = {0, IDLE_US * 1000}, patience = {2, 0};
    if (now.gave || !next.again || !next.length || next.refused >= REFUSALS || ppoll(&asked, 1, &moment, NULL)) return;
    memcpy(&rq, next.key, sizeof rq); /* its arguments still lie where the last message was */
    now.rq = &rq;
    now.exec_fd = next.exec_fd;
    now.ahead = next.ready = 1;
    next.stub = 0;
    if (run_begins() || sched_getaffinity(0, sizeof next.cores, &next.cores)) sh.stands = -1;
    else if (!(rq.flags & FRESH)) {
        spawn();
        sh.stands = stands();
    } else if ((next.stub = stub_clone(stub)) > 0)
        while (!sh.stands && !state(next.stub)) futex(&sh.stands, FUTEX_WAIT, 0, &patience);
    now.ahead = 0;
    now.exec_fd = -1;
    if (sh.stands > 0 && setup.mem_fd >= 0) next.held = number_at(setup.mem_fd, NULL);
    if (sh.stands > 0) return;
    next.refused++;
    ahead_drop();
}

void ahead_forget(void) { /* the program's files change */
    ahead_drop();
    forget();
}

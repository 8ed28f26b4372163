/* The wire between the driver (wire.py) and the box, and what the box was set up with. */
#ifndef GRADEBOX_LAUNCHER_H
#define GRADEBOX_LAUNCHER_H
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OP_RUN = 1, OP_LOAD = 2, OP_ABORT = 3 };
enum { FRESH = 1, EXEC_FD = 2, STDIN_FD = 4, STDOUT_FD = 8 };
enum { K_CPU = 1, K_WALL, K_MEMORY, K_OUTPUT, K_ABORT, K_PROCESSES, K_DISK, K_STARVED };
enum { H_MEMORY = 1, H_PROCESSES = 2, H_DISK = 4, H_FILES = 8 };
enum { MESSAGE_CAP = 160 * 1024, INLINE_CAP = 32 * 1024, ERR_CAP = 64 * 1024, MAX_ARGS = 256, MAX_FDS = 64 };
enum { SOCKET = 3, PROC_FD = 4, PROGRAM_FD = 5, WORK_FD = 6 }; /* kept open by the box: its /proc and /program, both writable */

enum { FILTER_CAP = 2048 };
#define MY_PID 0xF1F1F1F1u /* in the child's filter: filled in with its own pid */

enum { GRAIN = 1 << 20 }; /* bytes: what a memory group's counter is not finer than */

struct request {
    uint32_t op, flags;
    int64_t cpu_ns, wall_ns, memory, output, fsize, disk;
    uint32_t err_cap, nproc, nofile;
    int32_t core;
    uint32_t argc, nfiles, ncollect, stdin_len;
} __attribute__((packed));

struct reply {
    int32_t err, wstatus;
    uint32_t killed, hit;
    int64_t cpu_ns, wall_ns, waited_ns, end_ns, memory, peak_raw, out_size, err_total;
    uint32_t out_inline, err_len, collected, worn;
} __attribute__((packed));

extern struct setup {
    int cpu_fd, mem_fd, peak_fd, limit_fd, oom_fd, pids_event_fd, pids_max_fd, leaves_fd, scratch_fd, ruleset_fd;
    int peak_resets, scratch, is_init;
    int64_t cpu_unit, page;
    uint32_t uid, nproc_rlimit, data_rlimit, spawn_flags, child_filter_len;
    const char *cpu_key, *oom_key;
    struct sock_filter *child_filter;
    char **env;
} setup;

extern struct shared { /* written by whoever watches: the stub, or the box itself */
    pid_t program;     /* as the watcher sees it */
    char proc_pid[16]; /* as the box's /proc sees it */
    int exec_errno, at_exec, supervised, wstatus, killed, many_files;
    int stands, go; /* of a program started ahead: it waits (1) or has not come to wait (-1); it may run (1), it does (2) */
    int64_t cpu_ns, wall_ns, end_ns, peak_rss, err_total, waited_ns;
    uint32_t err_len;
    char err[ERR_CAP];
} sh;

extern struct run { /* the run at hand */
    struct request *rq;
    char *argv[MAX_ARGS + 1];
    int in_fd, out_fd, exec_fd, err_pipe[2];
    char *args, *args_end; /* the arguments as they came, one after the other */
    uint32_t count;        /* of runs: an abort names the one it means */
    int gave;              /* descriptors to the driver: their memory counts here until it closes them */
    int dropped;           /* a start was thrown away: let go by somebody, it may have written to the scratch */
    int ahead;             /* it is started before it is asked for */
} now;

extern int64_t mem_base; /* what the group held when the run began */
int64_t number_at(int fd, const char *key);
int leaf_make(void); /* a fresh group for the next run, where the peak of a group cannot be reset */
int64_t leaf_peak(void);
void leaf_drop(void);
pid_t leaf_clone(int (*does)(void *), char *stack_end, int flags);
int64_t cpu_of_group(void);
void spawn(void);
void watch_begins(void); /* its wall clock; spawn() does it as well */
void watch(void);
pid_t stub_clone(int (*does)(void *));
int supervise_fresh(void);
const char *run_begins(void);
void close_streams(void);
void end_all(void); /* processes in the box's namespace */
int box_loop(void);
int gate_open(void);
int gate_arm(void);
int give_stdin(void);
int ahead_runs(int passed); /* the next run's program, started before it is asked for */
void ahead_remember(int passed);
void ahead_begin(void);
void ahead_drop(void);
void ahead_forget(void);
#endif

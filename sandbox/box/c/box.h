/* The parts of the box, in sections by file; launcher.c draws how they use each other. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "protocol.h"

/* ---- setup.c: building the box: namespaces, ids, mounts, the filter. */

enum { FILTER_CAP = 2048, MOST_TEMPLATES = 32, FIRST_PID_OF_RUNS = 1000 };

extern struct box { /* constant once the box is built */
    /* Files of its control group, or -1. */
    int cpu_fd, mem_fd, peak_fd, limit_fd, oom_fd, pids_event_fd, pids_max_fd;
    int run_groups_fd; /* where runs get groups of their own: the folder to make them in, or -1 */
    int ruleset_fd;    /* Landlock's, or -1 */
    int pid_counter_fd; /* of its PID namespace, or -1 */
    int peak_resets;   /* the kernel can reset the group's peak memory */
    int has_scratch;
    int is_init; /* pid 1 of a namespace, whose end ends everything in it */
    int64_t cpu_unit, page;
    uint32_t uid, nproc_rlimit, data_rlimit, spawn_flags, child_filter_len;
    /* Of templates: the library that makes an interpreter one, its command, its prelude; NULL: none. */
    int hook_fd;
    char *template_tool, *template_script, *template_prelude;
    const char *cpu_key, *oom_key;
    struct sock_filter *child_filter;
    char **env;
    /* Templates, which are in its group. As its /proc names them. */
    uint32_t resident;
    char residents[MOST_TEMPLATES][16];
} box;

/* Receive the plan on SOCKET, build the box in a process of its own and call `serve` in it.
 * Wait for its end and return the exit status of the box, for the caller to exit with. */
int build_box(int (*serve)(void));

/* Let the next process of the box have this id: runs must not count those before them in /proc. */
void count_pids_from(int first);

/* ---- one run: what was requested, its streams, and what its watcher found out. */

struct outcome {       /* written by the watcher: the stub, or the box itself */
    pid_t program;     /* as the watcher sees it */
    char proc_pid[16]; /* as the box's /proc names it */
    int exec_errno, at_exec, supervised, lost, wstatus, killed, many_files;
    int64_t cpu_ns, wall_ns, end_ns, peak_rss, file_rss, err_total, waited_ns, stopped_ns;
    uint32_t err_len;
    char err[ERR_CAP];
};

struct origin { /* of a run that is forked */
    int template, socket; /* which one, where its events come from; -1: the program is executed */
    pid_t pid;
    char supervisor[16]; /* as the box's /proc names it */
    int64_t start_ns, anon, file, cpu_base;
};

/* Shared by the box, its stub and the child until its exec, which have the same memory. */
struct run {
    struct request *rq;
    char *argv[MAX_ARGS + 1];
    char *imports, *prologue;
    char *inputs_data;   /* the bytes of the inputs, or NULL: */
    int inputs_fd;       /* where they are */
    struct input input;  /* of this run */
    struct origin from;
    int in_fd, out_fd, exec_fd, err_pipe[2];
    int in_writer;       /* for the file behind in_fd, which is for reading */
    int seal_input;      /* once it is written */
    uint32_t count;      /* of run requests: an abort names the run it is for */
    struct outcome out;
};

/* Return the longest wall time of a run, which the grader's own time limit exceeds. */
static inline int64_t longest_ns(const struct run *run) { return 15 * run->rq->wall_ns + 30000000000LL; }

static inline void forget_outcome(struct run *run) { memset(&run->out, 0, offsetof(struct outcome, err)); }

/* ---- usage.c: reading numbers and folders of the kernel's file systems, and its clocks. */

int64_t clock_ns(clockid_t clock); /* -1 when the clock is gone */

/* Return the number after `key` in an open file, the first number without a key; -1 on failure. */
int64_t kernel_number(int fd, const char *key);

/* Read the file `folder`/`file` into `text`, which is empty on failure. Return it. */
char *kernel_text(int dir, const char *folder, const char *file, char *text, size_t size);

/* Return the number in one space-separated field of the file `folder`/`file`; -1 on failure. */
int64_t kernel_field(int dir, const char *folder, const char *file, int field);

/* Call `visit` for each entry of a folder, `.` and `..` included, until it returns non-zero. */
void each_entry(int at, const char *path, int (*visit)(int dir, const char *name));

/* ---- messages.c: the socket to the grader: requests come one by one, replies are gathered and sent
 * together. */

extern char message[MESSAGE_CAP];    /* the last one received */
extern int passed[MAX_FDS], npassed; /* the descriptors that came with it */

/* Wait for a message. Return its length, 0 or less when the grader is gone. */
ssize_t receive(void);
void close_passed(void);
void close_one_passed(int fd);

/* Send a message of several parts, with descriptors; `flags`: of send. Return 0, or -1 with errno. */
int send_with(int socket, struct iovec *parts, int n, const int *fds, int nfds, int flags);

/* Report on a run that goes on; `flags`: of send. Return 0, or -1 when it was not sent. */
int notify(const struct notice *notice, int flags);

/* Return the next reply, all zero. Behind it is room for INLINE_CAP and ERR_CAP bytes of its streams. */
struct reply *reply_begin(void);

void reply_end(const struct reply *reply); /* it and its streams are complete */

/* Send what has been gathered, with descriptors for the last reply. */
void replies_send(const int *fds, int nfds);

/* Send it if it has been kept long enough. Does not wait: without room for it, it is kept. */
void replies_send_due(int64_t now_ns);

/* Report a fault of the machine, not of the program, after the replies before it. Return 0. */
int send_fault(int err, const char *stage, const char *what);

/* ---- files.c: the files of a run: its program's files, its input files, its streams, its scratch
 * folder. */

/* Copy a descriptor's bytes into a new file. Return 0, or -1 with errno. */
int copy_to_file(int dir, const char *name, int from, int mode);

/* Open a plain file by its own name, or return -1. */
int open_plain(int dir, const char *name);

/* Return a file with all plain files of the working folder, each after "<length of its name> <size>\n" and
 * its name; it is longer than `most` bytes where they are or where they are too many. -1: it cannot be made. */
int archive_folder(int64_t most);

/* Replace the files in /program, which programs see read-only. Return NULL, or the name of the file
 * that could not be written, with errno. */
const char *load_program_files(uint32_t count, char *const *names, const int *fds);

/* Return a descriptor of a read-only copy of an executable, or -1 with errno. With a single id the
 * program owns the shared executable and could leave a mode or a time on it for the next run. The
 * copy is made when the executable changes. */
int private_executable(int fd);

/* Make the files behind the streams of the next run; a failure leaves -1. */
void open_streams(struct run *run);
void close_streams(struct run *run);

/* Write the input of the run, unless it is a descriptor of its own. Return 1, or 0 with errno. */
int write_stdin(struct run *run);

/* Make sure that the scratch folder exists with that size. Return 0, or -1 with errno. */
int scratch_prepare(int64_t bytes);

int scratch_is_clean(void); /* nothing has changed it */

/* After a run: replace the scratch folder if the run changed it. Return 0, or -1 with errno. */
int scratch_clean(void);

int64_t scratch_bytes_held(void);
int scratch_is_full(void);

/* Whether a run in a folder of the host has left nothing in it. Otherwise the grader empties it, which knows
 * its path. */
int folder_is_clean(void);

/* ---- run_group.c: the control group that counts and limits a run. Where there is none, nothing here
 * has an effect. */

/* Start counting memory and set the limits of the run. Return NULL, or what failed, with errno. */
const char *run_group_begin(const struct run *run);

/* Fill in the memory of a run and the limits it hit. `printed`: bytes of its output held in memory. */
void run_group_report(const struct run *run, int64_t printed, struct reply *reply);

int64_t run_group_memory(void); /* bytes held now, -1 without a group */

/* Until the next run begins, let the group have so many bytes more than it holds. */
void run_group_lift(int64_t bytes);

/* From now on the group holds so many bytes more, or fewer, between its runs. */
void run_group_keeps(int64_t bytes);

/* CPU time of the group, in ns: start the count, read it. */
void run_group_cpu_begin(void);
int64_t run_group_cpu_ns(void);

/* Make the group of the next run, and remove that of the last one, where runs have their own. */
int run_group_make(void);
void run_group_drop(void);

int run_group_fd(void); /* of the group of the run, or -1 */

/* ---- usage.c: what a run uses, read from /proc and from its working folder while it runs. */

void usage_begin(int64_t started_ns);

/* Take a sample of the run, if one is due (at random times): note in its outcome how long it has
 * waited for a core, and whether all its descriptors were in use. Return whether one was taken. */
int usage_sample(struct run *run, int64_t now_ns, int64_t cpu_ns);
int64_t usage_sample_interval_ns(void); /* from the last sample to the next */

/* For runs of one process, without a control group. */
int64_t usage_memory(const struct run *run);
int usage_too_many_threads(const struct run *run);

/* For runs in a folder of the host, without a file system of their own. */
int usage_folder_too_large(const struct run *run);

/* ---- usage.c: how long a run was ready and had no core: this is taken off its wall clock. */

void waiting_begin(int64_t now_ns); /* at the start of a run */

/* Return the nanoseconds that the run has waited since the last call. `cpu_ns`: of the whole run. */
int64_t waiting_since_last(const struct run *run, int64_t now_ns, int64_t cpu_ns);

struct tasks { int count, ready; };

/* Return how many tasks the run has, and how many of them have a core or wait for one; the first 64. */
struct tasks waiting_tasks(const struct run *run);

/* ---- child.c: the program's process before it becomes the program. */

/* Give this process the streams, limits, user id and system call filter of a run, and drop all privileges
 * of the box. Return 0, or -1 with errno. */
int become_run(const struct run *run);
/* End every other process of this namespace and wait for their ends. */
void end_others(void);

/* Call become_run, then execute the program of a run (struct run *). On failure store exec_errno in the
 * run's outcome and exit. */
int start_program(void *run);

/* ---- child.c: clone(2), into a control group if there is one. */

enum { STACK = 65536 };

/* The child runs on its own stack, which ends at `stack_end`, and exits with what the function returns.
 * `group`: a descriptor of the control group it starts in, or -1. */
pid_t clone_into(int group, int (*function)(void *), char *stack_end, int flags, void *argument);

/* ---- watch.c: starting the program of a run and watching it until nothing of it is left. */

void start(struct run *run); /* the program; it is on its way when this returns */
void start_counting(struct run *run); /* CPU and wall time of a run that begins now */
void watch(struct run *run); /* until it has ended; then kill what is left of it */

/* Whether the grader is gone or has aborted the request of this run. Does not wait. */
int is_aborted(struct run *run);

/* After a run whose core is lent, wait for one. Return 0, or -1 when the grader is gone or has aborted. */
int wait_for_core(struct run *run);

/* Start and watch in a stub: pid 1 of a new PID namespace, which ends with it. It shares all memory
 * with the box. Return 0, or -1 with errno. */
int start_and_watch_in_stub(struct run *run);

/* ---- templates.c: the templates of a box: interpreters from which runs are forked
 * (template/template.c). */

/* Start the base template, if the plan of the box has one. */
void templates_begin(void);

/* Wait until the base template has started: before that, nothing of a program may be in its folder. */
void templates_wait(void);

/* Choose the template of a run: one that has imported its modules, which is made if there is none; the base
 * template where that fails. Return 0 when there is no template at all: then the program is executed. */
int templates_find(struct run *run);

/* Fork the run from that template. `code`: a descriptor of the compiled program, or -1. Return 0, or -1 with
 * errno: ETIME when the run may have begun. The run is watched by `watch`. */
int templates_start(struct run *run, int code);

int templates_lost(void); /* the base template has ended: only a new box has templates again */

/* One run: what was requested, its streams, and what its watcher found out. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "protocol.h"

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

/* The messages between the grader and the box. wire.py is their other half.
 *
 *   grader ── plan, descriptors ─────▶ box    once; the box reports its pid, then that it is ready
 *   grader ── request, descriptors ──▶ box    for the runs of a program, and to load program files
 *   grader ── abort ─────────────────▶ box    while they go on
 *   grader ◀─ replies, descriptors ─── box    one for each run, several in a message
 *
 * With LEND, of a run that sleeps (watch.c):
 *
 *   grader ◀─ OP_IDLE, OP_AWAKE ────── box
 *   grader ── OP_GO ─────────────────▶ box    after OP_AWAKE: it may continue
 *
 * Of a compiler, while its core belongs to another grader:
 *
 *   grader ── OP_PAUSE, OP_GO ───────▶ box
 *
 * With STDOUT_FD, of a run that talks with another one. The grader alone ends it for its wall time, because
 * the time in which the other one is busy does not count, and for its output:
 *
 *   grader ◀─ OP_BUSY ──────────────── box    now and then, with its figures
 *   grader ── OP_EXPIRE, OP_FLOODS ──▶ box
 *
 * All of these and OP_ABORT are followed by the number of the request.
 */
#pragma once
#include <stdint.h>

enum {
    OP_RUN = 1, OP_LOAD = 2, OP_ABORT = 3, OP_IDLE = 4, OP_AWAKE = 5, OP_GO = 6, OP_BUSY = 7, OP_EXPIRE = 8,
    OP_FLOODS = 9, OP_PAUSE = 10
};
/* Flags of a request. */
enum {
    FRESH = 1, EXEC_FD = 2, STDIN_FD = 4, STDOUT_FD = 8, FORK = 16, CODE_FD = 32, INPUTS_FD = 64, LEND = 128
};
enum {
    KILLED_CPU = 1, KILLED_WALL, KILLED_MEMORY, KILLED_OUTPUT, KILLED_ABORT, KILLED_PROCESSES,
    KILLED_DISK, KILLED_STARVED
};
/* State of a request after a reply. OVER: the grader asks again for what has not run, if anything. FAILED: the
 * same, after a run that did not end well. */
enum { MORE = 0, OVER = 1, FAILED = 2 };
enum { HIT_MEMORY = 1, HIT_PROCESSES = 2, HIT_DISK = 4, HIT_FILES = 8 };
enum {
    MESSAGE_CAP = 160 * 1024, REPLIES_CAP = 128 * 1024, INLINE_CAP = 32 * 1024, ERR_CAP = 64 * 1024,
    MAX_ARGS = 256, MAX_FDS = 64, MAX_COLLECT = 32
};
enum { SOCKET = 3, PROC_FD = 4, PROGRAM_FD = 5, WORK_FD = 6 }; /* fixed numbers in the box */

/* Followed by NUL-terminated strings (paths to stage, environment, four per step, with `templates` the
 * interpreter, script and prelude), then by the seccomp programs of the box and of the program. Group files are indices into the descriptors
 * that came with the message, or -1. */
struct plan {
    uint32_t clone_flags, set_ids, uid, nproc_rlimit, scratch, peak_resets, spawn_flags, data_rlimit;
    uint32_t staged, env, steps, filter_len, child_filter_len, templates;
    int32_t cpu, mem, peak, limit, oom, pids_event, pids_max, run_groups, hook;
    int64_t cpu_unit;
    char cpu_key[16], oom_key[16], uid_map[64], gid_map[64];
} __attribute__((packed));

/* Followed by argc arguments, nfiles file names, ncollect file names, with FORK the modules to import and
 * the prologue, all NUL-terminated, the inputs (struct input), and their bytes. Descriptors: the executable
 * (EXEC_FD) or the compiled program (CODE_FD), standard input (STDIN_FD) or the bytes of all inputs (INPUTS_FD),
 * standard output (STDOUT_FD), then one per file. With one of the streams, or with files, there is one input.
 * `output` is that of the current run: the box sets it. */
struct request {
    uint32_t op, flags;
    int64_t cpu_ns, wall_ns, memory, output, fsize, disk;
    uint32_t err_cap, nproc, nofile;
    uint32_t argc, nfiles, ncollect, ninputs;
} __attribute__((packed));

struct input { /* of one run: the limit of its output, where its bytes are */
    int64_t output;
    uint32_t at, length;
} __attribute__((packed));

/* From the box, of a run that goes on. `busy`: how long it has used a core or waited for one, until `now`. */
struct notice {
    uint32_t op, number;
    int64_t now_ns, busy_ns;
} __attribute__((packed));

/* Followed by out_inline bytes of standard output and err_len bytes of standard error. With err
 * set, the machine failed and the standard error is the explanation. `rss`, `file`: most memory of the
 * program's process; bytes of files in its memory, when last seen, or -1. Of a forked run: the CPU time of its
 * template's imports, and the memory that the template held. */
struct reply {
    int32_t err, wstatus;
    uint32_t killed, hit;
    int64_t cpu_ns, wall_ns, end_ns, memory, out_size, err_total;
    uint32_t out_inline, err_len, collected, needs_recycling;
    int64_t rss, file, start_ns, template_anon, template_file;
    uint32_t forked, state;
} __attribute__((packed));

/* The messages between the box and a template: an interpreter that waits where it would open its script
 * (template/template.c), and from which cases are forked.
 *
 *   box ── setup ─────────────▶ base template    once, before it is executed
 *   box ── call, descriptors ─▶ template         HOLD: fork another template, which imports modules
 *   box ◀─ event ────────────── template         CASE: fork a case
 */
#pragma once
#include <sched.h>
#include <stdint.h>

#include "box.h"

enum { HOLD = 1, CASE = 2 };            /* calls */
enum { READY = 1, STARTED, ENDED, HELD }; /* events */
enum { PRELUDE_CAP = 32 * 1024, SCRIPT_CAP = 256, NAMES_FD = 5, HOOK_FD = 9, CASE_STREAMS = 3 };

/* Followed by the filter of programs (struct sock_filter), the script's path and the prelude, which is
 * Python code that a template runs; both are NUL-terminated. */
struct template_setup {
    struct box box;
    uint32_t filter_len, script_len, prelude_len;
};

/* CASE: followed by the prologue, Python code that the case runs before the program, NUL-terminated or
 * empty. Descriptors: standard input, output and error, with `coded` the compiled program, with `grouped`
 * the folder of the run's control group. HOLD: descriptors: the new template's socket, a socket with
 * the modules to import, to which the template writes how long that took. */
struct template_call {
    uint32_t op, coded, grouped, prologue_len, resident;
    cpu_set_t cores;
    struct request rq;
};

/* Of one process. HELD: the base template has forked another one. READY: a template, with its memory. STARTED: a case,
 * before it reads anything of the program. ENDED: the case and all that it started. */
struct template_event {
    uint32_t kind;
    int32_t err, wstatus, lost; /* lost: its supervisor was killed */
    int64_t end_ns, cpu_ns, supervisor_ns, peak_rss, anon, file;
    char pid[16], supervisor[16]; /* as the box's /proc names them */
};

/* Building the box: namespaces, ids, mounts, the filter. */
#pragma once
#include <stdint.h>

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

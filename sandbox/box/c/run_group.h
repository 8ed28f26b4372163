/* The control group that counts and limits a run. Where there is none, nothing here has an effect. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "run.h"

/* Start counting memory and set the limits of the run. Return NULL, or what failed, with errno. */
const char *run_group_begin(const struct run *run);

/* Fill in the memory of a run and the limits it hit. `printed`: bytes of its output held in memory. */
void run_group_report(const struct run *run, int64_t printed, struct reply *reply);

/* CPU time of the group, in ns: start the count, read it. */
void run_group_cpu_begin(void);
int64_t run_group_cpu_ns(void);

/* Make the group of the next run, and remove that of the last one, where runs have their own. */
int run_group_make(void);
void run_group_drop(void);

/* As clone(2), with `stack_end` the end of a stack of 64 KiB; into the run's own group, if it has
 * one and `own` is set. */
pid_t run_group_clone(int (*function)(void *), char *stack_end, int flags, void *argument, int own);

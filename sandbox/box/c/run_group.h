/* The control group that counts and limits a run. Where there is none, nothing here has an effect. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "run.h"

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

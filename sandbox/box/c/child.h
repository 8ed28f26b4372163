/* The program's process before it becomes the program. */
#pragma once
#include "run.h"

/* Take the streams, limits and ids of a run, and its filter: nothing of what the box may do is left to this
 * process. Return 0, or -1 with errno. */
int become_run(const struct run *run);

/* Do that and execute the program of a run (struct run *). On failure store exec_errno in the run's outcome
 * and exit. */
int start_program(void *run);

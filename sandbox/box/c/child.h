/* The program's process before it becomes the program. */
#pragma once
#include "run.h"

/* Give this process the streams, limits, user id and system call filter of a run, and drop all privileges
 * of the box. Return 0, or -1 with errno. */
int become_run(const struct run *run);

/* Call become_run, then execute the program of a run (struct run *). On failure store exec_errno in the
 * run's outcome and exit. */
int start_program(void *run);

/* Starting the program of a run and watching it until nothing of it is left. */
#pragma once
#include <sys/types.h>

#include "run.h"

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

/* The early start: the program of the next run is started before the request comes. */
#pragma once
#include "run.h"

/* Do the run with the program that was started early. Return 0 when there is none or when it was
 * started for another request; then it is gone. `executable`: as passed with the request, or -1. */
int prespawn_run(struct run *run, int executable);

/* After a run without fault: an equal request may follow. */
void prespawn_remember(struct run *run, int executable);

/* Start the remembered program, unless a message arrives first. */
void prespawn_begin(struct run *run);

/* Discard the program that was started early and what is remembered. */
void prespawn_forget(struct run *run);

/* The templates of a box: interpreters from which runs are forked (template/python.c). */
#pragma once
#include "run.h"

/* Start the base template, if the plan of the box has one. */
void templates_begin(void);

/* Wait until the base template has started: before that, nothing of a program may be in its folder. */
void templates_wait(void);

/* Choose the template of a run: one that has imported its modules, which is made if there is none; the base
 * template where that fails. Return 0 when there is no template at all: then the program is executed. */
int templates_find(struct run *run);

/* Fork the run from that template. `code`: a descriptor of the compiled program, or -1. Return 0, or -1 with
 * errno: ETIME when the run may have begun. The run is watched by `watch`. */
int templates_start(struct run *run, int code);

int templates_lost(void); /* the base template has ended: only a new box has templates again */

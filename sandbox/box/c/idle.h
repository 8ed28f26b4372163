/* The core of a run that sleeps is lent: the grader may use it for another run meanwhile. */
#pragma once
#include <stdint.h>

#include "run.h"

void idle_begin(const struct run *run, int64_t now_ns);

/* To be called at every look at the run: tell the grader that it sleeps, or that it has woken up. */
void idle_look(struct run *run, int64_t now_ns, int64_t cpu_ns);
int64_t idle_next_look_ns(void); /* at the latest */

/* Continue a run that has woken up: the grader has a core for it. */
void idle_go_on(struct run *run, int64_t now_ns);

/* Stop a compiler until then, and what it has started. */
void idle_pause(const struct run *run, int64_t now_ns);

/* After a run whose core is lent: ask for a core, once. Return whether one has to be waited for. */
int idle_asks(const struct run *run);

/* How long a run was ready and had no core: this is taken off its wall clock. */
#pragma once
#include <stdint.h>

#include "run.h"

void waiting_begin(int64_t now_ns); /* at the start of a run */

/* Return the nanoseconds that the run has waited since the last call. `cpu_ns`: of the whole run. */
int64_t waiting_since_last(const struct run *run, int64_t now_ns, int64_t cpu_ns);

struct tasks { int count, ready; };

/* Return how many tasks the run has, and how many of them have a core or wait for one; the first 64. */
struct tasks waiting_tasks(const struct run *run);

/* What a run uses, read from /proc and from its working folder while it runs. */
#pragma once
#include <stdint.h>

#include "run.h"

void usage_begin(int64_t started_ns);

/* Take a sample of the run, if one is due (at random times): note in its outcome how long it has
 * waited for a core, and whether all its descriptors were in use. Return whether one was taken. */
int usage_sample(struct run *run, int64_t now_ns, int64_t cpu_ns);
int64_t usage_sample_interval_ns(void); /* from the last sample to the next */

/* For runs of one process, without a control group. */
int64_t usage_memory(const struct run *run);
int usage_too_many_threads(const struct run *run);

/* For runs in a folder of the host, without a file system of their own. */
int usage_folder_too_large(const struct run *run);

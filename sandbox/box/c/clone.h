/* clone(2), into a control group if there is one. */
#pragma once
#include <sys/types.h>

enum { STACK = 65536 };

/* The child runs on its own stack, which ends at `stack_end`, and exits with what the function returns.
 * `group`: a descriptor of the control group it starts in, or -1. */
pid_t clone_into(int group, int (*function)(void *), char *stack_end, int flags, void *argument);

/* Reading numbers and folders of the kernel's file systems, and its clocks. */
#pragma once
#include <stdint.h>
#include <time.h>

int64_t clock_ns(clockid_t clock); /* -1 when the clock is gone */

/* Return the number after `key` in an open file, the first number without a key; -1 on failure. */
int64_t kernel_number(int fd, const char *key);

/* Return the number in one space-separated field of the file `folder`/`file`; -1 on failure. */
int64_t kernel_field(int dir, const char *folder, const char *file, int field);

/* Call `visit` for each entry of a folder, `.` and `..` included, until it returns non-zero. */
void each_entry(int at, const char *path, int (*visit)(int dir, const char *name));

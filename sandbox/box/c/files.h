/* The files of a run: its program's files, its input files, its streams, its scratch folder. */
#pragma once
#include <stdint.h>

#include "run.h"

/* Copy a descriptor's bytes into a new file. Return 0, or -1 with errno. */
int copy_to_file(int dir, const char *name, int from, int mode);

/* Replace the files in /program, which programs see read-only. Return NULL, or the name of the file
 * that could not be written, with errno. */
const char *load_program_files(uint32_t count, char *const *names, const int *fds);

/* Return a descriptor of a read-only copy of an executable, or -1 with errno. With a single id the
 * program owns the shared executable and could leave a mode or a time on it for the next run. The
 * copy is made when the executable changes. */
int private_executable(int fd);

/* Make the files behind the streams of the next run; a failure leaves -1. */
void open_streams(struct run *run);
void close_streams(struct run *run);

/* Write the input of the run, unless it is a descriptor of its own. Return 1, or 0 with errno. */
int write_stdin(struct run *run);

/* Make sure that the scratch folder exists with that size. Return 0, or -1 with errno. */
int scratch_prepare(int64_t bytes);

int scratch_is_clean(void); /* nothing has changed it */

/* After a run: replace the scratch folder if the run changed it. Return 0, or -1 with errno. */
int scratch_clean(void);

int64_t scratch_bytes_held(void);
int scratch_is_full(void);

/* Whether a run in a folder of the host has left nothing in it. Otherwise the grader empties it, which knows
 * its path. */
int folder_is_clean(void);

/* The program's process between clone and exec. */
#pragma once

/* Limit and confine this process and execute the program of a run (struct run *). On failure store
 * exec_errno in the run's outcome and exit. */
int start_program(void *run);

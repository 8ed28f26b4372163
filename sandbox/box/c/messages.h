/* The socket to the grader: requests come one by one, replies are gathered and sent together. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "protocol.h"

extern char message[MESSAGE_CAP];    /* the last one received */
extern int passed[MAX_FDS], npassed; /* the descriptors that came with it */

/* Wait for a message. Return its length, 0 or less when the grader is gone. */
ssize_t receive(void);
void close_passed(void);
void close_one_passed(int fd);

/* Report on a run that goes on; `flags`: of send. Return 0, or -1 when it was not sent. */
int notify(const struct notice *notice, int flags);

/* Return the next reply, all zero. Behind it is room for INLINE_CAP and ERR_CAP bytes of its streams. */
struct reply *reply_begin(void);

void reply_end(const struct reply *reply); /* it and its streams are complete */

/* Send what has been gathered, with descriptors for the last reply. */
void replies_send(const int *fds, int nfds);

/* Send it if it has been kept long enough. Does not wait: without room for it, it is kept. */
void replies_send_due(int64_t now_ns);

/* Report a fault of the machine, not of the program, after the replies before it. Return 0. */
int send_fault(int err, const char *stage, const char *what);

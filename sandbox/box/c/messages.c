/* A grader that waits is woken by each message, finds its caches cold, and takes twice as long for a reply.
 * So replies of short runs are gathered and sent together after LATE_NS: less than the time for which a run may
 * hold its core while others wait.
 */
#define _GNU_SOURCE
#include "box.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LATE_NS = 50000000 };

char message[MESSAGE_CAP];
int passed[MAX_FDS], npassed;
static char replies[REPLIES_CAP];
static size_t gathered; /* bytes of `replies` in use */
static int count;
static int64_t sent_ns; /* when replies were last sent, or a message came later */

ssize_t receive(void) {
    union { struct cmsghdr h; char b[CMSG_SPACE(sizeof passed)]; } c;
    struct iovec v = {message, sizeof message};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c};
    ssize_t n;
    do n = recvmsg(SOCKET, &m, MSG_CMSG_CLOEXEC); while (n < 0 && errno == EINTR);
    npassed = 0;
    struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (h && h->cmsg_type == SCM_RIGHTS) {
        npassed = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(passed, CMSG_DATA(h), npassed * sizeof(int));
    }
    sent_ns = clock_ns(CLOCK_MONOTONIC);
    return n;
}

void close_passed(void) {
    for (int i = 0; i < npassed; i++) close(passed[i]);
    npassed = 0;
}

void close_one_passed(int fd) {
    for (int i = 0; i < npassed; i++)
        if (passed[i] == fd) close(fd), passed[i] = -1;
}

int notify(const struct notice *notice, int flags) {
    ssize_t n;
    do n = send(SOCKET, notice, sizeof *notice, MSG_NOSIGNAL | flags); while (n < 0 && errno == EINTR);
    return n < 0 ? -1 : 0;
}

struct reply *reply_begin(void) {
    if (gathered + sizeof(struct reply) + INLINE_CAP + ERR_CAP > sizeof replies) replies_send(NULL, 0);
    return memset(replies + gathered, 0, sizeof(struct reply));
}

void reply_end(const struct reply *reply) {
    gathered += sizeof *reply + reply->out_inline + reply->err_len;
    count++;
}

static int is_due(int64_t now_ns) {
    return count && now_ns - sent_ns >= LATE_NS;
}

int send_with(int socket, struct iovec *parts, int n, const int *fds, int nfds, int flags) {
    union { struct cmsghdr h; char b[CMSG_SPACE(sizeof passed)]; } c;
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = n};
    if (nfds) {
        m.msg_control = &c;
        m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
        c.h = (struct cmsghdr){CMSG_LEN(nfds * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&c.h), fds, nfds * sizeof(int));
    }
    ssize_t sent;
    do sent = sendmsg(socket, &m, MSG_NOSIGNAL | flags); while (sent < 0 && errno == EINTR);
    return sent < 0 ? -1 : 0;
}

static void send_all(const int *fds, int nfds, int flags) {
    struct iovec v = {replies, gathered};
    if (send_with(SOCKET, &v, 1, fds, nfds, flags) && errno == EAGAIN) return;
    gathered = count = 0;
    sent_ns = clock_ns(CLOCK_MONOTONIC);
}

void replies_send(const int *fds, int nfds) {
    if (count) send_all(fds, nfds, 0);
}

void replies_send_due(int64_t now_ns) {
    if (is_due(now_ns)) send_all(NULL, 0, MSG_DONTWAIT);
}

int send_fault(int err, const char *stage, const char *what) {
    enum { TEXT = 512 };
    struct reply *r = reply_begin();
    r->err = err ? err : EIO;
    r->state = FAILED;
    r->err_len = snprintf((char *)(r + 1), TEXT, "%s %s", stage, what);
    if (r->err_len >= TEXT) r->err_len = TEXT - 1;
    reply_end(r);
    replies_send(NULL, 0);
    return 0;
}

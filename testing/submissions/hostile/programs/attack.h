// What the attacks share: each says "held" when the sandbox stood, "BREACH" and what else.
#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <initializer_list>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int breaches;

__attribute__((format(printf, 1, 2))) static inline void breach(const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    breaches++;
    // Straight to the descriptor: buffered text would be printed again by every fork.
    if (write(1, "BREACH ", 7) != 7 || write(1, text, n) != n || write(1, "\n", 1) != 1) _exit(3);
}

static inline void held() {
    if (!breaches && write(1, "held\n", 5) != 5) _exit(3);
}

// A call that has to be refused by the filter or for want of rights, before it looks at anything.
static inline void refused(const char *what, long result) {
    if (result != -1 || (errno != ENOSYS && errno != EPERM && errno != EACCES))
        breach("%s gave %ld, errno %d", what, result, errno);
}

static inline void must_fail(const char *what, long result) {
    if (result != -1) breach("%s gave %ld", what, result);
}

static inline double seconds() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

struct attack {
    const char *name;
    void (*run)(const char *argument, const char *other);
};

template <size_t n> static int dispatch(const attack (&attacks)[n], int argc, char **argv) {
    for (const attack &one : attacks)
        if (argc > 1 && !strcmp(one.name, argv[1])) {
            one.run(argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "");
            held();
            return 0;
        }
    printf("no such attack\n");
    return 2;
}

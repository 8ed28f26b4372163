#define _GNU_SOURCE
#include "kernel_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    return clock_gettime(clock, &t) ? -1 : t.tv_sec * 1000000000LL + t.tv_nsec;
}

int64_t kernel_number(int fd, const char *key) {
    char text[2048]; /* more than /proc/<pid>/status has before its last figures of memory */
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (n <= 0) return -1;
    text[n] = 0;
    char *p = key ? strstr(text, key) : text;
    return p ? strtoll(p + (key ? strlen(key) : 0), NULL, 10) : -1;
}

int64_t kernel_field(int dir, const char *folder, const char *file, int field) {
    char path[64], text[128];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    int fd = *folder ? openat(dir, path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return -1;
    text[n] = 0;
    char *p = text;
    while (field-- > 0 && (p = strchr(p, ' '))) p++;
    return p ? strtoll(p, NULL, 10) : -1;
}

void each_entry(int at, const char *path, int (*visit)(int dir, const char *name)) {
    enum { LENGTH_AT = 16, NAME_AT = 19 }; /* struct linux_dirent64: d_reclen, d_name */
    char entries[4096] __attribute__((aligned(8)));
    int stop = 0, dir = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long n; dir >= 0 && !stop &&
                 (n = syscall(SYS_getdents64, dir, entries, sizeof entries)) > 0;)
        for (long i = 0; i < n && !stop;) {
            unsigned short length;
            memcpy(&length, entries + i + LENGTH_AT, sizeof length);
            stop = visit(dir, entries + i + NAME_AT);
            i += length;
        }
    if (dir >= 0) close(dir);
}

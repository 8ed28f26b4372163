// Uses a known amount of CPU time or memory, in known ways: uses WAY AMOUNT (ms or MB).
// Without arguments it reads the two words from its input.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double cpu_s(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
static void burn(double ms) { // by its own clock: exact whatever the load
    double end = cpu_s(CLOCK_THREAD_CPUTIME_ID) + ms / 1e3;
    while (cpu_s(CLOCK_THREAD_CPUTIME_ID) < end) {}
}
static double amount;
static void *burner(void *) { burn(amount); return NULL; }
static char *take(double mb, int flags, int fd) {
    size_t n = (size_t)(mb * (1 << 20));
    char *p = (char *)mmap(NULL, n, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (p == MAP_FAILED) exit(9);
    for (size_t i = 0; i < n; i += 4096) p[i] = 1;
    return p;
}
static int print_own(void) { return printf("%.9f\n", cpu_s(CLOCK_PROCESS_CPUTIME_ID)) < 0; }
enum { NO_FORK = 9 };
static void children(int n, bool waits, bool memory) {
    signal(SIGCHLD, waits ? SIG_DFL : SIG_IGN);
    int said[2];
    if (pipe(said)) exit(8);
    for (int i = 0; i < n; i++) {
        pid_t child = fork();
        if (child < 0) exit(NO_FORK);
        if (child == 0) {
            signal(SIGTERM, SIG_DFL);
            if (memory) take(amount, MAP_PRIVATE | MAP_ANONYMOUS, -1);
            else burn(amount);
            if (write(said[1], "x", 1) != 1) _exit(1);
            if (memory) for (;;) pause(); // all of it held at once
            _exit(0);
        }
    }
    char byte;
    for (int i = 0; i < n; i++) if (read(said[0], &byte, 1) != 1) exit(7);
    if (memory) kill(0, SIGTERM);
    while (waits && wait(NULL) > 0) {}
}

int main(int argc, char **argv) {
    char words[2][32];
    if (argc < 3 && scanf("%31s %31s", words[0], words[1]) != 2) return 2;
    const char *way = argc < 3 ? words[0] : argv[1];
    amount = atof(argc < 3 ? words[1] : argv[2]);
    signal(SIGPIPE, SIG_DFL);
    if (!strcmp(way, "cpu")) burn(amount);
    else if (!strcmp(way, "cpu_threads")) {
        pthread_t t[3];
        for (auto &one : t) pthread_create(&one, NULL, burner, NULL);
        for (auto &one : t) pthread_join(one, NULL);
    } else if (!strcmp(way, "cpu_children")) children(3, true, false);
    else if (!strcmp(way, "cpu_unwaited")) children(3, false, false);
    else if (!strcmp(way, "sleep")) return usleep((useconds_t)(amount * 1e3)) || print_own();
    else if (!strcmp(way, "stderr")) {
        for (double left = amount * (1 << 20); left > 0; left -= 64)
            if (write(2, "what a program says to itself while it runs, line after line ..\n", 64) != 64) return 5;
        return print_own();
    } else if (!strcmp(way, "memory")) take(amount, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    else if (!strcmp(way, "memory_freed")) munmap(take(amount, MAP_PRIVATE | MAP_ANONYMOUS, -1), (size_t)(amount * (1 << 20)));
    else if (!strcmp(way, "memory_children")) { setpgid(0, 0); signal(SIGTERM, SIG_IGN); children(3, false, true); }
    else if (!strcmp(way, "memory_file")) {
        int fd = open("mapped", O_RDWR | O_CREAT, 0600);
        if (ftruncate(fd, (off_t)(amount * (1 << 20)))) return 6;
        take(amount, MAP_SHARED, fd);
    } else return 2;
    return 0;
}

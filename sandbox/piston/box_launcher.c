/* box_launcher.py in C (which is C++ as well), for two cases.

   1. The server can't carry a compiled program. The package compiles this file, and its run
      stage starts it; it runs gbx/build.sh, then the program.
   2. The language's runtime can start a launcher but not run one in Python. Then this file is
      compiled once and the binary travels.

   It prints the frames of box_launcher.py. `why` may also be "compile": the compiler refused
   the program, and E holds its messages. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 48 * 1024, MAX_FIELDS = 4096, RESERVE = 400, TICK_MS = 10 };

typedef struct {
    const char *nonce;
    long long stdout_max, stderr_max, budget, wall_ms, processes, open_files, file_max;
    long long only_base64, fixed_addresses, argc, filec;
    char *fields[MAX_FIELDS];
    int count;
} Job;

typedef struct {
    int fd, open;
    long long total, keep;
} Pipe;

static long long left_over;
static int came_short;
static char *kept_stderr;
static long long kept_size;
static long long held_us; /* in writes that a slow server held up */

static long long now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void put(const void *data, size_t size) {
    const char *p = (const char *)data;
    long long began = now_us();
    while (size > 0) {
        ssize_t n = write(1, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(3);
        p += n;
        size -= (size_t)n;
    }
    held_us += now_us() - began;
}

static size_t base64(const unsigned char *in, size_t size, char *out) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (size_t i = 0; i < size; i += 3) {
        unsigned v = (unsigned)in[i] << 16;
        if (i + 1 < size) v |= (unsigned)in[i + 1] << 8;
        if (i + 2 < size) v |= in[i + 2];
        out[n++] = letters[v >> 18];
        out[n++] = letters[(v >> 12) & 63];
        out[n++] = i + 1 < size ? letters[(v >> 6) & 63] : '=';
        out[n++] = i + 2 < size ? letters[v & 63] : '=';
    }
    return n;
}

static int plain(const unsigned char *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = data[i];
        if (c >= 127 || (c < 32 && c != '\t' && c != '\n' && c != '\r')) return 0;
    }
    return 1;
}

static void frame(const char *head, const char *body, size_t size) {
    char line[600];
    int n = snprintf(line, sizeof line, "%s %zu\n", head, size);
    if (came_short || (long long)(size + (size_t)n + 1) > left_over) {
        came_short = 1;
        return;
    }
    left_over -= (long long)size + n + 1;
    put(line, (size_t)n);
    put(body, size);
    put("\n", 1);
}

static void coded(const char *head, const unsigned char *data, size_t size) {
    char *text = (char *)malloc(size / 3 * 4 + 8);
    if (!text) _exit(4);
    frame(head, text, base64(data, size, text));
    free(text);
}

static char *read_all(const char *path, size_t *size, size_t most) {
    struct stat state;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return NULL;
    if (fstat(fd, &state) < 0 || !S_ISREG(state.st_mode)) {
        close(fd);
        return NULL;
    }
    size_t room = (size_t)state.st_size < most ? (size_t)state.st_size : most, have = 0;
    char *data = (char *)malloc(room + 1);
    if (!data) _exit(4);
    while (have < room) {
        ssize_t n = read(fd, data + have, room - have);
        if (n <= 0) break;
        have += (size_t)n;
    }
    close(fd);
    data[have] = 0;
    *size = have;
    return data;
}

static void read_job(Job *job) {
    size_t size;
    char *data = read_all("gbx-job", &size, 64 << 20);
    if (!data) _exit(5);
    char *end = data + size;
    for (char *p = data; p <= end && job->count < MAX_FIELDS; p += strlen(p) + 1)
        job->fields[job->count++] = p;
    job->nonce = job->fields[0];
    if (job->count < 2 ||
        sscanf(job->fields[1], "%lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld",
               &job->stdout_max, &job->stderr_max, &job->budget, &job->wall_ms, &job->processes,
               &job->open_files, &job->file_max, &job->only_base64, &job->fixed_addresses,
               &job->argc, &job->filec) != 11 ||
        2 + job->argc + job->filec > job->count)
        _exit(5);
}

static void limit(int kind, long long value) {
    struct rlimit now;
    getrlimit((__rlimit_resource_t)kind, &now);
    rlim_t wanted = (rlim_t)value;
    if (now.rlim_max != RLIM_INFINITY && wanted > now.rlim_max) wanted = now.rlim_max;
    now.rlim_cur = now.rlim_max = wanted;
    setrlimit((__rlimit_resource_t)kind, &now);
}

static void start_program(Job *job, int in, int out, int err) {
    static char path[8192] = "PATH=/usr/local/bin:/usr/bin:/bin";
    static char fixed[][32] = {"HOME=/tmp", "TMPDIR=/tmp", "USER=box", "LANG=C.UTF-8", "TZ=UTC",
                               "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "ONLINE_JUDGE=1"};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    char *environment[FIXED + 2] = {path};
    for (int i = 0; i < FIXED; i++) environment[i + 1] = fixed[i];
    char **argv = (char **)calloc((size_t)job->argc + 1, sizeof *argv);
    const char *was = getenv("PATH");
    if (!argv) _exit(127);
    if (was) snprintf(path, sizeof path, "PATH=%s", was);
    memcpy(argv, job->fields + 2, (size_t)job->argc * sizeof *argv);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    setsid();
    for (int n = 1; n < 32; n++) signal(n, SIG_DFL);
    if (job->fixed_addresses) personality(ADDR_NO_RANDOMIZE);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, job->file_max);
    limit(RLIMIT_NOFILE, job->open_files);
    limit(RLIMIT_NPROC, job->processes + 8);
    setenv("PATH", path + 5, 1);
    execvpe(argv[0], argv, environment);
    _exit(127);
}

/* Pass on one piece of a pipe; return 1 when there was one. */
static int drain(Job *job, Pipe *pipe, int is_stdout) {
    static unsigned char piece[PIECE];
    ssize_t n = pipe->open ? read(pipe->fd, piece, PIECE) : -1;
    if (n == 0) pipe->open = 0;
    if (n <= 0) return 0;
    long long room = pipe->keep - pipe->total;
    size_t keep = room <= 0 ? 0 : room < n ? (size_t)room : (size_t)n;
    pipe->total += n;
    if (!keep) return 1;
    if (!is_stdout) {
        memcpy(kept_stderr + kept_size, piece, keep);
        kept_size += (long long)keep;
    } else if (!job->only_base64 && plain(piece, keep)) {
        frame("R", (const char *)piece, keep);
    } else {
        coded("B", piece, keep);
    }
    return 1;
}

static long long waited_us(pid_t pid) {
    char name[64];
    unsigned long long ran = 0, waited = 0;
    snprintf(name, sizeof name, "/proc/%d/schedstat", (int)pid);
    FILE *f = fopen(name, "r");
    if (!f) return 0;
    if (fscanf(f, "%llu %llu", &ran, &waited) != 2) waited = 0;
    fclose(f);
    return (long long)(waited / 1000);
}

static void last_line(Job *job, int status, struct rusage *u, Pipe *out, Pipe *err,
                      long long wall_us, const char *why) {
    char line[300];
    long long cpu = (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000LL + u->ru_utime.tv_usec +
                    u->ru_stime.tv_usec;
    int n = snprintf(line, sizeof line, "Z %s %d %d %lld %ld %lld %lld %lld %s\n", job->nonce,
                     WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                     WIFSIGNALED(status) ? WTERMSIG(status) : 0, cpu, u->ru_maxrss, out->total,
                     err->total, wall_us, why);
    put(line, (size_t)n);
}

static void put_stderr(void) {
    long long most = (left_over - 40) / 4 * 3;
    if (kept_size > most) kept_size = most > 0 ? most : 0;
    if (kept_size) coded("E", (unsigned char *)kept_stderr, (size_t)kept_size);
}

static int refused(Job *job) {
    struct rusage none;
    Pipe nothing = {0, 0, 0, 0};
    size_t size = 0;
    memset(&none, 0, sizeof none);
    char *log = read_all("gbx/gbx-log", &size, 65536);
    kept_stderr = log;
    kept_size = log ? (long long)size : 0;
    put_stderr();
    last_line(job, 1 << 8, &none, &nothing, &nothing, 0, "compile");
    return 0;
}

static const char *supervise(Job *job, pid_t pid, Pipe *out, Pipe *err, int *status,
                             struct rusage *usage) {
    const char *why = "-";
    long long began = now_us(), before = held_us + waited_us(getpid());
    int ended = 0;
    while (!ended) {
        struct pollfd watch[2] = {{out->open ? out->fd : -1, POLLIN, 0},
                                  {err->open ? err->fd : -1, POLLIN, 0}};
        poll(watch, 2, out->open || err->open ? TICK_MS : 1);
        drain(job, out, 1);
        drain(job, err, 0);
        long long over = now_us() - began - job->wall_ms * 1000;
        if (out->total > job->stdout_max) why = "output";
        /* While this process cannot pass output on, the program waits for room in its pipe. */
        else if (over > 0 && over > waited_us(pid) + held_us + waited_us(getpid()) - before) why = "wall";
        if (why[0] != '-') kill(-pid, SIGKILL), kill(pid, SIGKILL);
        ended = wait4(pid, status, why[0] == '-' ? WNOHANG : 0, usage) == pid;
    }
    while (out->total <= job->stdout_max && (drain(job, out, 1) | drain(job, err, 0))) continue;
    if (out->total > job->stdout_max) why = "output";
    kill(-pid, SIGKILL);
    return why;
}

int main(void) {
    static Job job;
    int outs[2], errs[2], status = 0;
    struct rusage usage;
    read_job(&job);
    int in = open("gbx-stdin", O_RDONLY | O_CLOEXEC);
    unlink("gbx-job");
    unlink("gbx-stdin");
    left_over = job.budget - RESERVE;
    put("GBX1 ", 5);
    put(job.nonce, strlen(job.nonce));
    put("\n", 1);
    unlink("gbx-launcher");
    if (access("gbx/build.sh", F_OK) == 0 && system("/bin/bash gbx/build.sh") != 0)
        return refused(&job);
    if (system("rm -rf gbx") != 0 || in < 0) return 6;
    for (long long i = 0; i < job.filec; i++) {
        char name[64];
        snprintf(name, sizeof name, "gbx-%lld", i);
        if (rename(name, job.fields[2 + job.argc + i]) != 0) return 6;
    }
    kept_stderr = (char *)malloc((size_t)job.stderr_max + 1);
    if (!kept_stderr || pipe2(outs, O_CLOEXEC) != 0 || pipe2(errs, O_CLOEXEC) != 0) return 6;
    signal(SIGHUP, SIG_IGN), signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    pid_t pid = fork();
    if (pid < 0) return 6;
    if (pid == 0) start_program(&job, in, outs[1], errs[1]);
    close(in), close(outs[1]), close(errs[1]);
    fcntl(outs[0], F_SETFL, O_NONBLOCK), fcntl(errs[0], F_SETFL, O_NONBLOCK);
    Pipe out = {outs[0], 1, 0, job.stdout_max}, err = {errs[0], 1, 0, job.stderr_max};
    long long began = now_us();
    const char *why = supervise(&job, pid, &out, &err, &status, &usage);
    long long wall_us = now_us() - began;
    put_stderr();
    for (int i = (int)(2 + job.argc + job.filec); i < job.count; i++) {
        char head[520] = "F ";
        size_t size, n = strlen(job.fields[i]);
        char *data = n && n < 250 ? read_all(job.fields[i], &size, (size_t)job.stdout_max) : NULL;
        if (!data) continue;
        for (size_t k = 0; k < n; k++)
            snprintf(head + 2 + 2 * k, 3, "%02x", (unsigned char)job.fields[i][k]);
        coded(head, (unsigned char *)data, size);
        free(data);
    }
    if (came_short && why[0] == '-') why = "short";
    last_line(&job, status, &usage, &out, &err, wall_us, why);
    return 0;
}

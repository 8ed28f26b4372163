// More than its share: processor, memory, processes, files, output, patience.
#include "attack.h"
#include <sys/epoll.h>

static void *sleeper(void *) { for (;;) pause(); }
static void *spinner(void *) { for (;;) {} }
static void burn() { for (;;) {} }

static pid_t forked() { // where a run may not fork, the attack ends here
    pid_t pid = fork();
    if (pid < 0) { held(); _exit(0); }
    return pid;
}

static size_t amount(const char *megabytes) { return (size_t)atoi(megabytes) << 20; }

// ---- processes and threads ----

static void fork_bomb(const char *, const char *) {
    forked() == 0 ? (void)0 : (void)0;
    for (;;) fork();
}

static void respawning(const char *, const char *) { // each generation lives for a moment
    for (;;) {
        pid_t pid = forked();
        if (pid > 0) _exit(0);
        setsid();
    }
}

static void pausing_forks(const char *, const char *) { // as many as it gets, none uses its CPU
    if (!forked()) pause();
    for (int failed = 0; failed < 100;) {
        pid_t pid = fork();
        if (pid == 0) pause();
        if (pid < 0) failed++;
    }
    held();
    breaches = 0;
}

static void thread_bomb(const char *, const char *) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    int made = 0;
    for (int i = 0; i < 20000; i++) {
        pthread_t t;
        if (!pthread_create(&t, &small, sleeper, NULL)) made++;
        else usleep(100);
    }
    if (made > 500) breach("%d threads", made);
}

static void daemon(const char *, const char *) { // setsid, twice forked, and the parent gone
    if (forked() == 0) {
        setsid();
        if (fork() == 0) {
            prctl(PR_SET_NAME, "gbx-daemon", 0, 0, 0);
            signal(SIGHUP, SIG_IGN);
            for (;;) pause();
        }
        _exit(0);
    }
    wait(NULL);
}

static void sibling(const char *, const char *) { // a child of its parent's: CLONE_PARENT
    long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) for (;;) pause();
}

static void stopped_child(const char *, const char *) { // holds the pipe of stderr, stopped
    if (forked() == 0) raise(SIGSTOP);
    usleep(10000);
}

static void vfork_hang(const char *, const char *) {
    pid_t pid = vfork();
    if (pid == 0) { pause(); _exit(0); }
}

static void ended_leader(const char *, const char *) { // the first thread ends, another lives on
    pthread_t t;
    pthread_create(&t, NULL, sleeper, NULL);
    syscall(SYS_exit, 0);
}

// ---- time ----

static void cpu(const char *, const char *) { burn(); }
static void cpu_threads(const char *, const char *) {
    for (int i = 0; i < 8; i++) { pthread_t t; pthread_create(&t, NULL, spinner, NULL); }
    pause();
}
static void cpu_ended_leader(const char *, const char *) {
    pthread_t t;
    pthread_create(&t, NULL, spinner, NULL);
    syscall(SYS_exit, 0);
}
static void cpu_unwaited(const char *, const char *) { // in children nobody waits for
    signal(SIGCHLD, SIG_IGN);
    if (forked() == 0) burn();
    for (;;) pause();
}
static void cpu_grandchildren(const char *, const char *) { // short lives, each under every limit of one process
    for (;;) {
        if (forked() == 0) { double end = seconds() + 0.01; while (seconds() < end) {} _exit(0); }
        wait(NULL);
    }
}
static void deaf(const char *, const char *) {
    for (int i = 1; i < 65; i++) signal(i, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    burn();
}
static void sleep_for_ever(const char *, const char *) { for (;;) pause(); }
static void stop_itself(const char *, const char *) { raise(SIGSTOP); for (;;) pause(); }
static void *naps(void *) { for (;;) usleep(3000); }
static void crowd_of_sleepers(const char *, const char *) { // they wake together: each waits, none uses CPU
    for (int i = 0; i < 40; i++) { pthread_t t; pthread_create(&t, NULL, naps, NULL); }
    for (;;) pause();
}
// 26 threads whose numbers are 40 apart wait for each other once; then short threads come and go, 40 a
// sample. A watcher that forgets a thread and meets it again credits it with all its waiting once more.
static pthread_barrier_t together;
static void *short_life(void *ms) { usleep(1000 * (intptr_t)ms); return NULL; }
static void *waits_once(void *) {
    pthread_barrier_wait(&together);
    for (double end = seconds() + 0.1; seconds() < end;) {}
    for (;;) pause();
}
static void stale_waits(const char *most_s, const char *) {
    const double end = seconds() + atof(most_s);
    pthread_attr_t small;
    pthread_t t;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_barrier_init(&together, NULL, 26);
    for (int i = 0; i < 26 * 40; i++)
        if (pthread_create(&t, &small, i % 40 ? short_life : waits_once, NULL)) breach("no thread %d", i);
        else if (i % 40) pthread_join(t, NULL);
    while (seconds() < end) {
        for (int i = 0; i < 36; i++) if (!pthread_create(&t, &small, short_life, (void *)60)) pthread_detach(t);
        usleep(37000);
    }
    breach("lived for %s s", most_s);
}
static void own_cpu_signal(const char *, const char *) { raise(SIGXCPU); }
static void own_cpu_limit(const char *, const char *) {
    struct rlimit l = {0, 1};
    setrlimit(RLIMIT_CPU, &l);
    burn();
}
static void timers(const char *, const char *) {
    int made = 0;
    struct sigevent e = {};
    e.sigev_notify = SIGEV_NONE;
    timer_t t;
    for (int i = 0; i < 1000000 && !timer_create(CLOCK_REALTIME, &e, &t); i++) made++;
    struct itimerval fast = {{0, 1}, {0, 1}};
    signal(SIGALRM, SIG_IGN);
    setitimer(ITIMER_REAL, &fast, NULL);
}

// ---- memory ----

static void touch(char *p, size_t n) { for (size_t i = 0; p != MAP_FAILED && i < n; i += 4096) p[i] = 1; }
static char *pages(size_t n, int flags) { return (char *)mmap(NULL, n, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0); }

static void memory(const char *mb, const char *) {
    for (;;) touch(pages(amount(mb), MAP_PRIVATE), amount(mb));
}
static void memory_once(const char *mb, const char *) { touch(pages(amount(mb), MAP_PRIVATE), amount(mb)); sleep(1); breach("held %s MB", mb); }
static void memory_children(const char *mb, const char *) { // each under the limit
    const int n = 8;
    pid_t child[n];
    bool full[n] = {}, dead[n] = {};
    int said[2], alive_and_full = 0;
    if (pipe2(said, O_NONBLOCK)) return;
    for (int i = 0; i < n; i++)
        if ((child[i] = forked()) == 0) { touch(pages(amount(mb), MAP_PRIVATE), amount(mb)); if (write(said[1], &i, sizeof i) == sizeof i) pause(); }
    for (int turn = 0, open = n; turn < 1000 && open > 0; turn++) { // until each is full or dead
        usleep(10000);
        for (int i; read(said[0], &i, sizeof i) == sizeof i;) full[i] = true;
        open = n;
        for (int i = 0; i < n; i++) {
            dead[i] = dead[i] || child[i] < 0 || waitpid(child[i], NULL, WNOHANG) == child[i];
            open -= full[i] || dead[i];
        }
    }
    for (int i = 0; i < n; i++) alive_and_full += full[i] && !dead[i];
    if (alive_and_full > 2) breach("%d × %s MB", alive_and_full, mb);
}
static void *memory_thread(void *mb) { memory_once((const char *)mb, ""); _exit(0); }
static void memory_ended_leader(const char *mb, const char *) {
    pthread_t t;
    pthread_create(&t, NULL, memory_thread, (void *)mb);
    syscall(SYS_exit, 0);
}
static void memory_shared(const char *mb, const char *) { // pages of no process: touched, then let go
    char *p = pages(amount(mb), MAP_SHARED);
    if (p == MAP_FAILED) return;
    for (size_t i = 0; i < amount(mb); i += 1 << 20) { touch(p + i, 1 << 20); madvise(p + i, 1 << 20, MADV_DONTNEED); }
    breach("%s MB of shared pages", mb);
}
static void memory_zero(const char *mb, const char *) {
    int fd = open("/dev/zero", O_RDWR);
    char *p = fd < 0 ? (char *)MAP_FAILED : (char *)mmap(NULL, amount(mb), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) return;
    for (size_t i = 0; i < amount(mb); i += 1 << 20) { touch(p + i, 1 << 20); madvise(p + i, 1 << 20, MADV_DONTNEED); }
    breach("%s MB of /dev/zero", mb);
}
static void memory_files(const char *mb, const char *) { // in files without a name
    static char block[1 << 20];
    size_t done = 0;
    for (int i = 0; i < 200 && done < amount(mb); i++) {
        int fd = syscall(SYS_memfd_create, "x", 0);
        if (fd < 0) return;
        for (int k = 0; k < 30 && done < amount(mb); k++) done += write(fd, block, sizeof block) > 0 ? sizeof block : 0;
    }
    breach("%s MB in memfds", mb);
}
static void page_tables(const char *gigabytes, const char *) { // of pages that are all the same empty one
    size_t n = (size_t)atoi(gigabytes) << 30;
    prctl(PR_SET_NAME, "VmPTE: 0", 0, 0, 0); // for a reader that looks for the field anywhere
    volatile char *p = (volatile char *)mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char sum = 0;
    for (size_t i = 0; p != MAP_FAILED && i < n; i += 2 << 20) sum += p[i];
    sleep(1);
    if (p != MAP_FAILED) breach("%s GB of empty pages, %d", gigabytes, sum);
}
static void *page_tables_thread(void *gigabytes) { page_tables((const char *)gigabytes, ""); _exit(0); }
static void page_tables_ended_leader(const char *gigabytes, const char *) {
    pthread_t t;
    pthread_create(&t, NULL, page_tables_thread, (void *)gigabytes);
    syscall(SYS_exit, 0);
}
static void memory_swapped_out(const char *mb, const char *) { // asks for its pages to be sent away
    for (int i = 0; i < 64; i++) {
        char *p = pages(amount(mb) / 64, MAP_PRIVATE);
        touch(p, amount(mb) / 64);
        madvise(p, amount(mb) / 64, 21); // MADV_PAGEOUT
    }
    breach("%s MB", mb);
}
static void memory_hidden_in_output(const char *mb, const char *) { // a hole in stdout is no memory to take off
    if (ftruncate(1, 7 << 20)) return;
    memory_once(mb, "");
}
static void memory_huge_pages(const char *mb, const char *) { // a pool of their own, charged to nobody
    for (unsigned long size : {0ul, 16ul, 21ul, 30ul}) // log2 of the page
        for (unsigned long more : {0ul, 0x4000ul, 1ul << 32}) { // no reserve; a bit that the kernel ignores
            unsigned long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | size << 26 | more;
            must_fail("MAP_HUGETLB", syscall(SYS_mmap, 0l, amount(mb), 3l, flags, -1l, 0l));
            must_fail("MAP_HUGETLB, shared", syscall(SYS_mmap, 0l, amount(mb), 3l, (flags ^ MAP_PRIVATE) | MAP_SHARED, -1l, 0l));
            must_fail("MFD_HUGETLB", syscall(SYS_memfd_create, "x", 4ul | size << 26 | (more & ~0x4000ul)));
        }
    refused("SHM_HUGETLB", syscall(SYS_shmget, 0, amount(mb), 04000 | 0600));
}
// In a file that the grader made: stdin. Nobody's memory, unless it is counted with the run.
static void memory_in_input(const char *mb, const char *) {
    struct stat before, after;
    if (fstat(0, &before)) return;
    signal(SIGXFSZ, SIG_IGN);
    fchmod(0, 0777);
    int fds[6] = {0, open("/proc/self/fd/0", O_RDWR), open("/dev/stdin", O_RDWR), open("/proc/self/fd/0", O_WRONLY | O_APPEND),
                  open("/proc/thread-self/fd/0", O_RDWR), open("/proc/self/fd/0", O_RDWR | O_TRUNC)};
    for (int fd : fds) {
        if (fd < 0) continue;
        static char block[1 << 20];
        for (off_t at = 0; at < (off_t)amount(mb); at += sizeof block)
            if (pwrite(fd, block, sizeof block, at) <= 0) break;
        fallocate(fd, 0, 0, amount(mb));
        fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, amount(mb));
        if (!ftruncate(fd, amount(mb))) {
            char *p = (char *)mmap(NULL, amount(mb), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (p != MAP_FAILED) touch(p, amount(mb)), munmap(p, amount(mb));
        }
    }
    if (fstat(0, &after) || after.st_size != before.st_size || after.st_blocks > before.st_blocks + 16)
        breach("stdin has %ld bytes in %ld blocks", (long)after.st_size, (long)after.st_blocks);
}
static void memory_beyond_output(const char *mb, const char *) { // set aside past the end of stdout: refused, or counted
    struct stat s;
    fallocate(1, FALLOC_FL_KEEP_SIZE, 0, amount(mb));
    int fd = open("/proc/self/fd/1", O_RDWR);
    if (fd >= 0) fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, amount(mb));
    if (!fstat(1, &s) && s.st_blocks > 4096) memory("4", "");
}
static void pipe_sizes(const char *, const char *) { // the kernel's memory, and one budget for all of a user's pipes
    int pair[2];
    if (pipe(pair)) return;
    for (int fd : {pair[0], pair[1], 0, 1, 2}) {
        must_fail("F_SETPIPE_SZ", fcntl(fd, F_SETPIPE_SZ, 1 << 20));
        must_fail("F_SETPIPE_SZ, a high word", syscall(SYS_fcntl, fd, 1ul << 32 | F_SETPIPE_SZ, 1 << 20));
    }
    if (fcntl(pair[1], F_GETPIPE_SZ) > 65536) breach("a pipe of %d bytes", fcntl(pair[1], F_GETPIPE_SZ));
}
static void stack(const char *, const char *) {
    volatile char frame[65536];
    frame[0] = 1;
    if (!breaches) stack("", "");
    frame[1] = frame[0];
}
static void sockets(const char *, const char *) { // what waits in buffers
    static char block[65536];
    for (int i = 0; i < 300; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair)) break;
        int size = 1 << 30;
        setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
        while (write(pair[0], block, sizeof block) > 0) {}
    }
    for (int i = 0; i < 300; i++) {
        int pair[2];
        if (pipe2(pair, O_NONBLOCK)) break;
        fcntl(pair[1], F_SETPIPE_SZ, 1 << 20);
        while (write(pair[1], block, sizeof block) > 0) {}
    }
}
static void socket_buffers(const char *, const char *) { // as large as any program of the machine may have: refused, or counted
    static char block[65536];
    for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET})
        for (int option : {SO_SNDBUF, SO_SNDBUFFORCE}) {
            int pair[2], size = 1 << 30;
            if (socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, pair)) return;
            setsockopt(pair[0], SOL_SOCKET, option, &size, sizeof size);
            syscall(SYS_setsockopt, pair[0], 1ul << 32 | SOL_SOCKET, 1ul << 32 | option, &size, sizeof size);
            long queued = 0;
            for (ssize_t n; (n = write(pair[0], block, sizeof block)) > 0;) queued += n;
            if (queued > 2 << 20) memory("4", "");
        }
}
static void sent_descriptors(const char *, const char *) { // in flight they count for nobody
    int pair[2], made = 0;
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair)) return;
    for (int i = 0; i < 100000; i++) {
        int fd = epoll_create1(0);
        if (fd < 0) break;
        union { struct cmsghdr h; char b[CMSG_SPACE(sizeof(int))]; } c;
        char byte = 0;
        struct iovec v = {&byte, 1};
        struct msghdr m = {};
        m.msg_iov = &v; m.msg_iovlen = 1; m.msg_control = &c; m.msg_controllen = sizeof c;
        c.h.cmsg_len = CMSG_LEN(sizeof fd); c.h.cmsg_level = SOL_SOCKET; c.h.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&c.h), &fd, sizeof fd);
        long sent = sendmsg(pair[0], &m, 0);
        close(fd);
        if (sent < 0) break;
        made++;
    }
    if (made > 5000) breach("%d descriptors in flight", made);
}

// ---- files ----

static void disk(const char *, const char *) {
    static char block[1 << 20];
    char name[32];
    long done = 0;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", i);
        int fd = open(name, O_WRONLY | O_CREAT, 0600);
        for (int k = 0; fd >= 0 && k < 8; k++) if (write(fd, block, sizeof block) > 0) done++;
        if (fd >= 0) close(fd);
        if (done > 200) { breach("%ld MB on disk", done); return; }
    }
}
static void inodes(const char *, const char *) {
    char name[32];
    int made = 0;
    for (int i = 0; i < 200000; i++) {
        snprintf(name, sizeof name, "%d", i);
        if (!symlink("x", name)) made++;
        else break;
    }
    if (made > 150000) breach("%d files", made);
}
static void deep(const char *, const char *) {
    for (int i = 0; i < 2500; i++) if (mkdir("d", 0700) || chdir("d")) break;
    int fd = open("end", O_CREAT | O_WRONLY, 0);
    if (fd >= 0) close(fd);
    chmod(".", 0);
}
static void long_names(const char *, const char *) {
    char name[256];
    for (int i = 0; i < 300; i++) {
        memset(name, i % 255 + 1, 255);
        name[0] = i / 255 + 1;
        name[255] = 0;
        for (char *p = name; *p; p++) if (*p == '/') *p = '_';
        int fd = open(name, O_CREAT | O_WRONLY, 0);
        if (fd >= 0) close(fd);
    }
}
static void big_file(const char *, const char *) { // one file, past its limit
    static char block[1 << 20];
    int fd = open("big", O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 100; i++) if (write(fd, block, sizeof block) < 0) break;
    breach("100 MB in one file");
}
static void sparse(const char *, const char *) {
    int fd = open("sparse", O_CREAT | O_WRONLY, 0600);
    if (!ftruncate(fd, 1l << 40)) breach("a file of 1 TB");
    if (!fallocate(fd, 0, 0, 1l << 40)) breach("1 TB set aside");
}
static void open_files(const char *, const char *) {
    int opened = 0;
    while (open("/dev/null", O_RDONLY) >= 0) opened++;
    if (opened > 300) breach("%d files open", opened);
    usleep(200000);
}
static void syncing(const char *, const char *) { for (int i = 0; i < 100000; i++) sync(); }

// ---- output ----

static void output(const char *, const char *) { static char block[65536]; for (;;) if (write(1, block, sizeof block) < 0) pause(); }
static void output_threads(const char *, const char *) { signal(SIGXFSZ, SIG_IGN); output("", ""); }
static void output_hole(const char *, const char *) { if (!ftruncate(1, 1l << 33)) breach("8 GB of stdout"); for (;;) pause(); }
static void output_mapped(const char *, const char *) { // grown without a write
    signal(SIGXFSZ, SIG_IGN);
    for (long size = 1 << 20; !ftruncate(1, size); size += 1 << 20) {
        char *p = (char *)mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 1, size - (1 << 20));
        if (p == MAP_FAILED) break;
        touch(p, 1 << 20);
        munmap(p, 1 << 20);
        if (size > 40 << 20) breach("%ld bytes", size);
    }
    for (;;) pause();
}
static void errors(const char *, const char *) { static char block[65536]; memset(block, 'e', sizeof block); for (int i = 0; i < 2000; i++) if (write(2, block, sizeof block) < 0) break; }
static void errors_wide(const char *, const char *) { // a bigger pipe, left full
    static char block[1 << 20];
    fcntl(2, F_SETPIPE_SZ, 1 << 20);
    fcntl(2, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 100; i++) if (write(2, block, sizeof block) < 0) usleep(100);
}

#define ROW(name) {#name, name}
static const attack attacks[] = {
    ROW(fork_bomb), ROW(respawning), ROW(pausing_forks), ROW(thread_bomb), ROW(daemon), ROW(sibling), ROW(stopped_child), ROW(vfork_hang),
    ROW(ended_leader), ROW(cpu), ROW(cpu_threads), ROW(cpu_ended_leader), ROW(cpu_unwaited), ROW(cpu_grandchildren), ROW(deaf),
    ROW(sleep_for_ever), ROW(stop_itself), ROW(crowd_of_sleepers), ROW(stale_waits), ROW(own_cpu_signal), ROW(own_cpu_limit), ROW(timers), ROW(memory),
    ROW(memory_once), ROW(memory_children), ROW(memory_ended_leader), ROW(memory_shared), ROW(memory_zero), ROW(memory_files),
    ROW(memory_swapped_out), ROW(memory_huge_pages), ROW(memory_in_input), ROW(memory_beyond_output), ROW(pipe_sizes), ROW(page_tables), ROW(page_tables_ended_leader), ROW(memory_hidden_in_output), ROW(stack), ROW(sockets), ROW(socket_buffers), ROW(sent_descriptors), ROW(disk), ROW(inodes),
    ROW(deep), ROW(long_names), ROW(big_file), ROW(sparse), ROW(open_files), ROW(syncing), ROW(output), ROW(output_threads),
    ROW(output_hole), ROW(output_mapped), ROW(errors), ROW(errors_wide),
};
int main(int argc, char **argv) { return dispatch(attacks, argc, argv); }

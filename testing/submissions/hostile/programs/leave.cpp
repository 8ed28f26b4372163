// A message for the next run, a trap for whoever reads the results, a mess on the given descriptors.
#include "attack.h"
#include <sys/file.h>

static void put(const char *path) {
    int fd = open(path, O_CREAT | O_WRONLY, 0666);
    if (fd >= 0) { if (write(fd, "left\n", 5) != 5) {} close(fd); }
}

static void files(const char *, const char *) {
    for (const char *path : {"left", ".hidden", "/tmp/left", "/tmp/.x", "/dev/shm/left", "/box/left", "/box/tmp/left", "/program/left",
                             "/var/tmp/gbx-left", "../left"}) put(path);
    mkdir("folder", 0700);
    put("folder/left");
    if (symlink("/etc", "link") || mkfifo("fifo", 0600)) {}
}
static void files_removed(const char *, const char *) { // made and taken away: nothing differs but times
    put("left");
    unlink("left");
}
static void modes(const char *, const char *) {
    for (const char *path : {".", "/box", "/box/work", "/box/tmp", "/box/shm", "/tmp", "/dev/shm", "/program", "..", "../program", "/"}) chmod(path, 0);
}
static void times(const char *, const char *) {
    struct timespec then[2] = {{1000000, 1}, {1000000, 1}};
    for (const char *path : {".", "/box", "/box/work", "/box/tmp", "/box/shm", "/tmp", "/dev/shm", "/program", "..", "/proc/self/exe", "/bin/sh"})
        utimensat(AT_FDCWD, path, then, 0);
}
static void folders_moved(const char *, const char *) {
    if (!rename("/box/work", "/box/other")) mkdir("/box/work", 0777);
    if (rename("/box/tmp", "/box/shm")) rename("/box/shm", "/box/tmp");
    rmdir("/box/shm");
    rmdir("/box/tmp");
    rmdir(".");
}
static void trash_names(const char *, const char *) { // names a cleaner might use
    for (int i = 0; i < 40; i++) {
        char name[64], inner[80];
        snprintf(name, sizeof name, ".gradebox-trash-%d", i);
        mkdir(name, 0700);
        snprintf(inner, sizeof inner, "%s/full", name);
        mkdir(inner, 0);
        put(inner);
    }
    mkdir("a", 0700);
    mkdir("a/b", 0);
    chmod("a", 0);
}
static void executable(const char *again, const char *) { // the file it was started from
    int fd = open("/proc/self/exe", O_RDONLY);
    if (fd >= 0) {
        fchmod(fd, 0777);
        fchown(fd, getuid(), getgid());
        struct timespec then[2] = {{1000000, 1}, {1000000, 1}};
        futimens(fd, then);
        fcntl(fd, 1033, 2); // F_ADD_SEALS
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        int w = open(path, O_RDWR);
        if (w >= 0 && pwrite(w, "\177ELF", 4, 0) == 4) breach("wrote its own executable");
    }
    if (!*again) { // while another file is executed this one is not held by the kernel
        char *args[] = {(char *)"sh", (char *)"-c", (char *)"printf x >> /proc/self/fd/3 && echo BREACH wrote || echo held", NULL}, *none[] = {NULL};
        if (fd == 3) execve("/bin/sh", args, none);
    }
}
static void attributes(const char *, const char *) {
    for (const char *path : {".", "/box", "/tmp", "/proc/self/exe", "/bin/sh"}) {
        must_fail("user attribute", syscall(SYS_setxattr, path, "user.left", "1", 1, 0));
        must_fail("acl", syscall(SYS_setxattr, path, "system.posix_acl_access", "1", 1, 0));
    }
}
static void write_hints(const char *, const char *) { // a number that stays with a file, also a read-only one
    for (const char *path : {".", "/box", "/program", "/proc/self/exe", "/bin/sh"})
        for (int command : {1036, 1038}) { // F_SET_RW_HINT, F_SET_FILE_RW_HINT
            uint64_t hint = 3;
            int fd = open(path, O_RDONLY);
            if (fd >= 0) must_fail(path, fcntl(fd, command, &hint));
            if (fd >= 0) close(fd);
        }
}
static void sockets(const char *, const char *) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un a = {AF_UNIX, "\0gbx-left"};
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&a, 12)) listen(fd, 5);
    struct sockaddr_un b = {AF_UNIX, "left.sock"};
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&b, sizeof b)) listen(fd, 5);
    if (fork() == 0) pause();
}
static void locks(const char *, const char *) { // on files that others see
    for (const char *path : {"/bin/sh", "/usr/lib", "/program", "/dev/null", "/proc/self/exe"}) {
        int fd = open(path, O_RDONLY);
        if (fd >= 0) flock(fd, LOCK_EX | LOCK_NB);
    }
    if (fork() == 0) pause();
}
static void standard(const char *, const char *) { // what was handed to it
    for (int fd : {0, 1, 2}) {
        fcntl(fd, F_SETFL, O_NONBLOCK | O_APPEND | O_ASYNC | O_DIRECT);
        fcntl(fd, 1033, 31);
        fchmod(fd, 0);
        fcntl(fd, F_SETLEASE, F_WRLCK);
        fcntl(fd, F_NOTIFY, 0xff);
        flock(fd, LOCK_EX | LOCK_NB);
    }
    if (ftruncate(0, 1 << 20) || pwrite(0, "changed", 7, 0)) {}
}
static void closed(const char *, const char *) { held(); for (int fd = 0; fd < 10; fd++) close(fd); put("left"); pause(); }
static void rewritten(const char *, const char *) { // stdout shrunk and grown under the reader
    for (int i = 0; i < 1000; i++) if (ftruncate(1, i % 2 * 100000)) return;
    if (ftruncate(1, 0) || lseek(1, 0, SEEK_SET)) return;
}
static void output_as_file(const char *, const char *) { // an output file that is no file
    unlink("out.txt");
    if (symlink("/etc/passwd", "out.txt")) {}
}
static void output_as_link(const char *secret, const char *) { if (symlink(secret, "out.txt")) {} }
static void output_as_hard_link(const char *secret, const char *) { if (link(secret, "out.txt")) {} }
static void output_as_fifo(const char *, const char *) { mkfifo("out.txt", 0666); }
static void output_as_folder(const char *, const char *) { mkdir("out.txt", 0777); }
static void output_as_socket(const char *, const char *) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un a = {AF_UNIX, "out.txt"};
    if (fd >= 0) bind(fd, (struct sockaddr *)&a, sizeof a);
}
static void output_as_proc(const char *, const char *) { if (symlink("/proc/self/environ", "out.txt")) {} }
static void output_as_hole(const char *, const char *) { int fd = open("out.txt", O_CREAT | O_WRONLY, 0); if (ftruncate(fd, 60 << 20)) {} }
static void folder_as_link(const char *secret, const char *) { // the working folder itself leads away
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", secret);
    if (char *slash = strrchr(folder, '/')) *slash = 0;
    if (!rename("/box/work", "/box/gone") && symlink(folder, "/box/work")) {}
}
static void cores(const char *, const char *) {
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &all);
    prctl(PR_SET_DUMPABLE, 1);
    held();
    raise(SIGSEGV);
    abort();
}
static void inherited(const char *, const char *) { // what lives in a process and might outlive it
    umask(0777);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (int i = 1; i < 65; i++) signal(i, SIG_IGN);
    setpriority(PRIO_PROCESS, 0, 10);
    chdir("/");
    mlockall(MCL_CURRENT | MCL_FUTURE);
    prctl(PR_SET_TIMERSLACK, 1000000000ul);
    struct rlimit l = {10, 10};
    setrlimit(RLIMIT_NOFILE, &l);
    setpgid(0, 0);
}
static void page_cache(const char *megabytes, const char *) { // file pages it read stay in its group: room for the next
    static char block[1 << 20];
    long left = atol(megabytes) << 20;
    const char *folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/bin", "/usr/lib/aarch64-linux-gnu"};
    for (const char *folder : folders) {
        DIR *d = opendir(folder);
        for (struct dirent *e; d && left > 0 && (e = readdir(d));) {
            int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_NONBLOCK);
            if (fd < 0) continue;
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); // so that it is read again, on its own account
            for (ssize_t n; left > 0 && (n = read(fd, block, sizeof block)) > 0;) left -= n;
            close(fd);
        }
        if (d) closedir(d);
    }
}

#define ROW(name) {#name, name}
static const attack attacks[] = {
    ROW(files), ROW(files_removed), ROW(modes), ROW(times), ROW(folders_moved), ROW(trash_names), ROW(executable), ROW(attributes),
    ROW(write_hints), ROW(sockets), ROW(locks), ROW(standard), ROW(closed), ROW(rewritten), ROW(output_as_file), ROW(output_as_link),
    ROW(output_as_hard_link), ROW(output_as_fifo), ROW(output_as_folder), ROW(output_as_socket), ROW(output_as_proc),
    ROW(output_as_hole), ROW(folder_as_link), ROW(cores), ROW(inherited), ROW(page_cache),
};
int main(int argc, char **argv) { return dispatch(attacks, argc, argv); }

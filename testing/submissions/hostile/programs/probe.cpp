// What a run finds: printed line by line, it must be the same after any other run.
#include "attack.h"

static void entry(const char *path) {
    struct stat s;
    if (lstat(path, &s)) { printf("%s: none\n", path); return; }
    long age = time(NULL) - s.st_mtime, read_age = time(NULL) - s.st_atime;
    printf("%s: mode %o owner %s links %ld size %ld%s%s\n", path, s.st_mode, s.st_uid == getuid() ? "own" : "other", (long)s.st_nlink,
           S_ISDIR(s.st_mode) ? 0L : (long)s.st_size, age > 360000 ? " old" : "", read_age > 360000 ? " long unread" : "");
}

static void listing(const char *path) {
    DIR *d = opendir(path);
    entry(path);
    if (!d) printf("  closed to it\n");
    for (struct dirent *e; d && (e = readdir(d));) if (e->d_name[0] != '.' || (e->d_name[1] && e->d_name[1] != '.')) printf("  %s\n", e->d_name);
    if (d) closedir(d);
}

int main(int argc, char **) {
    char text[65536];
    extern char **environ;
    struct stat box;
    bool own_root = !stat("/box", &box); // without namespaces the rest is the host's, and changes by itself
    listing(".");
    if (own_root) for (const char *path : {"/box", "/tmp", "/box/shm", "/program"}) listing(path);
    struct statfs f;
    if (!statfs("/box", &f)) printf("free %ld of %ld, %ld of %ld\n", (long)f.f_bfree, (long)f.f_blocks, (long)f.f_ffree, (long)f.f_files);
    struct stat s;
    if (!stat("/proc/self/exe", &s)) printf("executable mode %o size %ld%s\n", s.st_mode, (long)s.st_size, time(NULL) - s.st_mtime > 360000 ? " old" : "");
    int fd = open("/proc/self/exe", O_RDONLY);
    unsigned long sum = 0;
    for (ssize_t n; fd >= 0 && (n = read(fd, text, sizeof text)) > 0;) for (ssize_t i = 0; i < n; i++) sum = sum * 31 + (unsigned char)text[i];
    if (fd >= 0) close(fd);
    printf("executable %lx\n", sum);
    DIR *d = opendir("/proc");
    int others = 0;
    for (struct dirent *e; d && (e = readdir(d));) others += e->d_name[0] >= '1' && e->d_name[0] <= '9' && atoi(e->d_name) != getpid();
    if (d) closedir(d);
    printf("processes %d\n", others > 1);
    for (int what = 0; what < 16; what++) { struct rlimit l; getrlimit((__rlimit_resource)what, &l); printf("limit %d %ld %ld\n", what, (long)l.rlim_cur, (long)l.rlim_max); }
    for (int i = 0; i < 64; i++) if (fcntl(i, F_GETFD) >= 0) printf("descriptor %d flags %x\n", i, fcntl(i, F_GETFL));
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int i = 1; i < 65; i++) {
        struct sigaction a;
        if (!sigaction(i, NULL, &a) && a.sa_handler != SIG_DFL) printf("signal %d is handled\n", i);
        if (sigismember(&blocked, i) == 1) printf("signal %d is blocked\n", i);
    }
    printf("umask %o nice %d slack %d leader %d\n", umask(0), getpriority(PRIO_PROCESS, 0), prctl(PR_GET_TIMERSLACK), getsid(0) == getpid());
    printf("cwd %s\n", getcwd(text, sizeof text) ? text : "?");
    for (char **e = environ; *e; e++) printf("%s\n", *e);
    printf("arguments %d, input %ld\n", argc, (long)read(0, text, sizeof text));
    FILE *net = !own_root ? NULL : fopen("/proc/net/unix", "r");
    int lines = 0;
    while (net && fgets(text, sizeof text, net)) lines++;
    printf("sockets %d\n", lines);
    return 0;
}

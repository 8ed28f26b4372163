// Reading what is not the program's, writing where it must not, getting out.
#include "attack.h"
#include <sys/mount.h>
#include <sys/sysmacros.h>

static void readable(const char *path) {
    char byte;
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0) return;
    if (read(fd, &byte, 1) == 1) breach("read %s", path);
    close(fd);
}

static void secrets(const char *, const char *) {
    for (const char *path : {"/etc/shadow", "/etc/hosts", "/etc/machine-id", "/etc/hostname", "/root/.bashrc", "/root/.profile",
                             "/var/log/dpkg.log", "/var/lib/dpkg/status", "/boot/config", "/proc/kcore", "/proc/kallsyms", "/proc/kmsg",
                             "/proc/keys", "/proc/cmdline", "/proc/sysrq-trigger", "/proc/sys/kernel/hostname",
                             "/sys/kernel/notes", "/sys/fs/cgroup/cgroup.procs", "/dev/mem", "/dev/kmsg", "/dev/tty", "/dev/console"})
        readable(path);
}

static void file(const char *path, const char *) { readable(path); }

static void file_links(const char *path, const char *) { // the same through every kind of detour
    char other[4200];
    unlink("detour");
    if (!symlink(path, "detour")) readable("detour");
    unlink("detour");
    if (!link(path, "detour")) readable("detour");
    if (!rename(path, "detour")) breach("renamed %s", path);
    for (const char *base : {"/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../../../../..", "/box/../..", "/old", "/new/old",
                             "/proc/self/task/../root", "/proc/thread-self/root"}) {
        snprintf(other, sizeof other, "%s%s", base, path);
        readable(other);
    }
}

static void outside(const char *, const char *) {
    for (const char *path : {"/gbx", "/usr/gbx", "/usr/bin/gbx", "/usr/lib/gbx", "/etc/gbx", "/program/gbx", "/var/tmp/gbx", "/root/gbx",
                             "/home/gbx", "/dev/gbx", "/proc/gbx", "/run/gbx", "../gbx", "../program/gbx"}) {
        int fd = open(path, O_WRONLY | O_CREAT, 0600);
        char real[256] = "", link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (fd >= 0 && readlink(link, real, sizeof real - 1) >= 0 && !strncmp(real, "/box/", 5)) { unlink(path); continue; } // its own
        if (fd >= 0) { breach("made %s", path); unlink(path); }
        if (!mkdir(path, 0700)) { rmdir(path); if (strncmp(path, "../", 3)) breach("made folder %s", path); }
    }
    for (const char *path : {"/etc/passwd", "/usr/bin/env", "/bin/sh", "/usr/lib/os-release", "/proc/sys/kernel/core_pattern",
                             "/proc/sysrq-trigger", "/proc/self/oom_score_adj", "/proc/self/uid_map", "/proc/self/setgroups"}) {
        int fd = open(path, O_WRONLY);
        if (fd >= 0) breach("%s opens for writing", path);
    }
}

static void metadata(const char *path, const char *) { // Landlock leaves these to other means
    for (const char *one : {path, "/usr/bin/env", "/bin/sh", "/usr/lib"}) {
        struct timespec times[2] = {{1, 0}, {1, 0}};
        must_fail("chmod", chmod(one, 0777));
        must_fail("chown", chown(one, getuid(), getgid()));
        must_fail("utimensat", utimensat(AT_FDCWD, one, times, 0));
        must_fail("truncate", truncate(one, 0));
        must_fail("setxattr", syscall(SYS_setxattr, one, "user.gbx", "1", 1, 0));
    }
}

static void emptied(const char *path, const char *) { // a file opened for reading, or for nothing, and yet emptied
    const int modes[] = {O_RDONLY, 3, O_WRONLY, O_RDWR}; // 3: neither reading nor writing, ioctl only
    for (int mode : modes) {
        uint64_t how[3] = {(uint64_t)(mode | O_TRUNC), 0, 0};
        must_fail("open to empty", open(path, mode | O_TRUNC));
        must_fail("openat, a high word", syscall(SYS_openat, AT_FDCWD, path, 1ul << 32 | mode | O_TRUNC, 0));
        must_fail("openat2 to empty", syscall(437, AT_FDCWD, path, how, sizeof how));
    }
    must_fail("creat", creat(path, 0600));
    must_fail("truncate", truncate(path, 0));
    int fd = open(path, 3); // not a promise: what it may do with it is
    if (fd >= 0) {
        must_fail("ftruncate", ftruncate(fd, 0));
        must_fail("fallocate", fallocate(fd, 0, 0, 1 << 20));
    }
    int own = open("own", O_RDWR | O_CREAT | O_TRUNC, 0600); // its own files, it may
    if (own < 0 || write(own, "text", 4) != 4 || ftruncate(own, 2)) breach("cannot write its own file, errno %d", errno);
    if ((own = creat("own", 0600)) < 0) breach("cannot empty its own file, errno %d", errno);
}

static void mounts(const char *, const char *) {
    must_fail("bind", mount("/", "/tmp", NULL, MS_BIND, NULL));
    must_fail("remount", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
    must_fail("remount program", mount(NULL, "/program", NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV, NULL));
    must_fail("tmpfs", mount("x", "/tmp", "tmpfs", 0, NULL));
    must_fail("tmpfs, the box's own flags", mount("x", "/box", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOATIME, NULL));
    must_fail("proc", mount("proc", "/tmp", "proc", MS_NOSUID | MS_NODEV | MS_NOATIME, NULL));
    must_fail("umount", umount2("/box", MNT_DETACH));
    must_fail("umount proc", umount2("/proc", MNT_DETACH));
    must_fail("umount link", umount2("/dev/null", MNT_DETACH));
    must_fail("chroot", chroot("/tmp"));
    refused("pivot_root", syscall(SYS_pivot_root, ".", "."));
    refused("open_tree", syscall(428, AT_FDCWD, "/", 1));
    refused("move_mount", syscall(429, -1, "", -1, "", 4));
    refused("fsopen", syscall(430, "tmpfs", 0));
    refused("fsmount", syscall(432, -1, 0, 0));
    refused("mount_setattr", syscall(442, AT_FDCWD, "/", 0, NULL, 0));
}

static int nothing(void *) { return 0; }

static void namespaces(const char *, const char *) {
    static char stack[16384] __attribute__((aligned(16)));
    const int flags[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80};
    for (int flag : flags) {
        must_fail("unshare", unshare(flag));
        must_fail("unshare as user", unshare(flag | CLONE_NEWUSER));
        if (flag != 0x80) must_fail("clone", clone(nothing, stack + sizeof stack, flag | SIGCHLD, NULL));
        if (flag != 0x80) must_fail("clone as user", clone(nothing, stack + sizeof stack, flag | CLONE_NEWUSER | SIGCHLD, NULL));
    }
    uint64_t args[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
    refused("clone3", syscall(435, args, sizeof args));
    for (const char *path : {"/proc/self/ns/user", "/proc/1/ns/mnt", "/proc/self/ns/mnt"}) {
        int fd = open(path, O_RDONLY);
        if (fd >= 0) must_fail("setns", setns(fd, 0));
    }
    refused("setns", setns(0, 0));
}

static void network(const char *, const char *) {
    for (int family = 2; family < 46; family++)
        for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
            int fd = socket(family, type, 0);
            if (fd >= 0) { breach("socket of family %d", family); close(fd); }
        }
}

static void connects(const char *where, const char *name) { // to a listener of the host's
    struct sockaddr_un a = {AF_UNIX, {}};
    size_t n = strlen(name);
    int is_abstract = !strcmp(where, "abstract");
    memcpy(a.sun_path + is_abstract, name, n);
    for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
        int fd = socket(AF_UNIX, type, 0);
        if (fd >= 0 && !connect(fd, (struct sockaddr *)&a, offsetof(struct sockaddr_un, sun_path) + n + is_abstract)) breach("connected to the host");
        if (fd >= 0) close(fd);
    }
}

static void datagrams(const char *name, const char *) { // by one of a pair, without a socket() of its own
    struct sockaddr_un a = {AF_UNIX, {}};
    memcpy(a.sun_path, name, strlen(name));
    for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
        int pair[2];
        if (socketpair(AF_UNIX, type, 0, pair)) continue;
        if (type == SOCK_DGRAM && sendto(pair[0], "x", 1, 0, (struct sockaddr *)&a, sizeof a) == 1) breach("sent to the host");
        if (!connect(pair[0], (struct sockaddr *)&a, sizeof a)) breach("connected to the host");
    }
}

static void attribute(const char *path, const char *) { // what is stored beside a file's contents
    char value[64];
    long n = syscall(SYS_getxattr, path, "user.note", value, sizeof value);
    if (n >= 0) breach("an attribute: %.*s", (int)n, value);
}

static void devices(const char *, const char *) {
    for (int type : {S_IFCHR, S_IFBLK})
        for (int major : {1, 5, 7, 8, 10, 259}) {
            if (mknod("node", type | 0666, makedev(major, 1)) == 0) breach("made a device");
            int fd = open("node", O_RDONLY);
            if (fd >= 0) breach("opened a device");
            unlink("node");
        }
    for (const char *path : {"/dev/sda", "/dev/vda", "/dev/loop0", "/dev/loop-control", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/vsock",
                             "/dev/vhost-vsock", "/dev/ptmx", "/dev/mapper/control", "/dev/userfaultfd", "/dev/dri/card0", "/dev/rtc"})
        if (open(path, O_RDONLY | O_NONBLOCK) >= 0) breach("opened %s", path);
}

static void rights(const char *, const char *) { // more than it was given
    uid_t was = getuid();
    if (setuid(0) == 0 && was) breach("setuid");
    if (setresuid(0, 0, 0) == 0 && was) breach("setresuid");
    must_fail("setgroups", syscall(SYS_setgroups, 0, NULL));
    uint32_t head[2] = {0x20080522, 0}, caps[6] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
    must_fail("capset", syscall(SYS_capset, head, caps));
    must_fail("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0));
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) breach("no_new_privs is off");
    uint32_t have[6] = {};
    head[0] = 0x20080522;
    if (!syscall(SYS_capget, head, have) && (have[0] | have[1] | have[3] | have[4])) breach("has capabilities %x %x", have[0], have[1]);
}

static void setuid_file(const char *again, const char *) { // a copy of itself that would run as its owner
    if (*again) {
        if (geteuid() != getuid() || geteuid() == 0) breach("runs as %d", geteuid());
        return;
    }
    char data[65536];
    int from = open("/proc/self/exe", O_RDONLY), to = open("copy", O_WRONLY | O_CREAT | O_TRUNC, 0777);
    for (ssize_t n; from >= 0 && to >= 0 && (n = read(from, data, sizeof data)) > 0;)
        if (write(to, data, n) != n) break;
    if (from >= 0) close(from);
    if (to >= 0) {
        fchown(to, 0, 0) ? (void)0 : breach("gave a file to root");
        fchmod(to, 06777) ? (void)0 : (void)0;
        close(to);
    }
    for (const char *path : {"/usr/bin/su", "/bin/mount", "/usr/bin/passwd"}) {
        struct stat s;
        int fd = open(path, O_WRONLY);
        if (fd >= 0) breach("writes %s", path);
        if (!stat(path, &s) && (s.st_mode & S_ISUID)) { // nosuid and no_new_privs make it a plain file
            struct statfs f;
            if (!statfs(path, &f) && !(f.f_flags & 2) && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) breach("%s would be root", path);
        }
    }
    char *args[] = {(char *)"copy", (char *)"setuid_file", (char *)"again", NULL}, *none[] = {NULL};
    execve("copy", args, none);
}

static void processes(const char *grader, const char *) { // what can be seen of others
    DIR *d = opendir("/proc");
    int seen = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9') seen++;
    if (seen > 1) breach("%d processes are visible", seen);
    for (const char *who : {"1", "2", grader})
        for (const char *what : {"environ", "cmdline", "maps", "mem", "root/etc/hostname", "cwd/x", "fd/0", "status"}) {
            char path[128];
            if (atoi(who) == getpid()) continue;
            snprintf(path, sizeof path, "/proc/%s/%s", who, what);
            int fd = open(path, O_RDONLY | O_NONBLOCK);
            if (fd >= 0) { breach("opened %s", path); close(fd); }
        }
}

static void descriptors(const char *, const char *) { // none but the three it is given
    for (int fd = 3; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0) breach("descriptor %d is open", fd);
}

static void environment(const char *, const char *) {
    extern char **environ;
    for (char **e = environ; *e; e++) {
        int known = 0;
        for (const char *name : {"PATH=", "HOME=", "TMPDIR=", "LANG=", "LC_ALL=", "PYTHON", "OMP_", "OPENBLAS", "MKL_", "TZ=", "USER=", "TERM=", "ONLINE_JUDGE", "SHELL="})
            known |= !strncmp(*e, name, strlen(name));
        if (!known) breach("environment has %s", *e);
    }
}

static const attack attacks[] = {
    {"secrets", secrets}, {"file", file}, {"file_links", file_links}, {"outside", outside}, {"metadata", metadata}, {"emptied", emptied}, {"mounts", mounts},
    {"namespaces", namespaces}, {"network", network}, {"connects", connects}, {"datagrams", datagrams}, {"attribute", attribute}, {"devices", devices}, {"rights", rights},
    {"setuid_file", setuid_file}, {"processes", processes}, {"descriptors", descriptors}, {"environment", environment},
};

int main(int argc, char **argv) { return dispatch(attacks, argc, argv); }

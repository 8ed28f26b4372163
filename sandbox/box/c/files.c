#define _GNU_SOURCE
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

int copy_to_file(int dir, const char *name, int from, int mode) {
    int to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    off_t at = 0;
    struct stat s;
    if (to < 0 || fstat(from, &s)) return -1;
    while (at < s.st_size)
        if (sendfile(to, from, &at, s.st_size - at) <= 0) { close(to); return -1; }
    fchmod(to, mode);
    return close(to);
}

/* Return the file behind stdout: in memory, or on the box's tmpfs where the filter refuses memfd_create. */
static int output_file(void) {
    int fd = memfd_create("stdout", MFD_CLOEXEC);
    if (fd >= 0 || errno != ENOSYS) return fd;
    return openat(PROGRAM_FD, ".", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
}

/* Make the file behind stdin. The program must not make this file larger, because memory of a file counts as no
 * process's. Where the program has the box's id, it owns the file and may open it again for writing. So the
 * file is sealed once it is written, or it is opened through the read-only mount of /program. */
static void open_input(struct run *run) {
    static const char name[] = ".gradebox-stdin", path[] = "/program/.gradebox-stdin";
    char own[32];
    run->in_writer = memfd_create("stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    run->seal_input = run->in_writer >= 0;
    if (run->seal_input) {
        snprintf(own, sizeof own, "self/fd/%d", run->in_writer);
        run->in_fd = openat(PROC_FD, own, O_RDONLY | O_CLOEXEC);
    } else if (errno == ENOSYS) {
        run->in_writer = openat(PROGRAM_FD, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
        run->in_fd = open(path, O_RDONLY | O_CLOEXEC);
        unlinkat(PROGRAM_FD, name, 0);
    }
}

const char *load_program_files(uint32_t count, char *const *names, const int *fds) {
    static char loaded[MAX_FDS][256];
    static int loaded_count;
    while (loaded_count > 0) unlinkat(PROGRAM_FD, loaded[--loaded_count], 0);
    for (uint32_t i = 0; i < count; i++) {
        if (strlen(names[i]) > 255 || copy_to_file(PROGRAM_FD, names[i], fds[i], 0555)) return names[i];
        strcpy(loaded[loaded_count++], names[i]);
    }
    return NULL;
}

int private_executable(int fd) {
    static struct stat copied;
    static int kept = -1;
    static const char name[] = ".gradebox-executable", path[] = "/program/.gradebox-executable";
    struct stat s;
    if (fstat(fd, &s)) return -1;
    if (kept < 0 || s.st_ino != copied.st_ino || s.st_size != copied.st_size ||
        memcmp(&s.st_mtim, &copied.st_mtim, sizeof s.st_mtim)) {
        if (kept >= 0) close(kept);
        kept = -1;
        if (unlinkat(PROGRAM_FD, name, 0) && errno != ENOENT) return -1;
        if (copy_to_file(PROGRAM_FD, name, fd, 0555)) return -1;
        kept = open(path, O_RDONLY | O_CLOEXEC);
        /* Remove the name: a later program must not find this executable, which may be a checker. */
        if (unlinkat(PROGRAM_FD, name, 0) || kept < 0) return -1;
        copied = s;
    }
    return fcntl(kept, F_DUPFD_CLOEXEC, 10);
}

/* ---- the streams of a run -------------------------------------------------------------------- */

/* The program may open its streams again by name (/dev/stdin), also where its id is not the
 * box's, so their modes allow everybody to. */
void open_streams(struct run *run) {
    open_input(run);
    run->out_fd = output_file();
    if (pipe2(run->err_pipe, O_CLOEXEC | O_NONBLOCK)) {
        run->err_pipe[0] = run->err_pipe[1] = -1;
        return;
    }
    fcntl(run->err_pipe[1], F_SETFL, 0); /* for the program: writing to stderr blocks, as usual */
    fchmod(run->err_pipe[1], 0666);
}

void close_streams(struct run *run) {
    int *fds[] = {&run->in_fd, &run->in_writer, &run->out_fd, &run->err_pipe[0], &run->err_pipe[1]};
    for (int i = 0; i < 5; i++) {
        if (*fds[i] > 0) close(*fds[i]);
        *fds[i] = -1;
    }
}

int write_stdin(struct run *run) {
    ssize_t left = run->input.length, n = left;
    off_t at = run->input.at;
    if (run->rq->flags & STDIN_FD) return 1;
    if (run->inputs_data && left) left -= write(run->in_writer, run->inputs_data + at, left);
    else
        while (left && (n = sendfile(run->in_writer, run->inputs_fd, &at, left)) > 0) left -= n;
    if (left) return 0;
    return !run->seal_input || !fcntl(run->in_writer, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
}

/* ---- files to collect --------------------------------------------------------------------------- */

int open_plain(int dir, const char *name) {
    struct stat s;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || (!fstat(fd, &s) && S_ISREG(s.st_mode))) return fd;
    close(fd);
    return -1;
}

enum { MOST_ARCHIVED = 1024 };
static int archive_fd, archived;
static int64_t archive_left;

static int add_to_archive(int dir, const char *name) {
    struct stat s;
    off_t at = 0;
    int fd = open_plain(dir, name);
    if (fd < 0 || fstat(fd, &s)) return 0;
    archive_left -= s.st_size;
    if (archive_left >= 0 && ++archived <= MOST_ARCHIVED) {
        dprintf(archive_fd, "%zu %lld\n%s", strlen(name), (long long)s.st_size, name);
        while (at < s.st_size && archive_left >= 0)
            if (sendfile(archive_fd, fd, &at, s.st_size - at) <= 0) archive_left = -1;
    }
    close(fd);
    return archive_left < 0 || archived > MOST_ARCHIVED;
}

int archive_folder(int64_t most) {
    archived = 0;
    archive_left = most;
    if ((archive_fd = output_file()) < 0) return -1;
    each_entry(AT_FDCWD, ".", add_to_archive);
    /* An archive of more than `most` bytes tells the grader that it lacks files. */
    if ((archive_left < 0 || archived > MOST_ARCHIVED) && ftruncate(archive_fd, most + 1)) archive_left = -1;
    return archive_fd;
}

/* ---- the scratch folder: a tmpfs at /box, mounted anew after a run that changed it -------- */

static int scratch_fd = -1;
static int64_t scratch_size;
static struct statfs clean;
static struct stat clean_dirs[4];
/* Where the program has the box's id, it owns "." as well. */
static const char *const dirs[4] = {"work", "tmp", "shm", "."};

int scratch_is_clean(void) { /* ctime alone misses a change within one tick of the clock */
    struct statfs now;
    struct stat d;
    if (!box.has_scratch || !scratch_size) return 1;
    if (fstatfs(scratch_fd, &now) || now.f_bfree != clean.f_bfree || now.f_ffree != clean.f_ffree) return 0;
    for (int i = 0; i < 4; i++) {
        const struct stat *was = clean_dirs + i;
        if (fstatat(scratch_fd, dirs[i], &d, AT_SYMLINK_NOFOLLOW) || d.st_ino != was->st_ino ||
            d.st_mode != was->st_mode || memcmp(&d.st_ctim, &was->st_ctim, sizeof d.st_ctim) ||
            memcmp(&d.st_mtim, &was->st_mtim, sizeof d.st_mtim) ||
            memcmp(&d.st_atim, &was->st_atim, sizeof d.st_atim)) return 0;
    }
    return 1;
}

static int mount_scratch(int64_t bytes) {
    char options[96];
    snprintf(options, sizeof options, "mode=755,size=%lld,nr_inodes=65536", (long long)(scratch_size = bytes));
    if (chdir("/") || (scratch_fd >= 0 && umount2("/box", MNT_DETACH))) return -1;
    if (mount("box", "/box", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOATIME, options)) return -1;
    if (scratch_fd >= 0) close(scratch_fd);
    if ((scratch_fd = open("/box", O_DIRECTORY | O_CLOEXEC)) < 0) return -1;
    for (int i = 0; i < 3; i++)
        if (mkdirat(scratch_fd, dirs[i], 0777) || fchmodat(scratch_fd, dirs[i], i ? 01777 : 0777, 0)) return -1;
    for (int i = 0; i < 4; i++)
        if (fstatat(scratch_fd, dirs[i], clean_dirs + i, 0)) return -1;
    return chdir("/box/work") || fstatfs(scratch_fd, &clean) ? -1 : 0;
}

int scratch_prepare(int64_t bytes) {
    return box.has_scratch && scratch_size != bytes ? mount_scratch(bytes) : 0;
}

int scratch_clean(void) {
    return scratch_is_clean() ? 0 : mount_scratch(scratch_size);
}

int64_t scratch_bytes_held(void) {
    struct statfs f;
    return fstatfs(scratch_fd, &f) ? 0 : (int64_t)(f.f_blocks - f.f_bfree) * f.f_bsize;
}

int scratch_is_full(void) {
    struct statfs f;
    return box.has_scratch && !fstatfs(scratch_fd, &f) && (!f.f_bfree || !f.f_ffree);
}

/* ---- a folder of the host ------------------------------------------------------------------------ */

static int entries;

static int count_entry(int dir, const char *name) {
    (void)dir, (void)name;
    return ++entries > 2;
}

int folder_is_clean(void) {
    struct stat s;
    if (box.is_init) return 1;
    entries = 0;
    each_entry(WORK_FD, ".", count_entry);
    /* An empty folder has the entries . and ..; with fewer, the folder could not be read. */
    return entries == 2 && !fstat(WORK_FD, &s) && (s.st_mode & 07777) == 0700;
}

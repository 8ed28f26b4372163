// Doors into the kernel that no program here needs: shut before they look at their arguments.
#include "attack.h"
#include <linux/filter.h>

static void by_number(const char *, const char *) {
    static const struct { const char *name; long number; } calls[] = {
        {"io_uring_setup", 425}, {"io_uring_enter", 426}, {"io_uring_register", 427}, {"userfaultfd", SYS_userfaultfd},
        {"perf_event_open", SYS_perf_event_open}, {"bpf", SYS_bpf}, {"keyctl", SYS_keyctl}, {"add_key", SYS_add_key},
        {"request_key", SYS_request_key}, {"fanotify_init", SYS_fanotify_init}, {"inotify_init1", SYS_inotify_init1},
        {"name_to_handle_at", SYS_name_to_handle_at}, {"open_by_handle_at", SYS_open_by_handle_at}, {"kexec_load", SYS_kexec_load},
        {"init_module", SYS_init_module}, {"finit_module", SYS_finit_module}, {"delete_module", SYS_delete_module},
        {"swapon", SYS_swapon}, {"swapoff", SYS_swapoff}, {"acct", SYS_acct}, {"quotactl", SYS_quotactl}, {"reboot", SYS_reboot},
        {"settimeofday", SYS_settimeofday}, {"clock_settime", SYS_clock_settime}, {"adjtimex", SYS_adjtimex},
        {"clock_adjtime", SYS_clock_adjtime}, {"sethostname", SYS_sethostname}, {"setdomainname", SYS_setdomainname},
        {"syslog", SYS_syslog}, {"vhangup", SYS_vhangup}, {"shmget", SYS_shmget}, {"shmat", SYS_shmat}, {"semget", SYS_semget},
        {"msgget", SYS_msgget}, {"mq_open", SYS_mq_open}, {"mq_unlink", SYS_mq_unlink}, {"memfd_secret", 447},
        {"move_pages", SYS_move_pages}, {"migrate_pages", SYS_migrate_pages}, {"mbind", SYS_mbind},
        {"set_mempolicy", SYS_set_mempolicy}, {"vmsplice", SYS_vmsplice}, {"splice", SYS_splice}, {"tee", SYS_tee},
        {"landlock_create_ruleset", 444}, {"seccomp", SYS_seccomp}, {"remap_file_pages", SYS_remap_file_pages},
        {"lookup_dcookie", SYS_lookup_dcookie}, {"nfsservctl", 180}, {"io_setup", SYS_io_setup}, {"io_submit", SYS_io_submit},
        {"get_kernel_syms", 177}, {"lsm_set_self_attr", 460}, {"clone3", 435}, {"unknown", 1000},
#ifdef __x86_64__
        {"iopl", SYS_iopl}, {"ioperm", SYS_ioperm}, {"modify_ldt", SYS_modify_ldt}, {"uselib", SYS_uselib}, {"_sysctl", 156},
        {"x32 getpid", 0x40000000 | 39}, {"x32 execve", 0x40000000 | 520}, {"x32 ptrace", 0x40000000 | 521},
#endif
    };
    for (auto &call : calls) {
#ifndef __x86_64__
        if (call.number == 180 || call.number == 177) continue;
#endif
        refused(call.name, syscall(call.number, 0, 0, 0, 0, 0, 0));
    }
}

static void other_numbers(const char *, const char *) { // 32-bit calls have other numbers: none may run
#ifdef __x86_64__
    held();
    long result = 20; // getpid
    asm volatile("int $0x80" : "+a"(result)::"memory");
    if (result > 0) breach("a 32-bit call gave %ld", result);
#endif
}

static void terminal(const char *, const char *) {
    for (unsigned long what : {0x5412ul, 0x541Cul, 0x540Eul, 0x5480ul, 0x4B3Aul, 0x894Cul, 0x40086602ul, 0x401870C8ul, 0x40049409ul})
        for (int fd : {0, 1, 2}) {
            long result = syscall(SYS_ioctl, fd, what, "x");
            if (result != -1 || (errno != ENOTTY && errno != EBADF && errno != ENOSYS)) breach("ioctl %lx gave %ld, errno %d", what, result, errno);
        }
}

static struct sock_filter allow_everything[] = {{BPF_RET | BPF_K, 0, 0, 0x7fff0000}};
static struct sock_fprog everything = {1, allow_everything};

static void prctls(const char *, const char *) {
    must_fail("PR_SET_MM", prctl(PR_SET_MM, PR_SET_MM_EXE_FILE, 0, 0, 0));
    must_fail("securebits", prctl(PR_SET_SECUREBITS, 1, 0, 0, 0));
    must_fail("capbset", prctl(PR_CAPBSET_DROP, 0, 0, 0, 0));
    must_fail("no filter", prctl(PR_SET_SECCOMP, 0, 0, 0, 0));
    must_fail("new privileges", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
    must_fail("a filter", prctl(PR_SET_SECCOMP, 2, &everything, 0, 0));
    must_fail("core scheduling", prctl(62, 1, 0, 0, 0));
    must_fail("merged memory", prctl(67, 1, 0, 0, 0));
    must_fail("a table of futexes", prctl(78, 1, 1 << 20, 0, 0));
    prctl(PR_SET_PDEATHSIG, 0);
    prctl(PR_SET_NAME, "1) R 1 1 1", 0, 0, 0); // what reads /proc/<pid>/stat with scanf
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_TIMERSLACK, 1000000000ul);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void raised_limits(const char *, const char *) {
    for (int what : {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_CORE}) {
        struct rlimit l, more;
        getrlimit((__rlimit_resource)what, &l);
        if (l.rlim_max == RLIM_INFINITY) breach("limit %d is not set", what);
        more = {l.rlim_max + 1, l.rlim_max + 1};
        must_fail("setrlimit", setrlimit((__rlimit_resource)what, &more));
        must_fail("prlimit", prlimit(0, (__rlimit_resource)what, &more, NULL));
    }
}

static void socket_options(const char *, const char *) {
    int pair[2], one = 1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return;
    must_fail("a socket's filter", setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_FILTER, &everything, sizeof everything));
    must_fail("a program of the kernel", setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_BPF, &one, sizeof one));
    must_fail("urgent data", send(pair[0], "x", 1, MSG_OOB));
}

static const attack attacks[] = {
    {"by_number", by_number}, {"other_numbers", other_numbers}, {"terminal", terminal}, {"prctls", prctls}, {"socket_options", socket_options}, {"raised_limits", raised_limits},
};
int main(int argc, char **argv) { return dispatch(attacks, argc, argv); }

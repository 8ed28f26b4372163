"""The attacks in groups, with the required outcome of each at every level."""

from __future__ import annotations

from dataclasses import replace

from gradebox.sandbox.model import MIB
from testing.submissions.hostile.model import LIMITS, Attack

REACH = (
    Attack("reach secrets", "the host's files, /proc and devices", none="open"),
    Attack("reach file", "the expected output, by its path", argument="{secret}", none="open"),
    Attack(
        "reach file_links",
        "the expected output, through links and /proc/…/root",
        argument="{secret}",
        none="open",
    ),
    Attack("reach outside", "writing outside its folder", none="open"),
    Attack("reach metadata", "modes, owners, times of files", argument="{secret}", none="open"),
    Attack(
        "reach emptied",
        "emptying files by truncate and O_TRUNC",
        argument="{secret}",
        none="open",
    ),
    Attack("reach mounts", "mount, umount, pivot_root, the box's own mount flags"),
    Attack("reach namespaces", "unshare, setns, clone and clone3 with namespaces"),
    Attack("reach network", "sockets of every family but unix"),
    Attack("reach connects", "a unix socket of the host", argument="{socket}"),
    Attack("reach connects", "an abstract socket of the host", argument="{abstract}"),
    Attack(
        "reach datagrams", "a datagram socket of the host, by socketpair", argument="{datagrams}"
    ),
    Attack(
        "reach attribute",
        "extended attributes of the expected output",
        argument="{secret}",
        none="open",
    ),
    Attack("reach devices", "making and opening devices", none="open"),
    Attack("reach rights", "ids of other users, capabilities"),
    Attack("reach setuid_file", "setuid programs", none="open"),
    Attack("reach processes", "/proc of other processes", argument="{grader}", none="open"),
    Attack("reach descriptors", "leaked descriptors"),
    Attack("reach environment", "the host's environment"),
)

DISTURB = (
    Attack("disturb kills", "signals to the box, its parent, the grader", argument="{grader}"),
    Attack("disturb kill_everyone", "kill(-1), kill(0)", "held|crash"),
    Attack("disturb async_signals", "F_SETOWN and O_ASYNC", argument="{grader}"),
    Attack("disturb by_descriptor", "pidfd_open, pidfd_getfd", argument="{grader}"),
    Attack("disturb limits", "limits of other processes", argument="{grader}"),
    Attack("disturb user_signals", "the number of signals that its user may queue"),
    Attack("disturb priorities", "priority, affinity, scheduler", argument="{grader}"),
    Attack("disturb memory", "ptrace, process_vm, /proc/…/mem", argument="{grader}", none="open"),
    Attack("disturb page_cache", "dropping system files from the page cache"),
    Attack("disturb advice", "madvise that pages out, cools or collapses"),
    Attack("disturb leases", "leases on files, watching folders"),
)

KERNEL = (
    Attack("kernel by_number", "io_uring, bpf, perf, keyrings, System V IPC and 50 more"),
    Attack("kernel other_numbers", "32-bit system calls", "crash"),
    Attack("kernel terminal", "ioctl"),
    Attack("kernel prctls", "prctl"),
    Attack("kernel socket_options", "filters and urgent data of sockets"),
    Attack("kernel raised_limits", "raising its own limits"),
)

FORKLESS = "held"
MANY = replace(LIMITS, cpu_s=1.0, wall_s=2.0)
EXHAUST = (
    # Also "memory": the kernel frees a process that has ended, or was refused, after an RCU grace
    # period. Where that takes half a second (the machine is short of CPU), 64 MB are full before.
    Attack("exhaust fork_bomb", "a fork bomb", "cpu|wall|memory", FORKLESS, hits="processes"),
    Attack("exhaust respawning", "a fork bomb that respawns", "ends|cpu|wall", FORKLESS),
    Attack(
        "exhaust pausing_forks", "as many processes as allowed", alone=FORKLESS, hits="processes"
    ),
    Attack(
        "exhaust thread_bomb",
        "20,000 threads",
        "held|wall|cpu",
        "held|wall|cpu",
        landlock="held|wall|cpu|processes",
        hits="processes",
    ),
    Attack("exhaust daemon", "a process that outlives its parent", alone=FORKLESS),
    Attack("exhaust sibling", "a sibling process (CLONE_PARENT)"),
    Attack("exhaust stopped_child", "a stopped child that holds stderr", alone=FORKLESS),
    Attack("exhaust vfork_hang", "vfork that never returns", "wall", "held"),
    Attack("exhaust ended_leader", "the first thread ends, another sleeps", "wall"),
    Attack("exhaust cpu", "CPU time", "cpu"),
    Attack("exhaust cpu_threads", "CPU time in threads", "cpu"),
    Attack("exhaust cpu_ended_leader", "CPU time after the first thread ended", "cpu"),
    Attack("exhaust cpu_unwaited", "CPU time in children that are not waited for", "cpu", FORKLESS),
    Attack(
        "exhaust cpu_grandchildren",
        "CPU time in many short-lived children",
        "cpu",
        FORKLESS,
        limits=MANY,
    ),
    Attack("exhaust deaf", "every signal ignored and blocked", "cpu"),
    Attack("exhaust sleep_for_ever", "sleep", "wall"),
    Attack("exhaust stop_itself", "SIGSTOP to itself", "wall"),
    Attack(
        "exhaust crowd_of_sleepers",
        "threads that wake together, to gain wall time",
        "wall|cpu",
        limits=replace(LIMITS, cpu_s=5.0, processes=64),
    ),
    Attack(
        "exhaust stale_waits",
        "threads that have waited once, among many short ones, to gain wall time",
        "wall",
        argument="6",
        limits=replace(LIMITS, wall_s=2.0, processes=200),
    ),
    Attack("exhaust own_cpu_signal", "a false CPU signal", "crash"),
    Attack("exhaust own_cpu_limit", "a CPU limit set by the program", "crash|cpu"),
    Attack("exhaust timers", "a million timers", "ends|cpu|wall"),
    Attack("exhaust memory", "memory", "memory", argument="4"),
    Attack("exhaust memory_once", "memory in one piece", "memory", argument="200"),
    Attack(
        "exhaust memory_children",
        "memory in children",
        "ends|memory",
        FORKLESS,
        argument="30",
        hits="memory",
    ),
    Attack(
        "exhaust memory_ended_leader",
        "memory after the first thread ended",
        "memory",
        argument="200",
    ),
    Attack(
        "exhaust memory_shared",
        "shared pages that belong to no process",
        "memory",
        "held",
        argument="200",
    ),
    Attack(
        "exhaust memory_zero", "pages of /dev/zero", "memory", "held", argument="200", none="open"
    ),
    Attack("exhaust memory_files", "memory files", "memory", "held", argument="200"),
    Attack(
        "exhaust memory_swapped_out", "pages it asks to be swapped out", "memory", argument="256"
    ),
    Attack("exhaust memory_huge_pages", "huge pages", argument="120"),
    Attack("exhaust memory_in_input", "stdin's file, made larger", argument="30"),
    Attack(
        "exhaust memory_in_input",
        "stdin's file made larger, a short input",
        argument="30",
        stdin_bytes=10,
    ),
    Attack(
        "exhaust memory_in_input",
        "stdin's file made larger, no input",
        argument="30",
        stdin_bytes=0,
    ),
    Attack(
        "exhaust memory_beyond_output",
        "memory set aside behind stdout",
        "memory",
        "held",
        argument="30",
        limits=replace(LIMITS, memory_bytes=24 * MIB),
    ),
    Attack("exhaust pipe_sizes", "larger pipes"),
    Attack("exhaust page_tables", "page tables of empty pages", "memory", argument="200"),
    Attack(
        "exhaust page_tables_ended_leader",
        "page tables after the first thread ended",
        "memory",
        argument="200",
    ),
    Attack(
        "exhaust memory_hidden_in_output",
        "memory hidden behind a hole in stdout",
        "memory|output",
        argument="200",
    ),
    Attack("exhaust stack", "endless recursion", "memory"),
    Attack("exhaust sockets", "full pipes and sockets", "ends|memory"),
    Attack("exhaust socket_buffers", "larger buffers of sockets", "memory|held", "held"),
    Attack("exhaust sent_descriptors", "descriptors in flight", "ends|memory"),
    Attack(
        "exhaust disk",
        "the disk",
        "ends|memory|held",
        "held",
        landlock="disk",
        limits=replace(LIMITS, memory_bytes=256 * MIB),
    ),
    Attack(
        "exhaust inodes",
        "countless files",
        "ends|cpu|memory|held",
        landlock="disk|cpu",
        limits=MANY,
    ),
    Attack("exhaust deep", "folders 2,500 deep", "ends|cpu|memory", limits=MANY),
    Attack("exhaust long_names", "long names with odd bytes", "ends|cpu"),
    Attack(
        "exhaust big_file",
        "one file beyond its limit",
        "file_size",
        limits=replace(LIMITS, memory_bytes=256 * MIB),
    ),
    Attack("exhaust sparse", "a sparse file of 1 TB", "file_size"),
    Attack("exhaust open_files", "descriptors", hits="open_files"),
    Attack("exhaust syncing", "writing out the host's disks", "ends"),
    Attack("exhaust output", "output", "output"),
    Attack("exhaust output_threads", "output with SIGXFSZ ignored", "output"),
    Attack("exhaust output_hole", "8 GB of sparse stdout", "output|file_size"),
    Attack("exhaust output_mapped", "stdout grown through a mapping", "output"),
    Attack("exhaust errors", "stderr", "ends|cpu"),
    Attack("exhaust errors_wide", "stderr with a bigger pipe", "ends|cpu"),
)

OUT = ("out.txt",)
LEAVE = (
    Attack("leave files", "files in every folder", none="open"),
    Attack("leave files_removed", "files made and removed"),
    Attack("leave modes", "folders without permissions"),
    Attack("leave times", "times of folders and of its executable"),
    Attack("leave folders_moved", "the writable folders moved away"),
    Attack("leave trash_names", "the names that the box's cleanup uses"),
    Attack("leave executable", "its own executable", none="open"),
    Attack("leave attributes", "extended attributes", none="open"),
    Attack("leave write_hints", "write hints of files"),
    Attack("leave sockets", "listening sockets and a process"),
    Attack("leave locks", "locks on shared files and a process"),
    Attack("leave standard", "flags, modes, seals and locks on descriptors 0 to 2"),
    Attack("leave closed", "every descriptor closed, then sleep", "wall"),
    Attack("leave rewritten", "stdout truncated and extended", "ends"),
    Attack("leave output_as_file", "an output file that is a link to /etc/passwd", collect=OUT),
    Attack(
        "leave output_as_link",
        "an output file that is a link to the expected output",
        argument="{secret}",
        collect=OUT,
    ),
    Attack(
        "leave output_as_hard_link",
        "an output file that is a hard link to it",
        argument="{secret}",
        collect=OUT,
        none="open",
    ),
    Attack("leave output_as_fifo", "an output file that is a pipe", collect=OUT),
    Attack("leave output_as_folder", "an output file that is a folder", collect=OUT),
    Attack("leave output_as_socket", "an output file that is a socket", collect=OUT),
    Attack("leave output_as_proc", "an output file that is a link into /proc", collect=OUT),
    Attack(
        "leave output_as_hole", "an output file of 60 MB of holes", "file_size|output", collect=OUT
    ),
    Attack(
        "leave folder_as_link", "the working folder as a link", argument="{secret}", collect=OUT
    ),
    Attack("leave cores", "a core dump", "crash"),
    Attack("leave inherited", "umask, signals, priority, limits of its own"),
    Attack(
        "leave page_cache",
        "file pages charged to the group, to enlarge the next run's limit",
        "ends|memory",
        argument="60",
        limits=replace(MANY, memory_bytes=256 * MIB),
    ),
)

FORK = (
    Attack("fork descriptors", "descriptors of a template"),
    Attack("fork signals", "signals to the supervisor and its parent"),
    Attack("fork processes", "/proc and memory of templates", none="open"),
    Attack("fork namespaces", "namespaces, which a template may make"),
    Attack("fork rights", "capabilities, filters and the core of a template"),
    Attack("fork input", "stdin's file", "held|ends", none="open"),
    Attack(
        "fork interpreter",
        "modules, signals, timers, all memory overwritten",
        "ends|crash",
        none="open",
    ),
    Attack("fork own_file", "the call at which a template waits"),
    Attack("fork children", "as many children as allowed, left behind", alone="held"),
    Attack("fork threads", "threads at its end"),
    Attack("fork fork_bomb", "a fork bomb in Python", "cpu|wall|memory", "cpu|wall"),
    Attack("fork stop", "SIGSTOP to itself, in Python", "wall"),
    Attack("fork memory", "memory, until the kernel chooses whom to end", "memory|ends"),
    Attack("fork memory_children", "the same in children", "memory|ends"),
    Attack("fork vfork", "a child in its memory that never ends", "wall|ends|crash"),
)

GROUPS: dict[str, tuple[Attack, ...]] = {
    "Access what belongs to others": REACH,
    "Disturb others": DISTURB,
    "Attack the kernel": KERNEL,
    "Exceed the limits": EXHAUST,
    "Affect the next run": LEAVE,
    "Python programs that start by fork": FORK,
}
ATTACKS = tuple(attack for group in GROUPS.values() for attack in group)

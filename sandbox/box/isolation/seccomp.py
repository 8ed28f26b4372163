"""Build the seccomp program of a box: an allow list, as bytes that the kernel loads.

Other system calls fail with ENOSYS, as on an older kernel, so that runtimes fall back by
themselves. Programs inherit the filter from the box. It therefore allows the few calls that only
the box needs; they require a capability that programs never have.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass
from pathlib import Path

from gradebox.sandbox.errors import SandboxUnavailable


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


ARCHES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
NUMBERS: dict[str, tuple[int | None, int | None]] = {}  # call → number on x86_64, on aarch64
ALLOWED: list[str] = []
REFUSED: dict[int, list[str]] = {errno.EPERM: [], 0: []}
_KINDS = {"allowed": ALLOWED, "refused": REFUSED[errno.EPERM], "done": REFUSED[0], "special": []}
for _line in Path(__file__).with_name("syscalls.txt").read_text().splitlines():
    if not _line.startswith("#"):
        _name, _x86_64, _aarch64, _kind = _line.split()
        NUMBERS[_name] = _number(_x86_64), _number(_aarch64)
        _KINDS[_kind].append(_name)

# Landlock does not cover these: they would reach every file of the user, by name.
CHANGING = ("chmod", "fchmod", "chown", "fchown", "lchown", "utime", "futime")
CHANGES_OF_FILES = [name for name in ALLOWED if name.startswith(CHANGING)]
# Landlock does not cover these either: they would read what is stored beside files' contents.
EXTENDED_ATTRIBUTES = [name for name in ALLOWED if name.endswith("xattr")]

CLONE_THREAD, CLONE_NEWUTS, CLONE_NEWPID = 0x00010000, 0x04000000, 0x20000000
NEVER_NEW = 0x10000000 | 0x00020000 | 0x40000000 | 0x08000000 | 0x02000000 | 0x00000080
AF_UNIX = 1
SCHED_OTHER = 0
TERMINAL_QUERIES = (0x5401, 0x5413, 0x541B, 0x5421, 0x5451, 0x5450, 0x540F)
SCRATCH_MOUNT, MNT_DETACH = 2 | 4 | 1024, 2  # nosuid, nodev, noatime
MY_PID = 0xF1F1F1F1  # replaced by the program's pid, see c/child.c
F_SETOWN, F_SETOWN_EX, F_SETSIG = 8, 15, 10
# The first command that only Linux has, and those of them that are allowed: F_DUPFD_CLOEXEC,
# F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS. The others include leases and delegations, for which
# whoever opens the file next waits up to 45 s, signals about changes in a folder, and larger pipes.
F_LINUX, F_ALLOWED = 1024, (1030, 1032, 1033, 1034)
SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")

LD, JEQ, JSET, JGE, RET, AND = 0x20, 0x15, 0x45, 0x35, 0x06, 0x54
ALLOW, KILL = 0x7FFF0000, 0x80000000
NR, ARCH, ARG0, ARG1, ARG2, ARG3 = 0, 4, 16, 24, 32, 40
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
# Huge pages of the reserved pool are charged to nobody.
MAP_HUGETLB, MFD_HUGETLB = 0x40000, 0x4
# Advice from this number on is refused: MADV_COLD, MADV_PAGEOUT and MADV_COLLAPSE change which
# pages of a shared file are in memory. Linux before 5.4 lacks it, so runtimes do without it.
MADV_COLD = 20
SO_SNDBUF, SO_SNDBUFFORCE = 7, 32
O_ACCMODE, O_WRONLY, O_RDWR, O_TRUNC = 0o3, 0o1, 0o2, 0o1000
SO_ATTACH = (26, 50, 51, 52)  # programs that the kernel compiles, in memory that nothing counts
SOCK_STREAM, SOCK_SEQPACKET, SOCK_TYPE_MASK = 1, 5, 0xF
MSG_OOB = 1  # refused: no program needs it, and the kernel's code for unix sockets had holes in it
PR_SET_SECCOMP, PR_SET_DUMPABLE, PR_CAP_AMBIENT = 22, 4, 47
# What runtimes and libraries use: signals at a parent's end, dumpable, names, timer slack, machine
# checks, subreaper, no_new_privs, huge pages, ambient capabilities, vector lengths, speculation,
# tagged addresses, memory that is never executable, the auxiliary vector, tracers, names of memory.
# Others fail as on an older kernel: some take memory that nothing counts (PR_FUTEX_HASH).
PRCTLS = (
    *(1, 2, 3, PR_SET_DUMPABLE, 7, 8, 15, 16, 21, 23, 27, 29, 30, 33, 34, 36, 37, 38, 39, 40),
    *(41, 42, 47, 50, 51, 52, 53, 55, 56, 65, 66, 0x41555856, 0x59616D61, 0x53564D41),
)


@dataclass(frozen=True)
class Filter:
    """The parts of a filter that depend on the box.

    fork        programs may start processes; otherwise only threads, so that the CPU time of the
                process is that of the whole run
    counted     a control group counts memory; otherwise memory that is not part of a process's size
                (shared pages without a file) is refused
    mounts      the box has a file system of its own, in which it remounts its scratch folder;
                otherwise the host's sockets and attributes of files must be out of reach
    run_groups  the box starts each run in a control group of its own, by clone3, whose flags a
                filter cannot see: programs must get `for_programs` as well
    templates   the box has processes from which programs are forked, which need more than programs:
                programs must get `for_programs` as well
    alone       no namespace hides the host's processes: a program may signal only itself (the
                launcher fills in its pid), and not change modes, owners and times of files or
                whether /proc may inspect it
    truncates   files that the program may not write to are protected from being emptied by other
                means; otherwise only files that it opens for writing can be emptied
    """

    fork: bool = True
    counted: bool = True
    mounts: bool = True
    run_groups: bool = False
    templates: bool = False
    alone: bool = False
    truncates: bool = True


_ALLOW = (RET, 0, 0, ALLOW)


def _fail(number: int) -> tuple[int, int, int, int]:
    return (RET, 0, 0, 0x00050000 | number)


def build(what: Filter, machine: str | None = None) -> bytes:
    """Return the program for a machine (default: this), an array of struct sock_filter.

    Raises SandboxUnavailable for a machine without a column in the table of system call numbers:
    with another machine's numbers a filter would allow anything.
    """
    column, code = _checked(machine)
    code += [
        (LD, 0, 0, NR),
        (JGE, 0, 1, 0x40000000),  # the x32 numbers of x86_64
        _fail(errno.ENOSYS),
    ]

    def rule(name: str, body: list[tuple[int, int, int, int]]) -> None:
        number = NUMBERS[name][column]
        if number is not None:
            code.append((JEQ, 0, len(body), number))
            code.extend(body)

    conditional = _conditional(what)
    # Rules with conditions come first, because since Linux 5.11 the kernel runs the filter only for
    # these: it remembers which calls are allowed whatever their arguments.
    for name, body in conditional.items():
        rule(name, body)
    for name in ALLOWED:
        if name not in conditional:
            rule(name, [_ALLOW])
    for number, names in REFUSED.items():
        for name in names:
            if name not in conditional:
                rule(name, [_fail(number)])
    code.append(_fail(errno.ENOSYS))
    return _packed(code)


def for_programs(what: Filter, machine: str | None = None) -> bytes:
    """Return a second filter, for programs whose box may do more than they; may be empty."""
    column, code = _checked(machine)
    code.append((LD, 0, 0, NR))
    rules: dict[str, list[tuple[int, int, int, int]]] = {}
    if what.run_groups or what.templates:
        rules["prctl"] = _never(ARG0, _options_of_the_box(what), errno.EINVAL)
    if what.run_groups:
        rules["clone3"] = [_fail(errno.ENOSYS)]
    if what.templates:
        rules["sched_setaffinity"] = [_fail(errno.EPERM)]
    if what.templates and not what.fork:
        again = _fail(errno.EAGAIN)
        rules |= {"fork": [again], "vfork": [again]}
        rules["clone"] = [(LD, 0, 0, ARG0), (JSET, 1, 0, CLONE_THREAD), again, _ALLOW]
    for name, body in rules.items():
        number = NUMBERS[name][column]
        if number is not None:
            code += [(JEQ, 0, len(body), number), *body]
    return _packed([*code, _ALLOW]) if rules else b""


def _options_of_the_box(what: Filter) -> tuple[int, ...]:
    """Return the options of prctl that the box needs and programs are refused."""
    filters = (PR_SET_SECCOMP,) if what.run_groups or what.templates else ()
    return (*filters, PR_CAP_AMBIENT) if what.templates else filters


def _packed(code: list[tuple[int, int, int, int]]) -> bytes:
    return b"".join(struct.pack("=HBBI", *line) for line in code)


def _checked(machine: str | None) -> tuple[int, list[tuple[int, int, int, int]]]:
    """Return a machine's column in the table, and the code that kills on another machine."""
    machine = machine or platform.machine()
    if machine not in ARCHES:
        raise SandboxUnavailable(
            f"no system call table for {machine!r}; known: {', '.join(ARCHES)} "
            "(sandbox/box/isolation/syscalls.txt)"
        )
    column, audit = ARCHES[machine]
    return column, [(LD, 0, 0, ARCH), (JEQ, 1, 0, audit), (RET, 0, 0, KILL)]


def _conditional(what: Filter) -> dict[str, list[tuple[int, int, int, int]]]:
    again = _fail(errno.EAGAIN)
    fork = what.fork or what.templates
    clone = [
        (LD, 0, 0, ARG0),
        (JSET, 0, 1, NEVER_NEW),
        _fail(errno.EPERM),
        # Without fork, a process can only be made together with a namespace. That requires a
        # capability, which the box has and a program does not.
        (JSET, 0, 1, 0 if fork else CLONE_THREAD | CLONE_NEWUTS | CLONE_NEWPID),
        _ALLOW,
        _ALLOW if fork else again,
    ]
    made = [_ALLOW] if fork else [again]
    rules = {
        "mmap": _mmap(what),
        "madvise": [(LD, 0, 0, ARG2), (JGE, 0, 1, MADV_COLD), _fail(errno.EINVAL), _ALLOW],
        "fcntl": _fcntl(what),
        "memfd_create": [
            *((LD, 0, 0, ARG1), (JSET, 0, 1, MFD_HUGETLB), _fail(errno.EINVAL)),
            _ALLOW,
        ],
        "clone": clone,
        "fork": made,
        "vfork": made,
        "clone3": [_ALLOW if what.run_groups else _fail(errno.ENOSYS)],
        "socket": _only(ARG0, (AF_UNIX,), errno.EAFNOSUPPORT),
        "socketpair": _only(ARG0, (AF_UNIX,), errno.EAFNOSUPPORT),
        "prlimit64": _only(ARG0, (0,), errno.EPERM),
        "prctl": _only(ARG0, (*PRCTLS, *_options_of_the_box(what)), errno.EINVAL),
        "setsockopt": _never(ARG2, SO_ATTACH, errno.EPERM),
        "sendto": _without(ARG3, MSG_OOB),
        "sendmsg": _without(ARG2, MSG_OOB),
        "sendmmsg": _without(ARG3, MSG_OOB),
        "setpriority": [
            *((LD, 0, 0, ARG1), (JEQ, 1, 0, 0), _fail(errno.EPERM)),
            *_only(ARG0, (0,), errno.EPERM),
        ],
        "ioctl": _only(ARG1, TERMINAL_QUERIES, errno.ENOTTY),
        # Setting the default scheduler is reported as done: Mono would complain on stdout.
        "sched_setscheduler": [
            *((LD, 0, 0, ARG1), (JEQ, 0, 1, SCHED_OTHER), _fail(0)),
            _fail(errno.EPERM),
        ],
    }
    if what.alone:
        rules["pidfd_open"] = [_fail(errno.ENOSYS)]
        rules |= {name: _only(ARG0, (MY_PID, 0), errno.EPERM) for name in SIGNALS}
        rules |= {name: [_fail(errno.EPERM)] for name in CHANGES_OF_FILES}
        harmless = tuple(option for option in PRCTLS if option != PR_SET_DUMPABLE)
        rules["prctl"] = _only(ARG0, harmless, errno.EPERM)
    if not what.counted:
        rules["memfd_create"] = [_fail(errno.ENOSYS)]
        # fallocate would set memory aside behind the end of stdout.
        rules["fallocate"] = [_fail(errno.EOPNOTSUPP)]
        # Setting a send buffer's size does nothing but reports success: less may be given anyway.
        size = [(LD, 0, 0, ARG2), (JEQ, 1, 0, SO_SNDBUF), (JEQ, 0, 1, SO_SNDBUFFORCE), _fail(0)]
        rules["setsockopt"] = [*size, *rules["setsockopt"]]
    if not what.truncates:
        rules |= {"open": _no_emptying(ARG1), "openat": _no_emptying(ARG2)}
        rules["truncate"] = [_fail(errno.EACCES)]
        rules["openat2"] = [_fail(errno.ENOSYS)]  # its flags are out of a filter's sight
    if what.templates:
        rules["sched_setaffinity"] = [_ALLOW]
    if not what.mounts:
        # Datagram sockets of a pair can also send to any other socket of the host. Rust starts its
        # linker with a pair of SOCK_SEQPACKET, which can't.
        rules["socket"] = [_fail(errno.EAFNOSUPPORT)]
        kind = [(LD, 0, 0, ARG1), (AND, 0, 0, SOCK_TYPE_MASK)]
        pair = [*kind, (JEQ, 2, 0, SOCK_STREAM), (JEQ, 1, 0, SOCK_SEQPACKET)]
        rules["socketpair"] = [*pair, _fail(errno.EPROTONOSUPPORT), *rules["socketpair"]]
        rules |= {name: [_fail(errno.EOPNOTSUPP)] for name in EXTENDED_ATTRIBUTES}
    else:
        rules["mount"] = _only(ARG3, (SCRATCH_MOUNT,), errno.EPERM)
        rules["umount2"] = _only(ARG1, (MNT_DETACH,), errno.EPERM)
    return rules


def _mmap(what: Filter) -> list[tuple[int, int, int, int]]:
    both = MAP_SHARED | MAP_ANONYMOUS
    shared = [(AND, 0, 0, both), (JEQ, 0, 1, both), _fail(errno.EPERM)]
    huge = [(LD, 0, 0, ARG3), (JSET, 0, 1, MAP_HUGETLB), _fail(errno.ENOMEM)]
    return [*huge, *([] if what.counted else shared), _ALLOW]


def _fcntl(what: Filter) -> list[tuple[int, int, int, int]]:
    n = len(F_ALLOWED)
    known = [(JEQ, n - i + 1, 0, command) for i, command in enumerate(F_ALLOWED)]
    linux = [(LD, 0, 0, ARG1), *known, (JGE, 0, 1, F_LINUX), _fail(errno.EINVAL)]
    signals = _never(ARG1, (F_SETOWN, F_SETOWN_EX, F_SETSIG), errno.EPERM)
    return [*linux, *(signals if what.alone else [_ALLOW])]


def _no_emptying(flags: int) -> list[tuple[int, int, int, int]]:
    """Refuse O_TRUNC except with O_WRONLY or O_RDWR: mode 3 is not checked as writing."""
    return [
        *((LD, 0, 0, flags), (JSET, 0, 4, O_TRUNC), (AND, 0, 0, O_ACCMODE)),
        *((JEQ, 2, 0, O_WRONLY), (JEQ, 1, 0, O_RDWR), _fail(errno.EACCES)),
        _ALLOW,
    ]


def _only(argument: int, values: tuple[int, ...], error: int) -> list[tuple[int, int, int, int]]:
    """Allow the call when the low word of an argument is one of `values`."""
    n = len(values)
    tests = [(JEQ, n - i, 0, value) for i, value in enumerate(values)]
    return [(LD, 0, 0, argument), *tests, _fail(error), _ALLOW]


def _never(argument: int, values: tuple[int, ...], error: int) -> list[tuple[int, int, int, int]]:
    """Refuse the call when the low word of an argument is one of `values`."""
    n = len(values)
    tests = [(JEQ, n - i, 0, value) for i, value in enumerate(values)]
    return [(LD, 0, 0, argument), *tests, _ALLOW, _fail(error)]


def _without(argument: int, flag: int) -> list[tuple[int, int, int, int]]:
    """Refuse the call when the low word of an argument has a flag."""
    return [(LD, 0, 0, argument), (JSET, 0, 1, flag), _fail(errno.EOPNOTSUPP), _ALLOW]

"""The decisions of the filter for each system call, by an independent interpreter."""

from __future__ import annotations

import errno
import itertools
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from textwrap import wrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.sandbox.box.isolation.seccomp import (
    ALLOWED,
    ARCHES,
    CHANGES_OF_FILES,
    MY_PID,
    NUMBERS,
    REFUSED,
    Filter,
    build,
)
from gradebox.sandbox.errors import SandboxUnavailable

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
MACHINES = tuple(ARCHES)
RUNS = Filter()
FORKLESS = Filter(fork=False, counted=False)
ALONE = Filter(fork=False, counted=False, mounts=False, alone=True)
# Landlock before version 3, for programs and for compilers.
EMPTYING = Filter(fork=False, counted=False, mounts=False, alone=True, truncates=False)
EMPTYING_COMPILER = Filter(mounts=False, truncates=False)
KINDS = (RUNS, FORKLESS, ALONE, Filter(mounts=False, counted=False), EMPTYING, EMPTYING_COMPILER)
HIGH = 2**32  # the kernel takes the low word of these arguments


Line = tuple[int, int, int, int]  # operation, jumps where it holds and where it doesn't, operand
Row = tuple[str, tuple[int, ...], int]  # a call, its arguments, the decision


@cache
def lines_of(what: Filter, machine: str) -> list[Line]:
    return list(struct.iter_unpack("=HBBI", build(what, machine)))


def decide(lines: list[Line], machine: int, number: int, args: tuple[int, ...] = ()) -> int:
    """Return the kernel's decision: an independent interpreter of classic BPF."""
    args = (*args, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=iIQ6Q", number if number < 2**31 else number - 2**32, machine, 0, *args)
    at = value = 0
    for _ in range(len(lines) + 1):
        operation, yes, no, k = lines[at]
        at += 1
        if operation == 0x20:  # load a word
            (value,) = struct.unpack_from("=I", data, k)
        elif operation == 0x54:  # and
            value &= k
        elif operation == 0x06:  # return
            return int(k)
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k), 0x25: value > k}
            at += yes if holds[operation] else no
    raise AssertionError("the program does not end")


def answer(what: Filter, machine: str, name: str, *args: int) -> int:
    """Return ALLOW, KILL, or the errno that the call returns."""
    column, audit = ARCHES[machine]
    number = NUMBERS[name][column]
    assert number is not None
    got = decide(lines_of(what, machine), audit, number, args)
    return got if got in (ALLOW, KILL) else got - ERRNO


def other_answers(what: Filter, machine: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of calls that the machine has, with other answers than the wanted ones."""
    column = ARCHES[machine][0]
    return [
        (name, args, got)
        for name, args, wanted in rows
        if NUMBERS[name][column] is not None
        and (got := answer(what, machine, name, *args)) != wanted
    ]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("what", KINDS)
def test_jumps_stay_inside_and_all_paths_return(machine: str, what: Filter) -> None:
    lines = lines_of(what, machine)
    assert len(lines) < 2048
    for at, (operation, yes, no, _) in enumerate(lines):
        if operation not in (0x06, 0x20, 0x54):
            assert at + 1 + max(yes, no) < len(lines)
    assert lines[-1][0] == 0x06


@pytest.mark.parametrize("machine", MACHINES)
@given(number=st.integers(0, 2**32 - 1), args=st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_unlisted_calls_fail_with_enosys(machine: str, number: int, args: list[int]) -> None:
    column, audit = ARCHES[machine]
    named = {NUMBERS[n][column] for n in NUMBERS}
    if number not in named:
        assert decide(lines_of(RUNS, machine), audit, number, tuple(args)) == ERRNO | errno.ENOSYS


@pytest.mark.parametrize("what", KINDS)
@given(audit=st.integers(0, 2**32 - 1), number=st.integers(0, 500))
def test_calls_of_another_architecture_end_the_program(
    what: Filter, audit: int, number: int
) -> None:
    if audit != ARCHES["x86_64"][1]:
        assert decide(lines_of(what, "x86_64"), audit, number) == KILL


def test_32_bit_and_x32_calls_are_not_allowed() -> None:
    code, (_, audit) = lines_of(RUNS, "x86_64"), ARCHES["x86_64"]
    assert decide(code, 0x40000003, 20) == KILL  # i386
    for number in (0, 59, 101, 520, 521):
        assert decide(code, audit, 0x40000000 | number) == ERRNO | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_are_refused_by_name(machine: str) -> None:
    for number, names in REFUSED.items():
        for name in names:
            for what in KINDS:
                if NUMBERS[name][ARCHES[machine][0]] is not None:
                    assert answer(what, machine, name) == number


BY_ARGUMENTS: Sequence[Row] = [
    ("socket", (1, 1, 0), ALLOW),
    ("socket", (2, 1, 0), errno.EAFNOSUPPORT),
    ("socket", (16, 3, 0), errno.EAFNOSUPPORT),
    ("socket", (40, 1, 0), errno.EAFNOSUPPORT),
    ("socket", (2**32 + 2, 1, 0), errno.EAFNOSUPPORT),
    ("prlimit64", (0, 7, 0, 0), ALLOW),
    ("prlimit64", (1, 7, 0, 0), errno.EPERM),
    ("prlimit64", (2**32 + 1, 7, 0, 0), errno.EPERM),
    ("clone", (0x11,), ALLOW),
    ("clone", (0x10000000 | 0x11,), errno.EPERM),
    ("clone", (0x00020000 | 0x11,), errno.EPERM),
    ("clone", (0x40000000 | 0x11,), errno.EPERM),
    ("clone", (0x02000000 | 0x11,), errno.EPERM),
    ("clone3", (0, 0), errno.ENOSYS),
    ("unshare", (0x10000000,), errno.EPERM),
    ("ioctl", (0, 0x5401), ALLOW),
    ("ioctl", (0, 0x5412), errno.ENOTTY),
    ("ioctl", (0, 2**32 + 0x5412), errno.ENOTTY),
    ("setpriority", (0, 0, 5), ALLOW),
    ("setpriority", (0, 1, 5), errno.EPERM),
    ("setpriority", (2, 0, 5), errno.EPERM),
    ("mount", (0, 0, 0, 2 | 4 | 1024), ALLOW),
    ("mount", (0, 0, 0, 4096), errno.EPERM),
    ("mount", (0, 0, 0, 32), errno.EPERM),
    ("umount2", (0, 2), ALLOW),
    ("umount2", (0, 0), errno.EPERM),
    ("memfd_create", (0, 0), ALLOW),
    ("mmap", (0, 4096, 3, 0x21), ALLOW),
    ("fallocate", (1, 1, 0, 4096), ALLOW),
    ("setsockopt", (3, 1, 7, 0, 4), ALLOW),
    ("truncate", (0, 0), ALLOW),
    ("openat2", (0, 0, 0, 24), ALLOW),
    ("openat", (0, 0, 0o1003), ALLOW),
    ("prctl", (15, 0), ALLOW),  # PR_SET_NAME
    ("prctl", (22, 2), errno.EINVAL),  # PR_SET_SECCOMP
    ("prctl", (78, 1), errno.EINVAL),  # PR_FUTEX_HASH
    ("prctl", (HIGH | 62, 1), errno.EINVAL),  # PR_SCHED_CORE
    ("fcntl", (0, 1036), errno.EINVAL),  # F_SET_RW_HINT
    ("setsockopt", (0, 1, 26), errno.EPERM),  # SO_ATTACH_FILTER
    ("sendto", (0, 0, 0, 0x4000), ALLOW),
    ("sendto", (0, 0, 0, 0x4001), errno.EOPNOTSUPP),  # MSG_OOB
    ("sendmsg", (0, 0, 1), errno.EOPNOTSUPP),
    ("sendmmsg", (0, 0, 0, 1), errno.EOPNOTSUPP),
]


@pytest.mark.parametrize("machine", MACHINES)
def test_decisions_that_depend_on_arguments(machine: str) -> None:
    assert other_answers(RUNS, machine, BY_ARGUMENTS) == []


EVERYWHERE: Sequence[Row] = [
    # Advice is reported as followed, whatever it is.
    ("fadvise64", (3, 0, 0, 4), 0),
    ("fadvise64", (3, 0, 0, HIGH | 4), 0),
    ("fadvise64", (3, 0, 0, 2), 0),
    *(("madvise", (0, 4096, advice), ALLOW) for advice in (0, 3, 4, 8, 9, 14, 15, 18, 19)),
    *(("madvise", (0, 4096, advice), errno.EINVAL) for advice in (20, 21, 25, 100, 2**32 - 1)),
    ("madvise", (0, 4096, HIGH | 21), errno.EINVAL),
    ("madvise", (0, 4096, HIGH | 4), ALLOW),
    # Descriptors, flags, locks of files and of open files, sizes of pipes, seals.
    *(("fcntl", (3, command), ALLOW) for command in (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38)),
    *(("fcntl", (3, command), ALLOW) for command in (1030, 1032, 1033, 1034)),
    # Leases, notices, pipes, hints, delegations, and what may come later.
    *(("fcntl", (3, command), errno.EINVAL) for command in (1024, 1025, 1026, 1031, 1036)),
    *(("fcntl", (3, command), errno.EINVAL) for command in (1040, 1050, 2**32 - 1)),
    ("fcntl", (3, HIGH | 1024), errno.EINVAL),
    ("mmap", (0, 4096, 3, 0x22), ALLOW),
    ("mmap", (0, 4096, 3, 0x22 | 21 << 26), ALLOW),  # ignored without the flag itself
    ("mmap", (0, 4096, 3, 0x40022), errno.ENOMEM),
    ("mmap", (0, 4096, 3, 0x40021), errno.ENOMEM),
    ("mmap", (0, 4096, 3, 0x44022 | 30 << 26), errno.ENOMEM),
    ("mmap", (0, 4096, 3, HIGH | 0x40022), errno.ENOMEM),
    ("openat", (0, 0, 0o1102, 0o600), ALLOW),
]


@pytest.mark.parametrize("machine", MACHINES)
def test_what_changes_files_and_memory_of_others(machine: str) -> None:
    for what in KINDS:
        assert other_answers(what, machine, EVERYWHERE) == [], what


@pytest.mark.parametrize("machine", MACHINES)
def test_memory_files_of_huge_pages_are_refused(machine: str) -> None:
    for flags in (4, 4 | 1, 4 | 2 | 21 << 26, HIGH | 4):
        assert answer(RUNS, machine, "memfd_create", 0, flags) == errno.EINVAL
        assert answer(FORKLESS, machine, "memfd_create", 0, flags) == errno.ENOSYS
    for flags in (0, 1, 2, 3, 0x10, 21 << 26):
        assert answer(RUNS, machine, "memfd_create", 0, flags) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("what", [EMPTYING, EMPTYING_COMPILER])
def test_where_landlock_guards_no_truncation_only_writers_empty_files(
    machine: str, what: Filter
) -> None:
    for name, before in (("open", (0,)), ("openat", (0, 0))):
        if NUMBERS[name][ARCHES[machine][0]] is None:
            continue
        for more in (0, 0o100, 0o2000000, 0o10000000, HIGH):
            for mode in (0, 3):  # to read; neither to read nor to write, which Landlock allows
                flags = mode | 0o1000 | more
                assert answer(what, machine, name, *before, flags) == errno.EACCES
                assert answer(what, machine, name, *before, mode | more) == ALLOW
            for mode in (1, 2):
                assert answer(what, machine, name, *before, mode | 0o1000 | more) == ALLOW
    assert answer(what, machine, "truncate", 0, 0) == errno.EACCES
    assert answer(what, machine, "ftruncate", 3, 0) == ALLOW
    assert answer(what, machine, "openat2", 0, 0, 0, 24) == errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("what", KINDS)
def test_what_the_kernel_filters_comes_first(machine: str, what: Filter) -> None:
    """It runs the filter only for calls whose arguments matter; these are on hot paths."""
    numbers = [k for operation, _, _, k in lines_of(what, machine) if operation == 0x15]
    column = ARCHES[machine][0]
    for hot in ("mmap", "madvise", "fcntl"):
        assert numbers.index(NUMBERS[hot][column]) < numbers.index(NUMBERS["write"][column])


WITHOUT_A_GROUP: Sequence[Row] = [
    ("fork", (), errno.EAGAIN),
    ("vfork", (), errno.EAGAIN),
    ("clone", (0x11,), errno.EAGAIN),
    ("clone", (0x00010000 | 0x100 | 0x800,), ALLOW),
    ("memfd_create", (0, 0), errno.ENOSYS),
    ("mmap", (0, 4096, 3, 0x21), errno.EPERM),
    ("mmap", (0, 4096, 3, 0x22), ALLOW),
    ("mmap", (0, 4096, 1, 0x01), ALLOW),
    ("fallocate", (1, 1, 0, 4096), errno.EOPNOTSUPP),
    ("setsockopt", (3, 1, 7, 0, 4), 0),  # reported as done
    ("setsockopt", (3, HIGH | 1, HIGH | 32, 0, 4), 0),
    ("setsockopt", (3, 1, 8, 0, 4), ALLOW),
    ("setsockopt", (3, 1, 50, 0, 4), errno.EPERM),
]


@pytest.mark.parametrize("machine", MACHINES)
def test_without_a_group_no_memory_is_uncounted(machine: str) -> None:
    assert other_answers(FORKLESS, machine, WITHOUT_A_GROUP) == []
    assert other_answers(ALONE, machine, WITHOUT_A_GROUP) == []


@pytest.mark.parametrize("machine", MACHINES)
def test_without_namespaces_a_program_signals_only_itself(machine: str) -> None:
    for name in ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
        assert answer(ALONE, machine, name, MY_PID, 9) == ALLOW
        for other in (1, 2**32 - 1, MY_PID - 1):
            assert answer(ALONE, machine, name, other, 9) == errno.EPERM
    for name in CHANGES_OF_FILES:
        if NUMBERS[name][ARCHES[machine][0]] is not None:
            assert answer(ALONE, machine, name) == errno.EPERM
    assert answer(ALONE, machine, "socket", 1, 1, 0) == errno.EAFNOSUPPORT
    assert answer(ALONE, machine, "mount", 0, 0, 0, 6) == errno.ENOSYS
    for command in (8, 15, 10):
        assert answer(ALONE, machine, "fcntl", 0, command) == errno.EPERM
    assert answer(ALONE, machine, "fcntl", 0, 4) == ALLOW
    assert answer(ALONE, machine, "prctl", 4, 0) == errno.EPERM
    assert answer(ALONE, machine, "prctl", 15, 0) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_without_namespaces_the_sockets_of_the_host_are_out_of_reach(machine: str) -> None:
    for what in KINDS:
        for kind in (1, 1 | 0o2004000):  # SOCK_STREAM, also with flags
            assert answer(what, machine, "socketpair", 1, kind) == ALLOW
            assert answer(what, machine, "socketpair", 2, kind) == errno.EAFNOSUPPORT
        for kind in (2, 5):
            wanted = ALLOW if what.mounts else errno.EPROTONOSUPPORT
            assert answer(what, machine, "socketpair", 1, kind) == wanted
        wanted = ALLOW if what.mounts else errno.EAFNOSUPPORT
        assert answer(what, machine, "socket", 1, 1) == wanted
        wanted = ALLOW if what.mounts else errno.EOPNOTSUPP
        assert answer(what, machine, "getxattr") == wanted


def test_the_placeholder_is_not_a_valid_pid() -> None:
    """The launcher replaces it by the program's pid."""
    assert MY_PID > 2**22


def test_every_name_is_known_and_listed_once() -> None:
    refused = [name for names in REFUSED.values() for name in names]
    assert not set(ALLOWED) & set(refused)
    assert len(ALLOWED) == len(set(ALLOWED))
    assert set(ALLOWED) | set(refused) <= set(NUMBERS)


def test_numbers_are_unique_for_each_architecture() -> None:
    for column in (0, 1):
        numbers = [row[column] for row in NUMBERS.values() if row[column] is not None]
        assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("machine", ["riscv64", "i686", "armv7l", ""])
def test_a_machine_without_a_column_is_refused(machine: str) -> None:
    if machine:
        with pytest.raises(SandboxUnavailable, match=f"no system call table for '{machine}'"):
            build(RUNS, machine)


def test_the_numbers_fit_this_machine() -> None:
    """Calling getpid by its number works."""
    import ctypes
    import os
    import platform

    if platform.machine() not in ARCHES:
        pytest.skip(f"no table for {platform.machine()}")
    column = ARCHES[platform.machine()][0]
    libc = ctypes.CDLL(None)
    assert libc.syscall(NUMBERS["getpid"][column]) == os.getpid()
    assert libc.syscall(NUMBERS["getppid"][column]) == os.getppid()


DECISIONS = Path(__file__).with_name("decisions.txt")


def decisions() -> str:
    """Return every known call by its answer to a program, with all arguments 0."""
    lines = []
    for machine, what in itertools.product(MACHINES, (RUNS, ALONE)):
        by_answer: dict[int, list[str]] = {}
        for name in sorted(NUMBERS):
            if NUMBERS[name][ARCHES[machine][0]] is not None:
                by_answer.setdefault(answer(what, machine, name), []).append(name)
        level = "alone" if what.alone else "in namespaces"
        for got in sorted(by_answer):
            word = {ALLOW: "allowed", KILL: "killed", 0: "done"}.get(got)
            title = f"{machine}, {level}: {word or errno.errorcode[got]}"
            lines += [title, *wrap(" ".join(by_answer[got]), 100), ""]
    return "\n".join(lines)


def test_a_change_of_what_is_allowed_is_written_down() -> None:
    """The lists of the filter twice, on purpose: a call that falls off one is noticed here.

    After a change that is meant: python -c "from tests.sandbox.box.isolation.test_seccomp import *;
    DECISIONS.write_text(decisions())"
    """
    assert decisions() == DECISIONS.read_text()

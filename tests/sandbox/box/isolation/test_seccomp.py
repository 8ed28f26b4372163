"""The decisions of the filter for each system call, by an independent interpreter."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.sandbox.box.isolation.seccomp import (
    ALLOWED,
    ARCHES,
    CHANGES_OF_FILES,
    MY_PID,
    REFUSED,
    Filter,
    build,
)
from gradebox.sandbox.box.isolation.syscalls import NUMBERS
from gradebox.sandbox.errors import SandboxUnavailable

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
MACHINES = tuple(ARCHES)
RUNS = Filter()
FORKLESS = Filter(fork=False, counted=False)
ALONE = Filter(fork=False, counted=False, mounts=False, alone=True)
KINDS = (RUNS, FORKLESS, ALONE, Filter(mounts=False, counted=False))


def decide(code: bytes, machine: int, number: int, args: tuple[int, ...] = ()) -> int:
    """Return the kernel's decision: an independent interpreter of classic BPF."""
    args = (*args, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=iIQ6Q", number if number < 2**31 else number - 2**32, machine, 0, *args)
    lines = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
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
    if number is None:
        pytest.skip(f"{machine} has no {name}")
    got = decide(build(what, machine), audit, number, args)
    return got if got in (ALLOW, KILL) else got - ERRNO


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("what", KINDS)
def test_jumps_stay_inside_and_all_paths_return(machine: str, what: Filter) -> None:
    code = build(what, machine)
    lines = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
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
        assert decide(build(RUNS, machine), audit, number, tuple(args)) == ERRNO | errno.ENOSYS


@pytest.mark.parametrize("what", KINDS)
@given(audit=st.integers(0, 2**32 - 1), number=st.integers(0, 500))
def test_calls_of_another_architecture_end_the_program(
    what: Filter, audit: int, number: int
) -> None:
    if audit != ARCHES["x86_64"][1]:
        assert decide(build(what, "x86_64"), audit, number) == KILL


def test_32_bit_and_x32_calls_are_not_allowed() -> None:
    code, (_, audit) = build(RUNS, "x86_64"), ARCHES["x86_64"]
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


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
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
    ],
)
def test_decisions_that_depend_on_arguments(
    machine: str, name: str, args: tuple[int, ...], wanted: int
) -> None:
    assert answer(RUNS, machine, name, *args) == wanted


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("fork", (), errno.EAGAIN),
        ("vfork", (), errno.EAGAIN),
        ("clone", (0x11,), errno.EAGAIN),
        ("clone", (0x00010000 | 0x100 | 0x800,), ALLOW),
        ("memfd_create", (0, 0), errno.ENOSYS),
        ("mmap", (0, 4096, 3, 0x21), errno.EPERM),
        ("mmap", (0, 4096, 3, 0x22), ALLOW),
        ("mmap", (0, 4096, 1, 0x01), ALLOW),
    ],
)
def test_without_a_group_no_memory_is_uncounted(
    machine: str, name: str, args: tuple[int, ...], wanted: int
) -> None:
    assert answer(FORKLESS, machine, name, *args) == wanted
    assert answer(ALONE, machine, name, *args) == wanted


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

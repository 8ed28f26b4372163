"""The filter of each architecture: its numbers are the kernel headers', its decisions are checked.

The filter is run here by a small interpreter of its instructions, so that the one for another
machine can be tried as well.
"""

from __future__ import annotations

import errno
import platform
import re
import shutil
import struct
import subprocess
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.isolation import seccomp
from gradebox.sandbox.box.isolation.seccomp import (
    ALLOW,
    ALLOWED,
    ARCHES,
    KILL,
    NUMBERS,
    Filter,
    build,
    for_programs,
)
from gradebox.sandbox.errors import SandboxError, SandboxUnavailable

HEADERS = {  # what a program of that machine includes, as any compiler's headers have it
    "x86_64": ("asm/unistd_64.h", ()),
    "aarch64": (
        "asm-generic/unistd.h",
        ("RENAMEAT", "NEW_STAT", "SET_GET_RLIMIT", "SYS_CLONE3", "TIME32_SYSCALLS"),
    ),
}
ENOSYS = 0x00050000 | errno.ENOSYS
MACHINES = sorted(ARCHES)


def decision(code: bytes, audit: int, number: int, args: tuple[int, ...] = (0,) * 6) -> int:
    """Interpret the filter as the kernel does. Return its value for one call."""
    data = struct.pack("=IIQ6Q", number, audit, 0, *args)
    lines = list(struct.iter_unpack("=HBBI", code))
    accumulator = at = 0
    jumps = {
        seccomp.JEQ: lambda k: accumulator == k,
        seccomp.JGE: lambda k: accumulator >= k,
        seccomp.JSET: lambda k: bool(accumulator & k),
    }
    while True:
        op, true, false, k = lines[at]
        at += 1
        if op == seccomp.RET:
            return int(k)
        if op == seccomp.LD:
            accumulator = struct.unpack_from("=I", data, k)[0]
        elif op == seccomp.AND:
            accumulator &= k
        else:
            at += true if jumps[op](k) else false


def headers_numbers(machine: str) -> dict[str, int]:
    header, wanted = HEADERS[machine]
    flags = [f"-D__ARCH_WANT_{name}" for name in wanted]
    made = subprocess.run(
        ["gcc", "-E", "-dM", *flags, "-"],
        input=f"#include <{header}>\n",
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"no kernel headers here: {made.stderr[:200]}")
    raw = dict(re.findall(r"^#define __NR(\w+) (\w+)$", made.stdout, re.MULTILINE))
    values = {}
    for name, value in raw.items():
        while value.startswith("__NR"):  # an alias of another one
            value = raw.get(value[4:], "")
        if value.isdigit() and name != "_syscalls":  # that one is their number
            values[name.lstrip("_")] = int(value)
    return values


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_match_the_headers(machine: str) -> None:
    if machine == "x86_64" and platform.machine() != machine:
        pytest.skip("asm/unistd_64.h is in the headers of x86_64 alone")
    column = ARCHES[machine][0]
    theirs = headers_numbers(machine)
    newest = max(theirs.values())
    for name, numbers in NUMBERS.items():
        ours = numbers[column]
        if ours is None or ours <= newest:  # else the headers are older than the call
            assert ours == theirs.get(name), name


@pytest.mark.parametrize("machine", MACHINES)
def test_only_listed_calls_are_allowed(machine: str) -> None:
    column, audit = ARCHES[machine]
    code = build(Filter(), machine)
    allowed = {NUMBERS[name][column] for name in ALLOWED}
    named = {numbers[column] for numbers in NUMBERS.values()}
    for number in range(600):
        if number in allowed:
            assert decision(code, audit, number) == ALLOW, number
        elif number not in named:
            assert decision(code, audit, number) == ENOSYS, number


@pytest.mark.parametrize("machine", MACHINES)
@given(number=st.integers(0, 2**32 - 1), args=st.tuples(*[st.integers(0, 2**64 - 1)] * 6))
def test_calls_of_another_architecture_kill(
    machine: str, number: int, args: tuple[int, ...]
) -> None:
    other = next(audit for name, (_, audit) in ARCHES.items() if name != machine)
    for code in (
        build(Filter(), machine),
        build(Filter(fork=False), machine),
        for_programs(Filter(run_groups=True), machine),
    ):
        assert decision(code, other, number, args) == KILL


@pytest.mark.parametrize("machine", MACHINES)
def test_only_the_box_may_call_clone3(machine: str) -> None:
    column, audit = ARCHES[machine]
    number = NUMBERS["clone3"][column]
    assert number is not None
    assert decision(build(Filter(), machine), audit, number) == ENOSYS
    assert decision(build(Filter(run_groups=True), machine), audit, number) == ALLOW
    assert decision(for_programs(Filter(run_groups=True), machine), audit, number) == ENOSYS
    assert decision(for_programs(Filter(run_groups=True), machine), audit, number - 1) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_only_the_box_may_add_filters(machine: str) -> None:
    column, audit = ARCHES[machine]
    number = NUMBERS["prctl"][column]
    assert number is not None
    refused = 0x00050000 | errno.EINVAL
    add = (22, 2, 0, 0, 0, 0)
    assert decision(build(Filter(), machine), audit, number, add) == refused
    assert decision(build(Filter(run_groups=True), machine), audit, number, add) == ALLOW
    assert decision(for_programs(Filter(run_groups=True), machine), audit, number, add) == refused
    assert (
        decision(for_programs(Filter(run_groups=True), machine), audit, number, (15, 0, 0, 0, 0, 0))
        == ALLOW
    )


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("flags", "forks", "wanted"),
    [
        (0x11, True, ALLOW),  # fork
        (0x11, False, 0x00050000 | errno.EAGAIN),
        (0x003D0F00, False, ALLOW),  # a thread
        (0x10000011, True, 0x00050000 | errno.EPERM),  # a user namespace
        (0x02000011, True, 0x00050000 | errno.EPERM),  # a control group namespace
    ],
)
def test_flags_of_clone(machine: str, flags: int, forks: bool, wanted: int) -> None:
    column, audit = ARCHES[machine]
    number = NUMBERS["clone"][column]
    assert number is not None
    code = build(Filter(fork=forks), machine)
    assert decision(code, audit, number, (flags, 0, 0, 0, 0, 0)) == wanted


def test_a_machine_without_numbers_is_refused() -> None:
    with pytest.raises(SandboxUnavailable, match="no system call table for 'riscv64'; known: "):
        build(Filter(), "riscv64")
    with pytest.raises(SandboxUnavailable, match="no system call table for 'riscv64'"):
        for_programs(Filter(run_groups=True), "riscv64")


def test_a_box_with_another_machines_filter_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    EmbeddedSandbox(1, allow_unsafe=True).close()  # there is a level that works here
    other = next(name for name in MACHINES if name != platform.machine())
    monkeypatch.setattr(seccomp, "build", partial(build, machine=other))
    for level in ("full", "userns", "landlock"):
        with pytest.raises(SandboxError, match=f"no sandbox works here: {level}: "):
            EmbeddedSandbox(1, level=level)

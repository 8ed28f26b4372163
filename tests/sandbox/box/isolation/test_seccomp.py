"""The decisions of the filter for each system call, by an independent interpreter.

So the filter of another machine is tried as well. test_seccomp.decisions.jsonl: the filter, a call,
its arguments, and the answer, such as "EPERM", "done" (it returns 0) or "allowed".
"""

import errno
import itertools
import platform
import re
import shutil
import struct
from functools import cache, partial
from pathlib import Path
from textwrap import wrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.isolation import seccomp
from gradebox.sandbox.box.isolation.seccomp import (
    ALLOWED,
    ARCHES,
    MY_PID,
    NUMBERS,
    REFUSED,
    Filter,
    build,
    for_programs,
)
from gradebox.sandbox.errors import SandboxError, SandboxUnavailable
from testing.commands import run_command
from testing.rows import rows

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
MACHINES = tuple(ARCHES)
RUNS = Filter()
ALONE = Filter(fork=False, counted=False, mounts=False, alone=True)
NO_FORK = Filter(fork=False, counted=False)
NO_MOUNTS = Filter(mounts=False, counted=False)
# Landlock before version 3, for programs and for compilers.
EMPTYING = (
    Filter(fork=False, counted=False, mounts=False, alone=True, truncates=False),
    Filter(mounts=False, truncates=False),
)
GROUPS = Filter(run_groups=True)
KINDS = {
    "programs": (RUNS,),
    "no fork": (NO_FORK,),
    "no group": (NO_FORK, ALONE),
    "alone": (ALONE,),
    "mounts": (RUNS, NO_FORK),
    "no mounts": (ALONE, NO_MOUNTS, *EMPTYING),
    "emptying": EMPTYING,
    "all": (RUNS, NO_FORK, ALONE, NO_MOUNTS, *EMPTYING),
    "groups": (GROUPS,),  # the box; its programs get a second filter, "then"
    "then": (GROUPS,),
}
HEADERS = {  # what a program of that machine includes, as any compiler's headers have it
    "x86_64": ("asm/unistd_64.h", ()),
    "aarch64": (
        "asm-generic/unistd.h",
        ("RENAMEAT", "NEW_STAT", "SET_GET_RLIMIT", "SYS_CLONE3", "TIME32_SYSCALLS"),
    ),
}
DECISIONS = Path(__file__).with_name("decisions.txt")
of_each_machine = pytest.mark.parametrize("machine", MACHINES)
Line = tuple[int, int, int, int]  # operation, jumps where it holds and where it doesn't, operand


@cache
def lines_of(what: Filter, machine: str, then: bool = False) -> list[Line]:
    return list(struct.iter_unpack("=HBBI", (for_programs if then else build)(what, machine)))


def decide(lines: list[Line], machine: int, number: int, args: tuple[int, ...] = ()) -> int:
    """Return the kernel's decision."""
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


def answer(lines: list[Line], machine: str, name: str, *args: int) -> str | None:
    """Return the answer to a call; None where the machine does not have it."""
    column, audit = ARCHES[machine]
    number = NUMBERS[name][column]
    if number is None:
        return None
    got = decide(lines, audit, number, args)
    return {ALLOW: "allowed", KILL: "killed", ERRNO: "done"}.get(got) or errno.errorcode[
        got - ERRNO
    ]


@of_each_machine
def test_decisions_that_depend_on_arguments(machine):
    wrong = []
    for kind, name, args, wanted in rows(__file__, "decisions"):
        for what in KINDS[kind]:
            values = [MY_PID if arg == "pid" else arg for arg in args]
            got = answer(lines_of(what, machine, kind == "then"), machine, name, *values)
            if got not in (wanted, None):
                wrong.append((what, name, args, got))
    assert wrong == []


def decisions() -> str:
    """Return every known call by its answer to a program, with all arguments 0."""
    lines = []
    for machine, what in itertools.product(MACHINES, (RUNS, ALONE)):
        by_answer: dict[str, list[str]] = {}
        for name in sorted(NUMBERS):
            if got := answer(lines_of(what, machine), machine, name):
                by_answer.setdefault(got, []).append(name)
        level = "alone" if what.alone else "in namespaces"
        for got in sorted(by_answer):
            lines += [f"{machine}, {level}: {got}", *wrap(" ".join(by_answer[got]), 100), ""]
    return "\n".join(lines)


def test_a_change_of_what_is_allowed_is_written_down():
    """The lists of the filter twice, on purpose: a call that falls off one is noticed here.

    After a change that is meant: python -c "from tests.sandbox.box.isolation.test_seccomp import *;
    DECISIONS.write_text(decisions())"
    """
    assert decisions() == DECISIONS.read_text()


@of_each_machine
@given(number=st.integers(0, 2**32 - 1), args=st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_unlisted_calls_fail_and_those_of_another_architecture_end_the_program(
    machine, number, args
):
    column, audit = ARCHES[machine]
    if number not in {numbers[column] for numbers in NUMBERS.values()}:
        assert decide(lines_of(RUNS, machine), audit, number, tuple(args)) == ERRNO | errno.ENOSYS
    for what in (*KINDS["all"], GROUPS):
        for then in (False, True) if what == GROUPS else (False,):
            assert decide(lines_of(what, machine, then), audit ^ 1 << number % 32, number) == KILL


def test_32_bit_and_x32_calls_are_not_allowed():
    code, (_, audit) = lines_of(RUNS, "x86_64"), ARCHES["x86_64"]
    assert decide(code, 0x40000003, 20) == KILL  # i386
    for number in (0, 59, 101, 520, 521):
        assert decide(code, audit, 0x40000000 | number) == ERRNO | errno.ENOSYS


def test_every_call_is_listed_once_under_a_number_of_its_own():
    """The launcher replaces the placeholder by the program's pid: no process has it."""
    listed = [*ALLOWED, *(name for names in REFUSED.values() for name in names)]
    assert len(listed) == len(set(listed)) and set(listed) <= set(NUMBERS)
    for column in (0, 1):
        numbers = [row[column] for row in NUMBERS.values() if row[column] is not None]
        assert len(numbers) == len(set(numbers))
    assert MY_PID > 2**22


def headers_numbers(machine: str) -> dict[str, int]:
    header, wanted = HEADERS[machine]
    flags = [f"-D__ARCH_WANT_{name}" for name in wanted]
    made = run_command(["gcc", "-E", "-dM", *flags, "-"], input=f"#include <{header}>\n")
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
@of_each_machine
def test_numbers_match_the_headers(machine):
    if machine == "x86_64" and platform.machine() != machine:
        pytest.skip("asm/unistd_64.h is in the headers of x86_64 alone")
    theirs = headers_numbers(machine)
    newest = max(theirs.values())
    for name, numbers in NUMBERS.items():
        ours = numbers[ARCHES[machine][0]]
        if ours is None or ours <= newest:  # else the headers are older than the call
            assert ours == theirs.get(name), name


def test_a_machine_without_numbers_is_refused():
    for made in (build, for_programs):
        with pytest.raises(SandboxUnavailable, match="no system call table for 'riscv64'; known: "):
            made(GROUPS, "riscv64")


def test_a_box_with_another_machines_filter_does_not_start(monkeypatch):
    EmbeddedSandbox(1, allow_unsafe=True).close()  # there is a level that works here
    other = next(name for name in MACHINES if name != platform.machine())
    monkeypatch.setattr(seccomp, "build", partial(build, machine=other))
    for level in ("full", "userns", "landlock"):
        with pytest.raises(SandboxError, match=f"no sandbox works here: {level}: "):
            EmbeddedSandbox(1, level=level)

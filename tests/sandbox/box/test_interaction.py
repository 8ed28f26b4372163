"""Two programs that talk: floods of output, silence, early ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradebox.sandbox import Limits, Program
from gradebox.sandbox.box import EmbeddedSandbox

LIMITS = Limits(cpu_s=5, wall_s=10)
ECHO = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)\n"
FLOOD = "print('x' * 10**7)\n"  # one line, longer than the relay buffers


@pytest.fixture(scope="module")
def sandbox() -> Iterator[EmbeddedSandbox]:
    with EmbeddedSandbox(2) as opened:
        yield opened


def talk(sandbox: EmbeddedSandbox, first: str, second: str):  # type: ignore[no-untyped-def]
    one, two = (
        sandbox.compile(Program("python", {"main.py": text.encode()})) for text in (first, second)
    )
    return sandbox.interact(one, two, LIMITS, LIMITS)


def test_a_flood_waits_for_its_reader(sandbox: EmbeddedSandbox) -> None:
    reader = "import sys, time\ntime.sleep(.2)\nsys.exit(len(sys.stdin.readline()) != 10**7 + 1)\n"
    result = talk(sandbox, FLOOD, reader)
    assert (result.first.exit_code, result.second.exit_code) == (0, 0)
    assert result.transcript_cut


def test_a_flood_ends_with_its_reader(sandbox: EmbeddedSandbox) -> None:
    result = talk(sandbox, FLOOD, "import time\ntime.sleep(.2)\n")
    assert result.second.exit_code == 0
    assert result.first_ended == "second"
    assert result.first.exit_code != 0  # a broken pipe


def test_lines_go_both_ways(sandbox: EmbeddedSandbox) -> None:
    asks = "print('a', flush=True)\nassert input() == 'a'\nprint('b', flush=True)\n"
    result = talk(sandbox, asks, ECHO)
    assert (result.first.exit_code, result.second.exit_code) == (0, 0)
    assert result.transcript[:3] == (("first", b"a\n"), ("second", b"a\n"), ("first", b"b\n"))


def test_a_deadlock_ends_by_the_wall_limit(sandbox: EmbeddedSandbox) -> None:
    short = Limits(cpu_s=1, wall_s=0.5)
    waits = sandbox.compile(Program("python", {"main.py": b"input()\n"}))
    result = sandbox.interact(waits, waits, short, short)
    assert "wall" in (result.first.killed_for, result.second.killed_for)

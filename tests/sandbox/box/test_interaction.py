"""Two boxed programs that talk: floods, silence, early ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox import Limits, Program
from sandbox.box import EmbeddedSandbox

LIMITS = Limits(cpu_s=5, wall_s=10)
ECHO = "import sys\nfor line in sys.stdin:\n    print(line, end='', flush=True)\n"
FLOOD = "print('x' * 10**7)\n"  # one line, more than a relay may hold


@pytest.fixture(scope="module")
def sandbox() -> Iterator[EmbeddedSandbox]:
    with EmbeddedSandbox(2) as opened:
        yield opened


def talk(sandbox: EmbeddedSandbox, first: str, second: str):  # type: ignore[no-untyped-def]
    one, two = (
        sandbox.compile(Program("python", {"main.py": text.encode()})) for text in (first, second)
    )
    return sandbox.interact(one, two, LIMITS, LIMITS)


def test_a_flood_is_held_back_until_it_is_read(sandbox: EmbeddedSandbox) -> None:
    reader = "import sys, time\ntime.sleep(.2)\nsys.exit(len(sys.stdin.readline()) != 10**7 + 1)\n"
    seen = talk(sandbox, FLOOD, reader)
    assert (seen.first.exit_code, seen.second.exit_code) == (0, 0)
    assert seen.transcript_cut


def test_a_flood_nobody_reads_ends_with_its_reader(sandbox: EmbeddedSandbox) -> None:
    seen = talk(sandbox, FLOOD, "import time\ntime.sleep(.2)\n")
    assert seen.second.exit_code == 0
    assert seen.first_ended == "second"
    assert seen.first.exit_code != 0  # a broken pipe


def test_words_go_both_ways(sandbox: EmbeddedSandbox) -> None:
    asks = "print('a', flush=True)\nassert input() == 'a'\nprint('b', flush=True)\n"
    seen = talk(sandbox, asks, ECHO)
    assert (seen.first.exit_code, seen.second.exit_code) == (0, 0)
    assert seen.transcript[:3] == (("first", b"a\n"), ("second", b"a\n"), ("first", b"b\n"))


def test_two_that_wait_for_each_other_end_by_the_wall_clock(sandbox: EmbeddedSandbox) -> None:
    short = Limits(cpu_s=1, wall_s=0.5)
    waits = sandbox.compile(Program("python", {"main.py": b"input()\n"}))
    seen = sandbox.interact(waits, waits, short, short)
    assert "wall" in (seen.first.killed_for, seen.second.killed_for)

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


@pytest.mark.slow
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


PROBE = """
import sys
for stream in (sys.stdin, sys.stdout):
    names = [name for name in dir(stream) if name[0] != "_" and name != "buffer"]
    plain = {name: getattr(stream, name) for name in names if not callable(getattr(stream, name))}
    raw = stream.buffer.raw
    asked = [getattr(stream, name)() for name in ("seekable", "readable", "writable", "isatty")]
    print(stream, stream.buffer, raw, plain, asked, raw.seekable(), raw.closefd, file=sys.stderr)
print("to the other side")
print(repr(input()), file=sys.stderr)
print(sys.argv, sorted(vars()), file=sys.stderr)
"""


def test_streams_of_a_forked_program_are_those_of_a_plain_one() -> None:
    results = []
    for start in ("fork", "exec"):
        with EmbeddedSandbox(1, python_start=start) as opened:  # type: ignore[arg-type]
            results.append(talk(opened, PROBE, ECHO))
    forked, plain = results
    assert not plain.first.forked
    assert forked.first.forked == (forked.second.forked)
    assert forked.first.exit_code == 0, forked.first.stderr
    assert forked.first.stderr == plain.first.stderr
    assert forked.transcript == plain.transcript


def test_a_forked_program_that_talks_is_charged_for_its_start(sandbox: EmbeddedSandbox) -> None:
    result = talk(sandbox, "print(1)\n", "input()\n")
    if not result.first.forked:
        pytest.skip("programs start by exec at this level")
    alone = sandbox.run(
        sandbox.compile(Program("python", {"main.py": b"print(1)\n"})), LIMITS, alone=True
    )
    assert result.first.cpu_s > alone.cpu_s / 3

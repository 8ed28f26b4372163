"""Two programs that talk: floods of output, silence, early ends."""

from collections.abc import Iterator

import pytest

from gradebox.sandbox import Limits, Program
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.interaction import WaitingClock
from tests.sandbox.levels import box_at, built

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
def test_a_flood_waits_for_its_reader(sandbox):
    reader = "import sys, time\ntime.sleep(.2)\nsys.exit(len(sys.stdin.readline()) != 10**7 + 1)\n"
    result = talk(sandbox, FLOOD, reader)
    assert (result.first.exit_code, result.second.exit_code) == (0, 0)


def test_a_flood_ends_with_its_reader(sandbox):
    result = talk(sandbox, FLOOD, "import time\ntime.sleep(.2)\n")
    assert result.second.exit_code == 0
    assert result.first_ended == "second"
    assert result.first.exit_code != 0  # a broken pipe


def test_a_deadlock_ends_by_the_wall_limit(sandbox):
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


@pytest.mark.slow(seconds=1)
def test_streams_of_a_forked_program_are_those_of_a_plain_one():
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


# ---- ends of input, at every level, for programs that start by fork and by exec --------------

# Sends a number, closes its output, reads to the end.
CLOSES = (
    "import os, sys\nprint(21, flush=True)\nos.close(1)\nsys.exit(sys.stdin.read() != '42\\n')\n"
)
TO_THE_END = "import sys\nprint(2 * int(sys.stdin.read()), flush=True)\n"
CPP_TO_THE_END = b"""
#include <cstdio>
int main() { int x, sum = 0; while (scanf("%d", &x) == 1) sum += x; printf("%d\\n", 2 * sum); }
"""
WAITS = "import os, sys\nprint(int(input()) * 2, flush=True)\nos.close(1)\nsys.stdin.read()\n"
READS = "import sys\nprint(21, flush=True)\nsys.exit(sys.stdin.read() != '42\\n')\n"


@pytest.mark.parametrize(
    ("level", "start"),
    [("full", "fork"), ("full", "exec"), ("userns", "fork"), ("landlock", "exec")],
)
def test_input_ends_when_the_other_program_closes_its_output(level, start):
    with box_at(level, python_start=start) as box:
        pairs = [(TO_THE_END, CLOSES), (WAITS, READS)]
        results = [talk(box, one, two) for one, two in pairs]
        if start == "exec" and level == "full":
            closes = box.compile(Program("python", {"main.py": CLOSES.encode()}))
            results.append(box.interact(built(box, CPP_TO_THE_END), closes, LIMITS, LIMITS))
    for result in results:
        assert (result.first.exit_code, result.second.exit_code) == (0, 0), result


# ---- whose time is it? -----------------------------------------------------------------------

SPIN = """
import time
def spin(s):
    end = time.process_time() + s
    while time.process_time() < end: pass
"""


@pytest.mark.slow(seconds=2)
def test_time_in_which_the_other_program_computes_does_not_count(sandbox):
    """Also on a busy machine: the CPU time of each is three times the wall limit of the other."""
    both = SPIN + "spin(.9)\nprint(1, flush=True)\ninput()\nspin(.6)\nprint(2, flush=True)\n"
    compiled = sandbox.compile(Program("python", {"main.py": both.encode()}))
    limits = Limits(cpu_s=4, wall_s=0.3)
    result = sandbox.interact(compiled, compiled, limits, limits)
    assert (result.first.exit_code, result.second.exit_code) == (0, 0), result


S = 10**9


def charged(*looks: tuple[int, int, int, int, str]) -> list[float]:
    """Return the seconds that two programs are charged.

    looks  of each program until when it was watched and how long it was busy (0.1 s); who has
           something to react to, or has ended ("-1")
    """
    clock = WaitingClock(0)
    for one, busy_one, two, busy_two, who in looks:
        reports = [(one * S // 10, busy_one * S // 10), (two * S // 10, busy_two * S // 10)]
        ended = [who == "-0", who == "-1"]
        now = max(one, two) * S // 10
        clock.look(reports, ended, lambda i, who=who: str(i) in who, now)  # type: ignore[misc]
    return [ns / S for ns in clock.idle_ns]


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        # neither is busy, nor has anything to react to: the first does not speak
        ([(1, 0, 1, 0, ""), (2, 0, 2, 0, "")], [0.2, 0]),
        ([(1, 0, 1, 0, "1"), (2, 0, 2, 0, "1")], [0, 0.2]),
        ([(1, 0, 1, 0, "0"), (2, 0, 2, 0, "01")], [0.2, 0]),
        # one of them computes, or awaits a core
        ([(1, 1, 1, 0, "1"), (2, 1, 2, 1, "0"), (3, 1, 3, 2, "")], [0, 0]),
        # reports that come one after the other
        ([(1, 1, 0, 0, ""), (1, 1, 1, 0, ""), (2, 2, 1, 0, ""), (2, 2, 2, 0, "")], [0, 0]),
        # the one that is left
        ([(1, 0, 0, 0, "-1"), (2, 0, 0, 0, "-1")], [0.2, 0]),
        ([(0, 0, 1, 0, "-0"), (0, 0, 2, 1, "-0")], [0, 0.1]),
        # nobody was watched for 50 s: the machine had stopped
        ([(1, 0, 1, 0, ""), (500, 0, 500, 0, ""), (501, 0, 501, 0, "")], [0.3, 0]),
    ],
)
def test_who_is_waited_for_is_charged(looks, expected):
    assert charged(*looks) == pytest.approx(expected)

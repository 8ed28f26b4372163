"""Python checkers answer the same whether they start by fork or by exec."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from gradebox.checkers.check import Check
from gradebox.checkers.programs import ProgramChecker
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import MIB, Execution, Limits, Program
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ready
from tests.checkers.test_opening import KATTIS, PYTHON_ROWS

LIMITS = Limits(cpu_s=5, wall_s=20, memory_bytes=128 * MIB, output_bytes=1 * MIB)

# What a checker is given and how it ends. Everything else that a program can see of its start is in
# tests/sandbox/box/python/test_equivalence.py.
ENDINGS = {
    "argv": "import sys\nprint(sys.argv)",
    "name": "print(__name__, __file__, __package__, __spec__, __doc__)",
    "exit 3": "import sys\nprint(0)\nsys.exit(3)",
    "exit text": "import sys\nsys.exit('no good')",
    "exception": "print(1)\n\ndef f():\n    raise ValueError('bad\\n')\n\nf()",
    "syntax": "print(1\nx = =",
    "warning": "print('\\d', 1 is 1)",
    "thread": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()\nprint('first')",
    "stdin": "import sys\nprint(repr(sys.stdin.read()))",
    "open 0": "print(open(0).read())",
    "file": "print(open('input.txt').read())",
    "closed stdout": "import sys\nsys.stdout.close()",
    "non-ascii": "print('漢', '\\udcff')",
    "own source": "print(open(__file__).read())",
    "memory": "x = bytearray(1 << 30)\nprint(1)",
    "large": "print('x' * 500_000)\nprint(2)",
    "__del__": "class A:\n    def __del__(self):\n        print('gone')\n\na = A()\n",
}


@pytest.mark.parametrize(
    ("forked", "mib", "alone"), [(True, 470, True), (True, 400, False), (False, 470, False)]
)
def test_a_forked_run_near_the_memory_limit_is_repeated_alone(
    forked: bool, mib: int, alone: bool
) -> None:
    def script(call: Call) -> Execution:
        return ready("0" if call.alone else "1", memory_bytes=mib * MIB, forked=forked)

    checker = ProgramChecker(
        FakeSandbox(script), PROTOCOLS["python"], Program("python", {"main.py": b""})
    )
    assert checker.check(b"", b"", b"").outcome == ("rejected" if alone else "accepted")


@pytest.fixture(scope="module")
def boxes() -> Iterator[tuple[EmbeddedSandbox, EmbeddedSandbox]]:
    with EmbeddedSandbox(1) as forks, EmbeddedSandbox(1, python_start="exec") as executes:
        if forks.describe().details["python_start"] != "fork":
            pytest.skip("Python programs do not start by fork here")
        assert executes.describe().details["python_start"] == "exec"
        yield forks, executes


def _answer(box: EmbeddedSandbox, protocol: str, source: str) -> list[Check]:
    program = Program("python", {"checker.py": source.encode("utf-8", "surrogatepass")})
    checker = ProgramChecker(
        box, PROTOCOLS[protocol], program, limits=LIMITS, extra_args=["--y", "ü z"]
    )
    return [checker.check(b"9\n\xff", b"-3\nzwei \xc3\xbc\n", b"3\n") for _ in range(2)]


def _words(printed: bytes) -> bytes:
    """Remove addresses, which differ between any two runs."""
    return re.sub(rb"0x[0-9a-f]+", b"", printed)


SOURCES = {
    **{name: ("kattis", source) for name, source in ENDINGS.items()},
    **{f"score: {name}": ("python", source) for name, (source, _, _) in PYTHON_ROWS.items()},
    "validator": ("kattis", KATTIS),
}


@pytest.mark.slow  # forty times two real interpreters
@pytest.mark.parametrize(("protocol", "source"), SOURCES.values(), ids=SOURCES)
def test_both_starts_give_the_same_checks(
    boxes: tuple[EmbeddedSandbox, EmbeddedSandbox], protocol: str, source: str
) -> None:
    forked, executed = (_answer(box, protocol, source) for box in boxes)
    for one, other in zip(forked, executed, strict=True):
        assert (one.outcome, one.verdict, one.score, one.points, one.exit_code) == (
            other.outcome,
            other.verdict,
            other.score,
            other.points,
            other.exit_code,
        )
        assert _words(one.message.encode()) == _words(other.message.encode())
        assert _words(one.stdout) == _words(other.stdout)
        assert _words(one.stderr) == _words(other.stderr)

"""Python checkers answer the same whether they start by fork or by exec."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from gradebox.checkers.check import Check
from gradebox.checkers.programs import PROTOCOLS, ProgramChecker
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import MIB, Execution, Limits, Program
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ready
from tests.checkers.test_opening import KATTIS, PYTHON_ROWS

LIMITS = Limits(cpu_s=5, wall_s=20, memory_bytes=128 * MIB, output_bytes=1 * MIB)

DEL = "class A:\n    def __del__(self):\n        print('gone')\n\na = A()\n"

ENDINGS = {
    "nothing": "",
    "prints": "print(1)",
    "argv": "import sys\nprint(sys.argv)",
    "name": "print(__name__, __file__, __package__, __spec__, __doc__)",
    "main is the module": "import __main__\nx = 5\nprint(__main__.x, sorted(vars(__main__)))",
    "guard": "def main():\n    print(1)\n\nif __name__ == '__main__':\n    main()",
    "docstring": "'the words'\nprint(__doc__)",
    "exit 3": "import sys\nprint(0)\nsys.exit(3)",
    "exit text": "import sys\nsys.exit('no good')",
    "exit none": "import sys\nprint(1)\nsys.exit()",
    "exit true": "raise SystemExit(True)",
    "exit big": "raise SystemExit(256 + 7)",
    "exit()": "print(1)\nexit()",
    "quit(2)": "quit(2)",
    "exception": "print(1)\n\ndef f():\n    raise ValueError('bad\\n')\n\nf()",
    "chained": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError(3) from e",
    "keyboard": "raise KeyboardInterrupt",
    "assertion": "assert False, 'why'",
    "syntax": "print(1\nx = =",
    "indentation": "if True:\nprint(1)",
    "warning": "print('\\d', 1 is 1)",
    "deep": "def f(n):\n    return f(n + 1)\n\nf(0)",
    "_exit": "import os\nprint('lost')\nos._exit(4)",
    "abort": "import os\nos.abort()",
    "killed": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "atexit": "import atexit\natexit.register(print, 'bye')\nprint('hi')",
    "atexit after error": "import atexit\natexit.register(print, 'bye')\n1 / 0",
    "no newline": "import sys\nsys.stdout.write('1')",
    "thread": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()\nprint('first')",
    "daemon thread": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint(1)",
    "stdin": "import sys\nprint(repr(sys.stdin.read()))",
    "stdin bytes": "import sys\nprint(sys.stdin.buffer.read())",
    "input": "print(input())\nprint(input())",
    "fd 0": "import os\nprint(os.read(0, 100))",
    "open 0": "print(open(0).read())",
    "dev stdin": "print(open('/dev/stdin').read())",
    "bad stdin": "import sys\nsys.stdin.buffer.read()\nsys.stdin.close()\nprint(1)",
    "file": "print(open('input.txt').read())",
    "missing file": "open('missing.txt')",
    "closed stdout": "import sys\nsys.stdout.close()",
    "non-ascii": "print('漢', '\\udcff')",
    "stderr": "import sys\nprint('words', file=sys.stderr)\nprint(1)",
    "excepthook": "import sys\nsys.excepthook = lambda *a: print(a[0].__name__)\n1 / 0",
    "subprocess": "import subprocess, sys\n"
    "print(subprocess.run([sys.executable, '-c', 'print(7)'], capture_output=True).stdout)",
    "fork": "import os\npid = os.fork()\nprint('child' if pid == 0 else os.waitpid(pid, 0)[1])",
    "pickle": "import pickle\n\nclass A:\n    pass\n\nprint(pickle.dumps(A()))",
    "dataclass": "from dataclasses import dataclass\n\n"
    "@dataclass\nclass A:\n    x: int\n\nprint(A(3))",
    "annotations": "x: int = 3\nprint(__annotations__)",
    "builtins": "print(__builtins__)",
    "encodings": "import sys\n"
    "print([(s.encoding, s.errors, s.line_buffering, s.name) for s in (sys.stdin, sys.stdout, "
    "sys.stderr)])",
    "own source": "print(open(__file__).read())",
    "hash": "print(hash('abc'))",
    "recursion limit": "import sys\nprint(sys.getrecursionlimit())",
    "own globals": "print(sorted(globals()))",
    "loader": "print(__loader__)",
    "null byte": "print('a\0b')",
    "memory": "x = bytearray(1 << 30)\nprint(1)",
    "large": "print('x' * 500_000)\nprint(2)",
    "counter": "from collections import Counter\nprint(int(Counter('ab') == Counter('ba')))",
    "numbers": "import numbers\nprint(int(isinstance(2, numbers.Number)))",
    "weak reference": "import weakref\n\nclass A:\n    pass\n\na = A()\n"
    "r = weakref.ref(a, lambda _: print('gone'))",
    "weak reference's method": "import weakref\n\nclass R(weakref.ref):\n"
    "    def gone(self, _):\n        print('gone')\n\nclass A:\n    pass\n\n"
    "a, b = A(), A()\nr = R(a)\ns = weakref.ref(b, r.gone)",
    "finalizer": "import weakref\n\nclass A:\n    pass\n\na = A()\n"
    "f = weakref.finalize(a, print, 'gone')",
    "__del__": DEL,
    "__del__ after exit": DEL + "raise SystemExit('bye')",
    "__del__ after an interrupt": DEL + "raise KeyboardInterrupt",
    "__del__ and a warning": DEL + "print(1 is 1)",
    "open file": "f = open('left.txt', 'w')\nf.write('x')\nprint(1)",
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
    try:
        return [checker.check(b"9\n\xff", b"-3\nzwei \xc3\xbc\n", b"3\n") for _ in range(2)]
    finally:
        checker.close()


def _words(printed: bytes) -> bytes:
    """Remove addresses, which differ between any two runs."""
    return re.sub(rb"0x[0-9a-f]+", b"", printed)


SOURCES = {
    **{name: ("kattis", source) for name, source in ENDINGS.items()},
    **{f"score: {name}": ("python", source) for name, (source, _, _) in PYTHON_ROWS.items()},
    "validator": ("kattis", KATTIS),
}


@pytest.mark.slow  # eighty times two real interpreters
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

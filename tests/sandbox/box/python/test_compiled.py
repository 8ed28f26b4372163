"""What a compilation writes, and that its output is hostile."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gradebox.sandbox.box.python.start import COMPILED, MOST_CODE, executed, forked_start
from gradebox.sandbox.model import Execution
from gradebox.sandbox.python_compile import HOOK

FINE = Execution(
    exit_code=COMPILED,
    signal=None,
    cpu_s=0.5,
    wall_s=0.5,
    memory_bytes=0,
    stdout=b"1000\nheapq\nos.path:join,split\0code",
    stderr=b"",
    stdout_bytes=0,
    stdout_cut=False,
    stderr_cut=False,
)


def test_names_and_code_are_separated():
    start = forked_start(FINE, alone=True)
    assert (start.imports, start.code) == ("heapq\nos.path:join,split", b"code")


@pytest.mark.parametrize(
    "stdout",
    [
        b"",
        b"\0",
        b"1\0",
        b"\0code",
        b"-1\0code",
        b"+1\0code",
        b"1_0\0code",
        b"\xd9\xa1\0code",
        b"nan\0code",
        b"1e9\0code",
        b"9" * 400 + b"\0code",
        b"9" * 100_000 + b"\0code",
        pytest.param(b"1\0" + bytes(MOST_CODE + 1), marks=pytest.mark.slow),
    ],
)
def test_other_output_leads_to_a_plain_start(stdout):
    assert forked_start(replace(FINE, stdout=stdout), alone=True) is None


@pytest.mark.parametrize(
    "statement",
    [
        b"a b",
        b"a;b",
        b"import os",
        b".a",
        b"a.",
        b"a:",
        b"a:b,",
        b"a:b:c",
        b"a\r",
        b"\xc3\xa9",
        b"a" * 5000,
        b"a\tb",
        b"__import__('os')",
    ],
)
def test_a_name_that_is_none_ends_the_list(statement):
    start = forked_start(replace(FINE, stdout=b"1\nheapq\n" + statement + b"\nos\0c"), alone=True)
    assert start is not None and start.imports == "heapq"


def test_the_time_of_compiling_is_at_most_that_of_the_run():
    start = forked_start(replace(FINE, stdout=b"9" * 18 + b"\0code"), alone=True)
    assert start is not None and start.compile_s == FINE.cpu_s


@pytest.mark.parametrize(
    ("limit", "found"),
    [("10 ** 6", 10**6), ("1 << 20", 2**20), ("5000", 5000), ("10 ** 400", 0), ("[][0]", 0)],
)
def test_imports_after_a_constant_recursion_limit_are_found(
    limit: str, found: int, tmp_path: Path
) -> None:
    main = tmp_path / "main.py"
    main.write_text(f"import sys\nsys.setrecursionlimit({limit})\nimport bisect\n")
    run = f"exec(compile(open({str(main)!r}).read(), {str(main)!r}, 'exec'))"
    code = executed(HOOK.decode(), {"MAIN": str(main)}) + run
    done = subprocess.run([sys.executable, "-IS", "-c", code], capture_output=True, check=False)
    head = done.stdout.partition(b"\0")[0].decode()
    assert (done.returncode, done.stderr) == (COMPILED, b"")
    assert head.splitlines()[1:] == ([f"={found}", "bisect"] if found else [])

"""The output of a compilation is hostile."""

from dataclasses import replace

import pytest

from gradebox.sandbox.box.python.start import COMPILED, MOST_CODE, forked_start
from gradebox.sandbox.model import Execution

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

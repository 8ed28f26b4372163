"""Programs that share a box do not see each other's files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradebox.sandbox import Limits, Program
from gradebox.sandbox.box import EmbeddedSandbox

SECRET = b"SECRET = 'the checker of problem 1000/A'\nprint(1)\n"
LIST = b"""
#include <dirent.h>
#include <stdio.h>
int main(void) {
    DIR *folder = opendir("/program");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.') puts(entry->d_name);
}
"""
INCLUDE = b'#include "/program/main.py"\nint main() {}\n'


@pytest.fixture(scope="module")
def sandbox() -> Iterator[EmbeddedSandbox]:
    with EmbeddedSandbox(1) as opened:  # one slot: all runs use the same box
        yield opened


def test_a_binary_does_not_see_the_python_program_before_it(sandbox: EmbeddedSandbox) -> None:
    checker = sandbox.compile(Program("python", {"main.py": SECRET}))
    binary = sandbox.compile(Program("c++17", {"main.cpp": LIST}))
    assert sandbox.run(checker, Limits()).stdout == b"1\n"
    assert sandbox.run(binary, Limits()).stdout == b""
    assert sandbox.run(checker, Limits()).stdout == b"1\n"


def test_a_python_program_sees_its_own_files_only(sandbox: EmbeddedSandbox) -> None:
    first = sandbox.compile(Program("python", {"main.py": SECRET, "helper.py": b"x = 1\n"}))
    second = sandbox.compile(
        Program("python", {"main.py": b"import os\nprint(sorted(os.listdir('/program')))\n"})
    )
    assert sandbox.run(first, Limits()).exit_code == 0
    assert sandbox.run(second, Limits()).stdout == b"['main.py']\n"


def test_a_compiler_does_not_see_a_checker_that_used_its_box(sandbox: EmbeddedSandbox) -> None:
    checker = sandbox.compile(
        Program("python", {"main.py": b"import sys\nsys.stdin.read()\n" + SECRET})
    )
    sandbox.open_session(checker, Limits()).close()
    spy = sandbox.compile(Program("c++17", {"main.cpp": INCLUDE}))
    assert not spy.ok
    assert b"SECRET" not in spy.log
    assert b"No such file" in spy.log


def test_ending_a_session_twice_does_not_affect_a_later_one(sandbox: EmbeddedSandbox) -> None:
    hello = sandbox.compile(Program("python", {"main.py": b"print('hi')\n"}))
    outputs = []
    for _ in range(4):
        with sandbox.open_session(hello, Limits()) as session:
            outputs.append(session.replies.read())
    assert outputs == [b"hi\n"] * 4

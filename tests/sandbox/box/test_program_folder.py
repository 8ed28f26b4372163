"""Programs that share a box do not see each other's files."""

import os
import sys
from collections.abc import Iterator

import pytest

from gradebox.sandbox import Limits, Program
from gradebox.sandbox.box import EmbeddedSandbox
from testing.commands import run_command
from tests.sandbox.levels import box_at

SECRET = b"SECRET = 'the checker of problem 1000/A'\nprint(1)\n"
LIST = b"""
#include <dirent.h>
#include <stdio.h>
int main(void) {
    DIR *folder = opendir("/program");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[1] && entry->d_name[1] != '.') puts(entry->d_name);
}
"""
# An exec of the interpreter uses the boxes of binaries.
BINARY_FIRST = """
from gradebox.sandbox.box import EmbeddedSandbox
from tests.sandbox.levels import box_at
from gradebox.sandbox.model import Limits, Program
LOOK = b"import os, sys; print(sorted(os.listdir(sys.path[0])))"
with EmbeddedSandbox(1, level="userns", python_start="exec") as box:
    binary = box.compile(Program("c++17", {"main.cpp": b"int main() {}"}))
    look = box.compile(Program("python", {"main.py": LOOK}))
    for _ in range(2):
        assert box.run(binary, Limits()).exit_code == 0
        print(box.run(look, Limits()).stdout.decode(), end="")
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[EmbeddedSandbox]:
    with EmbeddedSandbox(1) as opened:  # one slot: all runs use the same box
        yield opened


@pytest.mark.slow(seconds=1)
def test_a_binary_does_not_see_the_python_program_before_it(sandbox):
    checker = sandbox.compile(Program("python", {"main.py": SECRET}))
    binary = sandbox.compile(Program("c++17", {"main.cpp": LIST}))
    assert sandbox.run(checker, Limits()).stdout == b"1\n"
    assert sandbox.run(binary, Limits()).stdout == b""
    assert sandbox.run(checker, Limits()).stdout == b"1\n"


@pytest.mark.slow
def test_a_python_program_does_not_find_the_binary_before_it():
    """With a single user id a binary is copied into the folder; it has no name there."""
    as_one_user = ["unshare", "-r"] if os.geteuid() == 0 else []
    done = run_command([*as_one_user, sys.executable, "-c", BINARY_FIRST])
    if "no sandbox works here" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"no user namespaces here: {done.stderr[-200:]}")
    assert done.stdout == "['main.py']\n" * 2, done.stderr


@pytest.mark.parametrize("level", ["userns", "landlock"])
def test_a_traceback_does_not_name_the_folder_of_the_box(level):
    with box_at(level) as box:
        program = box.compile(Program("python", {"main.py": b"x = [][1]"}))
        error = box.run(program, Limits()).stderr.decode()
    assert error.splitlines()[1] == '  File "/program/main.py", line 1, in <module>'

"""A verdict does not depend on which files of the machine happen to be in memory."""

import os
from pathlib import Path

import pytest

from gradebox.eval.grading.cases.case_run import CaseGrader, CaseSettings
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.time_policy import bounds_of
from gradebox.eval.problems.chosen_tests import ProblemTests
from gradebox.eval.problems.problem import Problem, TestCase, TestRef
from gradebox.sandbox.model import MIB, Execution
from testing.commands import run_command
from tests.sandbox.levels import box_at, built

pytestmark = pytest.mark.slow  # each test starts real programs
PROBLEM = Problem("1/A", time_limit_s=5.0, memory_limit_bytes=16 * MIB)
READS_ONE_FILE = rb"""
#include <cstdio>
static char piece[65536];
int main() {
    char path[4096];
    if (scanf("%4095s", path) != 1) return 1;
    FILE *file = fopen(path, "rb");
    if (!file) return 2;
    setvbuf(file, NULL, _IONBF, 0);
    while (fread(piece, 1, sizeof piece, file) > 0) {}
    puts("3");
}
"""


@pytest.fixture
def toolchain_file() -> Path:
    """A file of the compiler that is larger than the memory limit and that C++ does not need."""
    shown = run_command(["gcc", "-print-prog-name=lto1"])
    path = Path(shown.stdout.strip())
    if not path.is_file() or path.stat().st_size < 2 * PROBLEM.memory_limit_bytes * 0.9:
        pytest.skip("gcc's lto1 is missing or small here")
    return path


def drop(path: Path) -> None:
    """Make the kernel forget the pages of a file, as another program could."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.parametrize("level", ["full", "delegated"])
def test_reading_a_file_that_is_not_in_memory_is_not_charged(level, toolchain_file):
    runs: list[Execution] = []
    test = TestCase("official", 0, str(toolchain_file).encode(), b"3\n")
    with box_at(level) as sandbox:
        grader = CaseGrader(
            CaseSettings(sandbox, on_run=runs.append),
            ProblemResources(PROBLEM, ProblemTests.of(PROBLEM.id, [test]), None),
            bounds_of(PROBLEM),
            built(sandbox, READS_ONE_FILE),
        )
        for _ in range(9):  # it shows nothing while somebody else uses the file
            drop(toolchain_file)
            assert grader.grade(TestRef("official", 0, 0)).verdict == "AC"
            if max(run.memory_bytes or 0 for run in runs) > PROBLEM.memory_limit_bytes:
                return
    raise AssertionError("the file was in memory each time")

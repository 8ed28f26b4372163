"""The program that broke first decides: the rule as a table, and real pairs of programs."""

from __future__ import annotations

import dataclasses
import shutil
import signal
from pathlib import Path

import pytest

from gradebox.checkers.check import Check, CheckerError, accept, reject, unclear
from gradebox.checkers.interactive import (
    InteractionResult,
    decide,
    judge_interaction,
    open_interactor,
)
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import Execution, Interaction, Limits, Program
from tests.checkers.conftest import WatchedBox

WELL = Execution(exit_code=0, signal=None, cpu_s=0.1, wall_s=0.2, memory_bytes=1000)
CRASHED = dataclasses.replace(WELL, exit_code=1)
SEGFAULT = dataclasses.replace(WELL, exit_code=None, signal=int(signal.SIGSEGV))
PIPE = dataclasses.replace(WELL, exit_code=None, signal=int(signal.SIGPIPE))
SLOW = dataclasses.replace(WELL, exit_code=None, signal=9, killed_for="cpu")
IDLE = dataclasses.replace(WELL, exit_code=None, signal=9, killed_for="wall")
FAT = dataclasses.replace(WELL, exit_code=None, signal=9, killed_for="memory")

OK, WA, PE, CU = accept("ok"), reject("no"), reject("odd", "PE"), unclear("crash")

# ended first, the solution's end, the interactor's end, its answer → decided by, outcome
ROWS = [
    ("first", WELL, WELL, OK, "interactor", "accepted"),
    ("first", WELL, WELL, WA, "interactor", "rejected"),
    ("first", WELL, WELL, PE, "interactor", "rejected"),
    ("first", WELL, CRASHED, CU, "interactor", "unclear"),
    ("first", WELL, PIPE, CU, "interactor", "rejected"),
    ("first", CRASHED, WELL, OK, "solution", "accepted"),
    ("first", CRASHED, WELL, WA, "solution", "rejected"),
    ("first", CRASHED, PIPE, CU, "solution", "unclear"),
    ("first", CRASHED, CRASHED, CU, "solution", "unclear"),
    ("first", SEGFAULT, WELL, WA, "solution", "rejected"),
    ("first", SLOW, WELL, WA, "solution", "rejected"),
    ("first", SLOW, SLOW, CU, "solution", "unclear"),
    ("first", FAT, WELL, PE, "solution", "rejected"),
    ("first", IDLE, WELL, WA, "solution", "rejected"),
    ("first", IDLE, WELL, OK, "solution", "accepted"),
    ("first", IDLE, SLOW, CU, "solution", "unclear"),
    ("first", IDLE, IDLE, CU, "interactor", "unclear"),
    ("first", IDLE, CRASHED, CU, "solution", "unclear"),
    ("second", WELL, WELL, OK, "interactor", "accepted"),
    ("second", WELL, WELL, WA, "interactor", "rejected"),
    ("second", PIPE, WELL, WA, "interactor", "rejected"),
    ("second", CRASHED, WELL, WA, "interactor", "rejected"),
    ("second", SLOW, WELL, WA, "interactor", "rejected"),
    ("second", IDLE, WELL, PE, "interactor", "rejected"),
    ("second", PIPE, WELL, OK, "solution", "accepted"),
    ("second", CRASHED, WELL, OK, "solution", "accepted"),
    ("second", SLOW, WELL, OK, "solution", "accepted"),
    ("second", WELL, CRASHED, CU, "interactor", "unclear"),
    ("second", PIPE, SEGFAULT, CU, "interactor", "unclear"),
    ("second", CRASHED, SLOW, CU, "interactor", "unclear"),
    ("both", WELL, WELL, OK, "interactor", "accepted"),
    ("both", WELL, WELL, WA, "interactor", "rejected"),
    ("both", CRASHED, WELL, WA, "interactor", "rejected"),
    ("both", CRASHED, WELL, OK, "solution", "accepted"),
    ("both", CRASHED, CRASHED, CU, "interactor", "unclear"),
]


@pytest.mark.parametrize(
    ("first_ended", "first", "second", "answer", "decided_by", "outcome"), ROWS
)
def test_the_party_that_broke_first_decides(
    first_ended: str,
    first: Execution,
    second: Execution,
    answer: Check,
    decided_by: str,
    outcome: str,
) -> None:
    interaction = Interaction(first, second, first_ended)  # type: ignore[arg-type]
    party, check = decide(interaction, answer)
    assert (party, check.outcome) == (decided_by, outcome)


def test_the_run_for_the_verdict_is_orderly_when_the_interactor_decides() -> None:
    rejected = InteractionResult(SLOW, WA, (), "interactor")
    orderly = rejected.execution_for_verdict
    assert (orderly.exit_code, orderly.signal, orderly.killed_for, orderly.cpu_s) == (
        0,
        None,
        None,
        0.0,
    )
    assert rejected.execution is SLOW
    assert InteractionResult(SLOW, WA, (), "solution").execution_for_verdict is SLOW


# The solution guesses a number; the interactor speaks the Kattis protocol.
INTERACTOR = """
import sys
secret = int(open(sys.argv[1]).read())
for _ in range(20):
    line = sys.stdin.readline()
    if not line.strip().isdigit():
        open(sys.argv[3] + 'judgemessage.txt', 'w').write('not a number: ' + repr(line))
        sys.exit(43)
    guess = int(line)
    print('right' if guess == secret else 'less' if guess > secret else 'more', flush=True)
    if guess == secret:
        sys.exit(42)
sys.exit(43)
"""
GUESSER = """
low, high = 0, 1000
while True:
    middle = (low + high) // 2
    print(middle, flush=True)
    reply = input()
    if reply == 'right':
        break
    if reply == 'less':
        high = middle - 1
    else:
        low = middle + 1
"""

# the solution, the interactor → decided by (None: depends on timing), outcome
TALKS = {  # many more, of every level: test_hostile_interaction.py
    "right": (GUESSER, INTERACTOR, "interactor", "accepted"),
    "wrong": (GUESSER.replace("reply == 'less'", "reply == 'more'"), INTERACTOR, None, "rejected"),
    "crashing at once": ("import os\nos.abort()", INTERACTOR, None, "rejected"),
    "exits non-zero after it was right": (
        GUESSER + "raise SystemExit(3)",
        INTERACTOR,
        "solution",
        "accepted",
    ),
    "interactor crashes": ("input()", "1 / 0", None, "unclear"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("solution", "judge", "decided_by", "outcome"), TALKS.values(), ids=TALKS)
def test_conversations(
    sandbox: WatchedBox,
    tmp_path: Path,
    solution: str,
    judge: str,
    decided_by: str | None,
    outcome: str,
) -> None:
    (tmp_path / "judge.py").write_text(judge)
    interactor = open_interactor(sandbox, f"kattis:{tmp_path / 'judge.py'}")
    compiled = sandbox.compile(Program("python", {"main.py": solution.encode()}))
    limits = Limits(cpu_s=2, wall_s=2)
    result = judge_interaction(sandbox, compiled, interactor, b"617", b"", limits)
    assert result.check.outcome == outcome
    assert decided_by in (None, result.decided_by)
    assert sandbox.runs[-1] == {
        "second_args": ("input.txt", "answer.txt", "./"),
        "second_files": {"input.txt": b"617", "answer.txt": b""},
        "second_collect": ("judgemessage.txt", "score.txt"),
    }


def test_the_interactors_message_is_in_the_check(sandbox: WatchedBox, tmp_path: Path) -> None:
    (tmp_path / "judge.py").write_text(INTERACTOR)
    interactor = open_interactor(sandbox, f"kattis:{tmp_path / 'judge.py'}")
    compiled = sandbox.compile(Program("python", {"main.py": b"print('x')"}))
    result = judge_interaction(sandbox, compiled, interactor, b"1", b"", Limits())
    assert result.check.message == "not a number: 'x\\\\n'"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")
def test_a_testlib_interactor(sandbox: WatchedBox, tmp_path: Path) -> None:
    (tmp_path / "testlib.h").write_text("#include <cstdio>\n#include <cstring>\n")
    (tmp_path / "judge.cpp").write_text(
        """
        #include "testlib.h"
        int main(int argc, char **argv) {
            if (argc != 4 || strcmp(argv[2], "output.txt")) return 3;
            int x = 0;
            if (scanf("%d", &x) != 1) { fprintf(stderr, "wrong output format x\\n"); return 2; }
            fprintf(stderr, "said %d\\n", x);
            return x == 5 ? 0 : 1;
        }
        """
    )
    interactor = open_interactor(sandbox, f"testlib:{tmp_path / 'judge.cpp'}")
    for text, verdict in ((b"5", "OK"), (b"6", "WA"), (b"", "PE")):
        compiled = sandbox.compile(Program("python", {"main.py": b"print('%s')" % text}))
        result = judge_interaction(sandbox, compiled, interactor, b"", b"", Limits())
        assert (result.check.verdict, result.decided_by) == (verdict, "interactor")
    assert sandbox.compiles == 4
    assert interactor.digest.startswith("interactor:testlib:")


def test_wrong_names_and_unsuitable_sandboxes_are_reported(
    sandbox: WatchedBox, tmp_path: Path
) -> None:
    with pytest.raises(CheckerError, match="unknown interactor 'wcmp': write testlib:FILE"):
        open_interactor(sandbox, "wcmp")
    with pytest.raises(CheckerError, match=r"no-such\.py' can't be read"):
        open_interactor(sandbox, "kattis:no-such.py")
    (tmp_path / "judge.py").write_text("")
    interactor = open_interactor(sandbox, f"kattis:{tmp_path / 'judge.py'}")
    compiled = sandbox.compile(Program("python", {"main.py": b""}))
    sandbox.capabilities = frozenset()  # type: ignore[assignment]
    with pytest.raises(BadRequest, match="can't join two programs: use --sandbox local"):
        judge_interaction(sandbox, compiled, interactor, b"", b"", Limits())


def test_an_interactor_that_does_not_compile_is_unclear(
    sandbox: WatchedBox, tmp_path: Path
) -> None:
    (tmp_path / "judge.cpp").write_text("int main() { retrun 0; }")
    interactor = open_interactor(sandbox, f"kattis:{tmp_path / 'judge.cpp'}")
    refused = sandbox.compile(Program("python", {"main.py": b""}))
    interactor._compiled.append(dataclasses.replace(refused, ok=False, log=b"no return"))
    compiled = sandbox.compile(Program("python", {"main.py": b""}))
    result = judge_interaction(sandbox, compiled, interactor, b"", b"", Limits())
    assert (result.check.outcome, result.check.stderr) == ("unclear", b"no return")
    assert sandbox.runs == []


def test_a_failing_interactor_never_makes_a_wrong_answer() -> None:
    for first_ended, first, second, answer, _, _ in ROWS:
        if answer is CU and second is not PIPE:
            interaction = Interaction(first, second, first_ended)  # type: ignore[arg-type]
            assert decide(interaction, answer)[1].outcome == "unclear"

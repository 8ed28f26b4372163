"""The program that broke first decides: the rule as a table, and real pairs of programs."""

import shutil
import signal
from dataclasses import replace

import pytest

from gradebox.checkers.check import CheckerError, accept, reject, unclear
from gradebox.checkers.interactive import (
    InteractionResult,
    decide,
    judge_interaction,
    open_interactor,
)
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import Interaction, Limits, Program
from testing.fakes.scripted_sandbox import ready
from testing.rows import rows

ENDS = {
    "WELL": ready(),
    "CRASHED": ready(exit_code=1),
    "SEGFAULT": ready(exit_code=None, signal=int(signal.SIGSEGV)),
    "PIPE": ready(exit_code=None, signal=int(signal.SIGPIPE)),
    "SLOW": ready(exit_code=None, signal=9, killed_for="cpu"),
    "IDLE": ready(exit_code=None, signal=9, killed_for="wall"),
    "FAT": ready(exit_code=None, signal=9, killed_for="memory"),
}
SLOW, WA = ENDS["SLOW"], reject("no")
ANSWERS = {"OK": accept("ok"), "WA": WA, "PE": reject("odd", "PE"), "CU": unclear("crash")}


@pytest.mark.parametrize(
    ("first_ended", "solution", "interactor", "answer", "decided_by", "outcome"),
    rows(__file__, "ends"),
)
def test_the_party_that_broke_first_decides(
    first_ended, solution, interactor, answer, decided_by, outcome
):
    interaction = Interaction(ENDS[solution], ENDS[interactor], first_ended)
    party, check = decide(interaction, ANSWERS[answer])
    assert (party, check.outcome) == (decided_by, outcome)


def test_the_run_for_the_verdict_is_orderly_when_the_interactor_decides():
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
def test_conversations(sandbox, tmp_path, solution, judge, decided_by, outcome):
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


def test_the_interactors_message_is_in_the_check(sandbox, tmp_path):
    (tmp_path / "judge.py").write_text(INTERACTOR)
    interactor = open_interactor(sandbox, f"kattis:{tmp_path / 'judge.py'}")
    compiled = sandbox.compile(Program("python", {"main.py": b"print('x')"}))
    result = judge_interaction(sandbox, compiled, interactor, b"1", b"", Limits())
    assert result.check.message == "not a number: 'x\\\\n'"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on this machine")
def test_a_testlib_interactor(sandbox, tmp_path):
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


def test_wrong_names_and_unsuitable_sandboxes_are_reported(sandbox, tmp_path):
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


def test_an_interactor_that_does_not_compile_is_unclear(sandbox, tmp_path):
    (tmp_path / "judge.cpp").write_text("int main() { retrun 0; }")
    interactor = open_interactor(sandbox, f"kattis:{tmp_path / 'judge.cpp'}")
    refused = sandbox.compile(Program("python", {"main.py": b""}))
    interactor._compiled.append(replace(refused, ok=False, log=b"no return"))
    compiled = sandbox.compile(Program("python", {"main.py": b""}))
    result = judge_interaction(sandbox, compiled, interactor, b"", b"", Limits())
    assert (result.check.outcome, result.check.stderr) == ("unclear", b"no return")
    assert sandbox.runs == []

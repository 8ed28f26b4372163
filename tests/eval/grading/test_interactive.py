"""Interactive problems over a sandbox with a scripted interaction."""

import json
from typing import Any

import pytest

from gradebox.eval.cli.run import run_grading
from gradebox.eval.grading.options import Options
from gradebox.eval.results.records import read_records
from gradebox.sandbox.model import Compiled, Interaction, Limits
from testing.fakes.scripted_sandbox import FakeSandbox, ready

TALK = (("first", b"5\n"), ("second", b"<\n"))


class InteractiveSandbox(FakeSandbox):
    """Returns `result` from `interact` and keeps the arguments in `given`."""

    result: Interaction
    given: dict[str, Any]

    def interact(
        self, first: Compiled, second: Compiled, limits: Limits, other_limits: Limits, **more: Any
    ) -> Interaction:
        self.given = {"first": first, "second": second, "limits": limits, **more}
        return self.result


def grade(
    folder,
    result: Interaction | None,
    interactor: str = "kattis:judge.py",
    *,
    log: bytes | None = None,
    say=lambda text: None,
):
    """Grade one solution of an interactive problem with one test; return its record.

    log  the compiler's messages if it rejects the interactor
    """
    (folder / "judge.py").write_text("the judge")
    test = {"input": "secret\n", "output": "answer\n"}
    row = {"id": "1/A", "time_limit": 1.0, "interaction_format": "talk", "interactor": interactor}
    (folder / "p.jsonl").write_text(json.dumps({**row, "official_tests": [test]}) + "\n")
    (folder / "s.jsonl").write_text(json.dumps({"id": "1/A", "code": "guess"}) + "\n")
    sandbox = InteractiveSandbox(
        compile_log=lambda source: log if source == "the judge" else None,
        capabilities=frozenset({"collect", "alone", "interact"} if result else ()),
    )
    if result:
        sandbox.result = result
    options = Options(
        solutions_path=folder / "s.jsonl",
        dataset=str(folder / "p.jsonl"),
        results_dir=folder / "results",
        fresh=True,
    )
    folder = run_grading(options, sandbox=sandbox, say=say).files[0].folder
    [record] = read_records(folder)
    return record, sandbox


def exchange(first=None, second=None, ended="first") -> Interaction:
    return Interaction(first or ready(), second or ready(exit_code=42), ended, TALK)


OVER_TIME = ready(cpu_s=1.2)
CRASH = ready(exit_code=None, signal=11)
PIPE = ready(exit_code=None, signal=13)


@pytest.mark.parametrize(
    ("result", "verdict", "reason"),
    [
        (exchange(), "AC", "passed_by_checker"),
        (exchange(second=ready(exit_code=43)), "WA", "failed_checker"),
        (
            exchange(first=PIPE, second=ready(exit_code=43), ended="second"),
            "WA",
            "failed_checker",
        ),
        (exchange(first=CRASH, second=ready(exit_code=43)), "RE", "runtime_error"),
        (exchange(first=OVER_TIME), "TLE", "time_limit_exceeded"),
        (exchange(second=ready(exit_code=1)), "CU", "checker_unclear"),
    ],
)
def test_the_program_that_ended_the_interaction_decides(tmp_path, result, verdict, reason):
    record, _ = grade(tmp_path, result)
    [case] = record["details"]
    assert (case["verdict"], case["reason"]) == (verdict, reason)
    assert case["transcript"] == "solution: 5\ninteractor: <"
    assert (case["cpu_s"], case["signal"]) == (result.first.cpu_s, result.first.signal)
    assert record["has_checker"] is True


def test_only_the_interactor_gets_the_input(tmp_path):
    _, sandbox = grade(tmp_path, exchange())
    assert sandbox.given["first"].program.files == {"main.py": b"guess"}
    assert b"secret\n" in sandbox.given["second_files"].values()
    assert sandbox.given["limits"].cpu_s == 1.25


def test_another_interactor_gives_another_key(tmp_path):
    first, _ = grade(tmp_path, exchange())
    (tmp_path / "other.py").write_text("another")
    second, _ = grade(tmp_path, exchange(), interactor="kattis:other.py")
    assert first["key"] != second["key"]


def test_a_sandbox_without_interact_makes_it_unsupported(tmp_path):
    record, _ = grade(tmp_path, None)
    assert (record["status"], record["verdict"]) == ("unsupported", "SK")
    assert record["details"][0]["reason"] == "unsupported_interactive"


@pytest.mark.parametrize("name", ["kattis:../judge.py", "kattis:/etc/hostname"])
def test_an_interactor_outside_the_dataset_folder_is_refused(tmp_path, name):
    folder = tmp_path / "data"
    folder.mkdir()
    record, _ = grade(folder, exchange(), interactor=name)
    assert (record["status"], record["details"]) == ("invalid", [])
    assert "is outside" in record["error"]


@pytest.mark.parametrize("name", ["kattis:" + "a" * 5000, "kattis:a\0b", "testlib:a'b", "x"])
def test_an_interactor_that_cannot_be_opened_is_the_rows_fault(tmp_path, name):
    """The first two ended the run of all other problems."""
    record, _ = grade(tmp_path, exchange(), interactor=name)
    assert (record["status"], record["details"]) == ("invalid", [])
    assert "is unusable" in record["error"]
    assert len(record["error"]) < 700


def test_an_interactor_that_does_not_compile_makes_its_problem_unusable(tmp_path):
    record, _ = grade(tmp_path, exchange(), log=b"In file:\nj.cpp:3: error: no ';'\nmore\n")
    why = "problem 1/A is unusable: interactor kattis:judge.py does not compile: j.cpp:3: error: no"
    assert (record["status"], record["verdict"], record["details"]) == ("invalid", None, [])
    assert record["error"].startswith(why)
    metrics = json.loads((tmp_path / "results/s/piston_eval_metrics.json").read_text())
    assert metrics["num_attempted"] == 0
    assert [note for note in metrics["run"]["notes"] if note.startswith(why)]


def test_the_files_beside_an_interactor_are_compiled_along(tmp_path):
    folder = tmp_path / "a folder"
    (folder / "judge").mkdir(parents=True)
    for name in ("validate.cpp", "validate.h", "part.cpp"):
        (folder / "judge" / name).write_text(f"// {name}")
    record, sandbox = grade(folder, exchange(), interactor="kattis:judge some flag")
    assert record["status"] == "passed"
    assert list(sandbox.given["second"].program.files) == ["main.cpp", "part.cpp", "validate.h"]
    assert sandbox.given["second_args"][-2:] == ("some", "flag")


# ---- with real programs ----------------------------------------------------------------------

# Wants a number doubled, then closes its output and reads to the end.
JUDGE = """
import os, sys
print(21, flush=True)
right = sys.stdin.readline() == "42\\n"
os.close(1)
for line in sys.stdin:
    pass
sys.exit(42 if right else 43)
"""
RIGHT = "print(2 * int(input()), flush=True)\n"

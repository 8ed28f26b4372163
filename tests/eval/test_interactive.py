"""Interactive problems over a sandbox whose two programs said what is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval.options import Options
from eval.records import read_records
from eval.run import run_grading
from sandbox.model import Compiled, Interaction, Limits
from tests.fakes.scripted_sandbox import FakeSandbox, ready

TALK = (("first", b"5\n"), ("second", b"<\n"))


class Talking(FakeSandbox):
    """Answers `interact` with one interaction and keeps what it was given."""

    met: Interaction
    given: dict[str, Any]

    def interact(
        self, first: Compiled, second: Compiled, limits: Limits, theirs: Limits, **more: Any
    ) -> Interaction:
        self.given = {"first": first, "second": second, "limits": limits, **more}
        return self.met


def grade(folder, met: Interaction | None, interactor: str = "kattis:judge.py"):
    """The record of one solution of one interactive problem with one test."""
    (folder / "judge.py").write_text("the judge")
    test = {"input": "secret\n", "output": "answer\n"}
    row = {"id": "1/A", "time_limit": 1.0, "interaction_format": "talk", "interactor": interactor}
    (folder / "p.jsonl").write_text(json.dumps({**row, "official_tests": [test]}) + "\n")
    (folder / "s.jsonl").write_text(json.dumps({"id": "1/A", "code": "guess"}) + "\n")
    sandbox = Talking(capabilities=frozenset({"collect", "alone", "interact"} if met else ()))
    if met:
        sandbox.met = met
    options = Options(
        solutions_path=folder / "s.jsonl",
        dataset=str(folder / "p.jsonl"),
        results_dir=folder / "results",
        fresh=True,
    )
    result = run_grading(options, sandbox=sandbox)
    [record] = read_records(result.files[0].folder)
    return record, sandbox


def met(first=None, second=None, ended="first") -> Interaction:
    return Interaction(first or ready(), second or ready(exit_code=42), ended, TALK)


OVER_TIME = ready(cpu_s=1.2)
CRASH = ready(exit_code=None, signal=11)
PIPE = ready(exit_code=None, signal=13)


@pytest.mark.parametrize(
    ("met", "verdict", "reason"),
    [
        (met(), "AC", "passed_by_checker"),
        (met(second=ready(exit_code=43)), "WA", "failed_checker"),
        (met(first=PIPE, second=ready(exit_code=43), ended="second"), "WA", "failed_checker"),
        (met(first=CRASH, second=ready(exit_code=43)), "RE", "runtime_error"),
        (met(first=OVER_TIME), "TLE", "time_limit_exceeded"),
        (met(second=ready(exit_code=1)), "CU", "checker_unclear"),
    ],
)
def test_who_broke_first_decides(tmp_path, met, verdict, reason):
    record, _ = grade(tmp_path, met)
    [case] = record["details"]
    assert (case["verdict"], case["reason"]) == (verdict, reason)
    assert case["transcript"] == "solution: 5\ninteractor: <"
    assert (case["cpu_s"], case["signal"]) == (met.first.cpu_s, met.first.signal)
    assert record["has_checker"] is True


def test_the_secret_goes_to_the_interactor_alone(tmp_path):
    _, sandbox = grade(tmp_path, met())
    assert sandbox.given["first"].program.files == {"main.py": b"guess"}
    assert b"secret\n" in sandbox.given["second_files"].values()
    assert sandbox.given["limits"].cpu_s == 1.25


def test_a_changed_interactor_is_another_judge(tmp_path):
    first, _ = grade(tmp_path, met())
    (tmp_path / "other.py").write_text("another")
    second, _ = grade(tmp_path, met(), interactor="kattis:other.py")
    assert first["key"] != second["key"]


def test_without_two_programs_at_once_it_is_unsupported(tmp_path):
    record, _ = grade(tmp_path, None)
    assert (record["status"], record["verdict"]) == ("unsupported", "SK")
    assert record["details"][0]["reason"] == "unsupported_interactive"


@pytest.mark.parametrize("name", ["kattis:../judge.py", "kattis:/etc/hostname"])
def test_a_dataset_picks_no_file_outside_its_folder(tmp_path, name):
    folder = tmp_path / "data"
    folder.mkdir()
    record, _ = grade(folder, met(), interactor=name)
    assert (record["status"], record["details"]) == ("invalid", [])
    assert "lies outside" in record["error"]


def test_an_unknown_kind_is_named(tmp_path):
    record, _ = grade(tmp_path, met(), interactor="magic:judge.py")
    assert record["status"] == "invalid"
    assert "problem 1/A is unusable: unknown interactor" in record["error"]

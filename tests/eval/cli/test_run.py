"""Whole runs, from files to records and metrics, over a scripted sandbox."""

import json
import logging
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gradebox.eval.cli import run as run_module
from gradebox.eval.cli.run import RunResult, run_grading
from gradebox.eval.cli.summary import table, warning_lines
from gradebox.eval.common.errors import InputError, Retry
from gradebox.eval.common.signals import Stopper, how_to_continue
from gradebox.eval.grading import planner
from gradebox.eval.grading.options import Options
from gradebox.eval.problems.chosen_tests import ProblemTests
from gradebox.eval.problems.problem import TestRef
from gradebox.eval.results.records import latest_records, read_records
from gradebox.sandbox.errors import BadRequest, MissingToolchain, SandboxError
from testing.fakes.scripted_sandbox import Call, FakeSandbox
from testing.rows import rows

# The expected output of each test is its input. The source is what the program does:
#   echo            right            wrong           wrong everywhere
#   wrong_on 2 3    wrong for the inputs 2 and 3      broken       does not compile
PROBLEMS = [
    {"id": "1/A", "rating": 800, "contest_id": "1", "official_tests": [1, 2, 3, 4]},
    {"id": "2/B", "rating": 900, "official_tests": [1, 2]},
    {"id": "3/C", "official_tests": []},
    {"id": "4/D", "interaction_format": "talk", "official_tests": [1]},
    {"id": "5/E", "generated_checker": "print(1)", "official_tests": [1, 2]},
]


def answer(call: Call):
    if "checker.py" in call.program.files:
        return b"1" if b"ok" in b"".join(call.files.values()) else b"0"
    words = call.source.split()
    number = call.stdin.decode().strip()
    if words[0] == "wrong" or (words[0] == "wrong_on" and number in words[1:]):
        return b"wrong"
    if words[0] == "fault":
        return SandboxError("the box died")
    return b"ok" if words[0] == "ok" else call.stdin


def compile_log(source: str):
    known = {
        "broken": b"main.py:1: no\nmore",
        "no_tool": MissingToolchain("g++ is missing: apt-get install g++"),
        "too_big": BadRequest("a source of 9 bytes, at most 8"),
    }
    return known.get(source.split()[0])


class RunFolder:
    """A folder with problems, in which solutions given as (problem id, code) are graded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sandbox = FakeSandbox(answer, compile_log)
        self.said: list[str] = []
        self.write_problems()

    def write_problems(self, problems=PROBLEMS) -> None:
        with (self.path / "problems.jsonl").open("w") as file:
            for row in problems:
                tests = [{"input": f"{n}\n", "output": f"{n}\n"} for n in row["official_tests"]]
                given = {"time_limit": 1.0, "memory_limit": 64.0, **row, "official_tests": tests}
                file.write(json.dumps(given) + "\n")

    def write_solutions(self, *rows, name="sols.jsonl") -> Path:
        path = self.path / name
        lines = [
            row
            if isinstance(row, str)
            else json.dumps({"id": row[0], "code": row[1], **(row[2] if len(row) > 2 else {})})
            for row in rows
        ]
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def options(self, path: Path, **more) -> Options:
        return Options(
            **{
                "solutions_path": path,
                "dataset": str(self.path / "problems.jsonl"),
                "results_dir": self.path / "results",
                "workers": 2,
                **more,
            }
        )

    def run(self, *rows, **more):
        """Grade the solutions in a fresh sandbox; return (exit status, metrics, records)."""
        path = self.write_solutions(*rows) if rows else self.path / "sols.jsonl"
        self.sandbox = FakeSandbox(answer, compile_log)
        self.said = []
        result = run_grading(
            self.options(path, **more),
            say=self.said.append,
            sandbox=self.sandbox,
            retry=Retry(attempts=2, first_s=0.0),
        )
        found = result.files[0]
        return result.exit_status, found.metrics, list(read_records(found.folder))

    def sources_run(self) -> list[str]:
        own = (c.source for c in self.sandbox.calls if c.source.split()[0] != "total,")
        return [source for source in own if "print" not in source]


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path)


def test_statuses_verdicts_and_counts(folder):
    status, metrics, records = folder.run(
        ("1/A", "echo"),
        ("1/A", "wrong_on 2 3"),
        ("2/B", "broken"),
        ("3/C", "echo"),
        ("4/D", "echo"),
        ("9/Z", "echo"),
        "{not json",
        json.dumps({"id": "1/A", "completion": "I don't know."}),
        ("5/E", "ok"),
        ("5/E", "wrong"),
    )
    assert status == 0
    assert [(r["line"], r["status"], r["verdict"]) for r in records] == [
        (1, "passed", "AC"),
        (2, "failed", "WA"),
        (3, "failed", "CE"),
        (4, "no_tests", None),
        (5, "unsupported", "SK"),
        (6, "invalid", None),
        (7, "invalid", None),
        (8, "failed", None),
        (9, "passed", "AC"),
        (10, "failed", "WA"),
    ]
    assert records[1]["score"] == 0.5
    assert [c["verdict"] for c in records[1]["details"]] == ["AC", "WA", "WA", "AC"]
    assert records[2]["compile"]["log"] == "main.py:1: no\nmore"
    assert records[2]["error"] == "main.py:1: no"
    assert {c["reason"] for c in records[2]["details"]} == {"compile_error"}
    assert [c["reason"] for c in records[4]["details"]] == ["unsupported_interactive"]
    assert records[5]["error"].startswith("line 6: unknown problem '9/Z': not among the 5 of")
    assert records[6]["error"].startswith("line 7: not JSON")
    assert records[7]["error"] == "no code in the response"
    assert records[8]["details"][0]["reason"] == "passed_by_checker"
    assert records[8]["has_checker"] is True
    assert (metrics["num_attempted"], metrics["num_correct"]) == (6, 2)
    # 1/A: 1 of 3, 2/B: 0 of 1, 5/E: 1 of 2
    assert metrics["pass_at_1"] == pytest.approx((1 / 3 + 0 + 1 / 2) / 3)
    assert metrics["stats"] == {
        "num_problems_total": 6,
        "num_with_checker": 2,
        "with_checker_passed": 1,
        "with_checker_failed": 1,
        "num_without_checker": 4,
        "without_checker_passed": 1,
        "failure_reasons": {
            "compile_error": 1,
            "failed_checker": 1,
            "failed_outputs_match": 1,
            "no_code": 1,
        },
    }
    assert metrics["statuses"] == {
        "failed": 4,
        "invalid": 2,
        "passed": 2,
        "no_tests": 1,
        "unsupported": 1,
    }
    assert metrics["flags"]["--compare"] == "open-r1"
    assert metrics["sandbox"]["backend"] == "box"
    assert metrics["calibration"]["cpu_s"] is None or metrics["calibration"]["cpu_s"] > 0


@pytest.mark.parametrize(
    "junk", ["[" * 100_000, "null", '{"calibration": {"cpu_s": NaN}}', '{"calibration": "<x>"}']
)
def test_unreadable_metrics_are_written_again(folder, junk):
    _, first, _ = folder.run(("1/A", "echo"))
    path = folder.path / "results" / "sols" / "piston_eval_metrics.json"
    path.write_text(junk)
    status, second, _ = folder.run()
    assert status == 0
    assert second["calibration"].keys() == first["calibration"].keys()


def test_the_record_has_limits_and_problem_metadata(folder):
    _, _, [record] = folder.run(("1/A", "echo"), time_limit_scale={"python": 2.0})
    assert (record["time_limit_s"], record["memory_limit_bytes"]) == (2.0, 64 << 20)
    assert (record["rating"], record["contest_id"], record["num_official"]) == (800, "1", 4)
    assert record["sandbox"]["toolchain"] == "Python 3.11"


def test_a_run_of_invalid_solutions_is_bad_input(folder):
    status, metrics, _ = folder.run(("9/Z", "echo"), "[]")
    assert (status, metrics["num_attempted"], metrics["pass_at_1"]) == (2, 0, None)


def test_a_second_run_reports_that_nothing_is_left(folder):
    _, first, records = folder.run(("1/A", "echo"), ("2/B", "wrong"), ("9/Z", "x"))
    status, second, again = folder.run()
    assert status == 0
    assert folder.said[-1] == "Nothing left to do: all 3 solutions have their records."
    assert folder.sources_run() == []
    assert again == records
    assert second["run"]["graded_now"] == 0
    drop = ("timestamp", "run")
    assert {k: v for k, v in first.items() if k not in drop} == {
        k: v for k, v in second.items() if k not in drop
    }


def test_records_of_an_earlier_version_are_graded_again_and_one_line_counts_them(folder):
    folder.run(("1/A", "echo"), ("2/B", "wrong"))
    path = folder.path / "results/sols/piston_eval_results.jsonl"
    earlier = [{**r, "schema": 1} for r in read_records(path)]
    path.write_text("".join(json.dumps(r) + "\n" for r in earlier))
    _, metrics, records = folder.run()
    assert [r["schema"] for r in records] == [2, 2]
    assert set(folder.sources_run()) == {"echo", "wrong"}
    assert metrics["run"]["graded_now"] == 2
    said = [line for line in folder.said if "graded again" in line]
    assert len(said) == 1
    assert "2 records are of another version" in said[0]
    folder.run()
    assert not folder.sources_run()
    assert not [line for line in folder.said if "graded again" in line]


@pytest.mark.parametrize(
    "changed",
    [
        {"time_limit_scale": {"python": 1.5}},
        {"compare": "exact"},
        {"repeat": 2},
        {"max_stored_output": 10},
    ],
)
def test_changed_flags_grade_again(folder, changed):
    folder.run(("2/B", "echo"))
    folder.run(**changed)
    assert folder.sources_run()
    folder.run(**changed)
    assert not folder.sources_run()


def test_changed_tests_grade_again_and_changed_metadata_does_not(folder):
    folder.run(("1/A", "echo"), ("2/B", "echo"))
    folder.write_problems([{**PROBLEMS[0], "rating": 1200}, {**PROBLEMS[1], "official_tests": [7]}])
    _, _, records = folder.run()
    assert {c.stdin for c in folder.sandbox.calls if c.source == "echo"} == {b"7\n"}
    assert records[0]["rating"] == 1200


def test_moved_lines_are_not_graded_again(folder):
    folder.run(("1/A", "echo"), ("2/B", "wrong"))
    _, metrics, records = folder.run(("2/B", "ok"), ("1/A", "echo"), ("2/B", "wrong"))
    assert set(folder.sources_run()) == {"ok"}
    assert [(r["line"], r["status"]) for r in records] == [
        (1, "failed"),
        (2, "passed"),
        (3, "failed"),
    ]
    assert metrics["run"]["graded_now"] == 1


def test_after_an_interrupted_fresh_run_of_several_files_nothing_earlier_is_left(
    folder, monkeypatch
):
    files = [
        folder.write_solutions(*[("1/A", f"echo # {name} {n}") for n in range(5)], name=name)
        for name in ("a.jsonl", "b.jsonl")
    ]
    options = folder.options(files, workers=1)

    def run(options: Options, sandbox: FakeSandbox, stop_after: int = 99) -> RunResult:
        class Interrupted(Stopper):
            def arm(self) -> None:
                super().arm()
                sandbox.after = lambda: len(sandbox.calls) == stop_after and self.stop()

        monkeypatch.setattr(run_module, "Stopper", Interrupted)
        sandbox.after = lambda: None
        return run_grading(options, sandbox=sandbox)

    def counts(result: RunResult) -> list[tuple[int, int]]:
        return [(file.graded_now, file.from_before) for file in result.files]

    def new() -> FakeSandbox:
        def answered(call: Call):
            made.after()
            return answer(call)

        made = FakeSandbox(answered, compile_log)
        return made

    assert counts(run(options, new())) == [(5, 0), (5, 0)]
    begun = run(replace(options, fresh=True), new(), stop_after=8)
    assert begun.interrupted and [file.source for file in begun.files] == files[:1]
    (graded,) = counts(begun)
    assert 0 < graded[0] < 5 and graded[1] == 0
    assert "without --fresh" in how_to_continue(["--fresh"])
    assert counts(run(options, new())) == [(5 - graded[0], graded[0]), (5, 0)]


def test_grading_a_part_and_then_the_rest(folder):
    rows = [("1/A", "echo"), ("2/B", "echo"), ("2/B", "wrong")]
    assert len(folder.run(*rows, limit=1)[2]) == 1
    assert len(folder.run(problems=["2/B"])[2]) == 2
    assert len(folder.run()[2]) == 3
    assert folder.sources_run() == []


def test_identical_programs_are_graded_once_and_recorded_for_each(folder):
    _, metrics, records = folder.run(*[("1/A", "wrong_on 2")] * 5, ("2/B", "wrong_on 2"))
    assert folder.sources_run() == ["wrong_on 2"] * (4 + 2)
    assert [(r["line"], r["sample_i"], r["problem_id"]) for r in records] == [
        (1, 0, "1/A"),
        (2, 1, "1/A"),
        (3, 2, "1/A"),
        (4, 3, "1/A"),
        (5, 4, "1/A"),
        (6, 0, "2/B"),
    ]
    assert len({json.dumps(r["details"]) for r in records[:5]}) == 1
    assert metrics["num_attempted"] == 6


def test_records_do_not_depend_on_the_number_of_workers(folder):
    rows = [("1/A", f"wrong_on {i} # {i}") for i in range(6)] + [("2/B", "echo")] * 3
    for stop in (False, True):
        seen = [
            folder.run(*rows, workers=n, stop_on_first_failure=stop, fresh=True)[2]
            for n in (1, 2, 7)
        ]
        assert seen[0] == seen[1] == seen[2]


def test_sandbox_errors_are_graded_again_at_the_next_start(folder):
    status, metrics, records = folder.run(("2/B", "fault"), ("1/A", "echo"))
    assert status == 3
    assert [r["status"] for r in records] == ["error", "passed"]
    assert (metrics["num_attempted"], metrics["num_correct"]) == (1, 1)
    assert any("infrastructure errors" in line for line in warning_lines(metrics))
    assert "the box died" in " ".join(warning_lines(metrics))
    folder.run()
    assert set(folder.sources_run()) == {"fault"}


def test_a_missing_compiler_is_reported_as_an_error(folder):
    status, metrics, [record, other] = folder.run(("1/A", "no_tool"), ("1/A", "echo"))
    assert (status, record["status"], record["verdict"]) == (3, "error", "ER")
    assert record["error"] == "g++ is missing: apt-get install g++"
    assert other["status"] == "passed"
    assert "apt-get install g++" in " ".join(warning_lines(metrics))
    assert max(map(len, warning_lines(metrics))) <= 80


def test_a_program_the_sandbox_refuses_counts_as_failed(folder):
    _, metrics, [record] = folder.run(("1/A", "too_big"))
    assert (record["status"], record["verdict"]) == ("failed", "CE")
    assert record["error"] == "a source of 9 bytes, at most 8"
    assert metrics["num_attempted"] == 1


def test_an_unexpected_error_is_recorded_and_logged(folder):
    def explode(call: Call):
        if call.source == "bug":
            raise ZeroDivisionError("a bug")
        return answer(call)

    folder.write_solutions(("2/B", "bug"), ("1/A", "echo"))
    result = run_grading(folder.options(folder.path / "sols.jsonl"), sandbox=FakeSandbox(explode))
    records = list(latest_records(result.files[0].folder))
    assert [r["status"] for r in records] == ["error", "passed"]
    assert records[0]["details"][0]["error"] == "ZeroDivisionError: a bug"
    logged = (result.files[0].folder / "grading.log").read_text()
    assert "Traceback" in logged
    files = [h for h in logging.getLogger().handlers if isinstance(h, logging.FileHandler)]
    assert not [h for h in files if h.baseFilename.endswith("grading.log")]


def test_a_log_that_cannot_be_written_does_not_stop_the_run(folder):
    def explode(call: Call):
        raise OSError(24, "Too many open files")

    path = folder.write_solutions(("2/B", "x"), ("1/A", "y"))
    (folder.path / "results" / "sols" / "grading.log").mkdir(parents=True)
    result = run_grading(folder.options(path), sandbox=FakeSandbox(explode))
    assert result.exit_status == 3
    assert [r["status"] for r in latest_records(result.files[0].folder)] == ["error", "error"]


def test_unstable_cases_are_reported(folder):
    turns = []

    def alternate(call: Call):
        turns.append(1)
        return call.stdin if len(turns) % 2 else b"no"

    folder.write_solutions(("2/B", "flaky"))
    result = run_grading(
        folder.options(folder.path / "sols.jsonl", repeat=2, workers=1),
        sandbox=FakeSandbox(alternate),
    )
    metrics = result.files[0].metrics
    assert metrics["unstable_cases"]["count"] == 2
    assert metrics["unstable_cases"]["first"][0]["repeats"] == ["AC", "WA"]
    assert any("2 cases changed their verdict" in line for line in warning_lines(metrics))


def test_a_run_without_solutions_is_refused(folder):
    with pytest.raises(InputError, match="no solution is left to grade; see --problems"):
        folder.run(("1/A", "echo"), problems=["2/B"])


def test_unknown_problem_ids_are_reported(folder):
    with pytest.raises(InputError, match="--problems: unknown problem '7/Q': not among the 5"):
        folder.run(("1/A", "echo"), problems=["7/Q"])
    status, metrics, records = folder.run(("1/A", "echo"), problems=["7/Q", "1/A"])
    assert (status, len(records)) == (0, 1)
    assert "--problems: unknown problem '7/Q'" in metrics["run"]["notes"][0]


def test_an_unknown_checker_is_reported(folder):
    with pytest.raises(InputError, match="--checker wcmpp: unknown checker 'wcmpp'"):
        folder.run(("1/A", "echo"), checker="wcmpp")


@pytest.mark.parametrize(
    ("columns", "why"),
    rows(__file__, "unusable_problem_does"),
)
def test_an_unusable_problem_does_not_affect_the_others(folder, columns, why):
    folder.write_problems([*PROBLEMS, {"id": "6/F", "official_tests": [1], **columns}])
    status, metrics, records = folder.run(("6/F", "echo"), ("1/A", "echo"))
    assert status == 0
    assert [r["status"] for r in records] == ["invalid", "passed"]
    assert records[0]["error"].startswith("line 1: problem 6/F is unusable: ")
    assert why in records[0]["error"]
    assert metrics["num_attempted"] == 1


def test_an_impossible_scale_is_reported(folder):
    status, _, records = folder.run(("1/A", "echo"), time_limit_scale={"python": 1e30})
    assert status == 2
    assert "time limit 1e+30 s (1 s times 1e+30): 0.001 to 60000 s" in records[0]["error"]


def test_a_named_checker_that_does_not_compile_ends_the_run_at_its_start(folder):
    check = folder.path / "check.cpp"
    check.write_text("broken")
    (folder.path / "testlib.h").write_text("")
    with pytest.raises(
        InputError, match=r"^--checker testlib:.*: does not compile: main.py:1: no$"
    ):
        folder.run(("1/A", "echo"), checker=f"testlib:{check}")
    assert folder.sandbox.calls == []
    assert not (folder.path / "results/sols/piston_eval_results.jsonl").exists()


def test_a_checker_that_does_not_compile_is_reported_once_a_problem(folder):
    broken = {"id": "6/F", "official_tests": [1, 2], "generated_checker": "broken # print"}
    folder.write_problems([*PROBLEMS, broken])
    rows = [("6/F", "wrong"), ("1/A", "echo"), ("6/F", "ok"), ("6/F", "wrong"), ("6/F", "broken")]
    for _ in range(2):
        status, metrics, records = folder.run(*rows)
        assert status == 0
        assert [r["status"] for r in records] == ["invalid", "passed", *["invalid"] * 3]
        assert "CU" not in metrics["case_verdicts"]
        notes = [line for line in warning_lines(metrics) if "note: problem 6/F is unusable" in line]
        assert len(notes) == 1
        assert {r["error"] for r in records if r["problem_id"] == "6/F"} == {
            "problem 6/F is unusable: checker generated_checker does not compile: main.py:1: no"
        }


def test_a_checker_given_by_name_judges_every_problem(folder):
    _, metrics, records = folder.run(("1/A", "wrong"), checker="wcmp")
    assert records[0]["details"][0]["reason"] == "failed_checker"
    assert metrics["stats"]["num_with_checker"] == 1


def test_the_table_fits_eighty_columns(folder):
    rows = [("1/A", "echo"), ("1/A", "wrong"), ("2/B", "broken"), ("3/C", "x"), ("9/Z", "x")]
    _, metrics, _ = folder.run(*rows, k=(1, 5))
    text = table(metrics, "results/sols")
    assert max(map(len, text.splitlines())) <= 80
    assert "pass@5       undefined: 2 of 2 problems have fewer than 5 graded samples" in text
    assert "failed              2" in text


def test_an_error_ends_a_run_that_waits_for_a_duplicate(folder, monkeypatch):
    def fail(self: ProblemTests, ref: TestRef) -> None:
        time.sleep(0.5)  # until the planner waits
        raise InputError("the tests are unreadable")

    monkeypatch.setattr(ProblemTests, "load", fail)
    monkeypatch.setattr(planner, "MAX_WAITING_DUPLICATES", 0)
    with pytest.raises(InputError, match="the tests are unreadable"):
        folder.run(*[("1/A", "echo")] * 3)

"""Whole runs, from files to records and metrics, over a sandbox that answers as told."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from eval.input_error import InputError
from eval.options import Options
from eval.records import latest_records, read_records
from eval.retry import Retry
from eval.run import run_grading
from eval.summary import loud_lines, table
from sandbox.errors import BadRequest, MissingToolchain, SandboxError
from tests.fakes.scripted_sandbox import Call, FakeSandbox

# Problems whose answer is the input; a program says what it prints instead, and when:
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


class Bench:
    """A folder with problems, and runs over solutions given as (problem id, code)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sandbox = FakeSandbox(answer, compile_log)
        self.said: list[str] = []
        self.write_problems()

    def write_problems(self, problems=PROBLEMS) -> None:
        with (self.folder / "problems.jsonl").open("w") as file:
            for row in problems:
                tests = [{"input": f"{n}\n", "output": f"{n}\n"} for n in row["official_tests"]]
                given = {"time_limit": 1.0, "memory_limit": 64.0, **row, "official_tests": tests}
                file.write(json.dumps(given) + "\n")

    def write_solutions(self, *rows, name="sols.jsonl") -> Path:
        path = self.folder / name
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
                "dataset": str(self.folder / "problems.jsonl"),
                "results_dir": self.folder / "results",
                "workers": 2,
                **more,
            }
        )

    def run(self, *rows, **more):
        """(exit status, metrics, records) of grading the solutions in a fresh sandbox."""
        path = self.write_solutions(*rows) if rows else self.folder / "sols.jsonl"
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
def bench(tmp_path):
    return Bench(tmp_path)


def test_statuses_verdicts_and_counts(bench):
    status, metrics, records = bench.run(
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
def test_broken_metrics_are_made_again(bench, junk):
    _, first, _ = bench.run(("1/A", "echo"))
    path = bench.folder / "results" / "sols" / "piston_eval_metrics.json"
    path.write_text(junk)
    status, second, _ = bench.run()
    assert status == 0
    assert second["calibration"].keys() == first["calibration"].keys()


def test_limits_and_the_problem_stand_in_the_record(bench):
    _, _, [record] = bench.run(("1/A", "echo"), time_limit_scale={"python": 2.0})
    assert (record["time_limit_s"], record["memory_limit_bytes"]) == (2.0, 64 << 20)
    assert (record["rating"], record["contest_id"], record["num_official"]) == (800, "1", 4)
    assert record["sandbox"]["toolchain"] == "Python 3.11"


def test_all_invalid_is_bad_input(bench):
    status, metrics, _ = bench.run(("9/Z", "echo"), "[]")
    assert (status, metrics["num_attempted"], metrics["pass_at_1"]) == (2, 0, None)


def test_a_second_run_has_nothing_to_do_and_says_so(bench):
    _, first, records = bench.run(("1/A", "echo"), ("2/B", "wrong"), ("9/Z", "x"))
    status, second, again = bench.run()
    assert status == 0
    assert bench.said[-1] == "Nothing left to do: all 3 solutions have their records."
    assert bench.sources_run() == []
    assert again == records
    assert second["run"]["graded_now"] == 0
    drop = ("timestamp", "run")
    assert {k: v for k, v in first.items() if k not in drop} == {
        k: v for k, v in second.items() if k not in drop
    }


def test_only_what_changed_is_graded_again(bench):
    bench.run(("1/A", "echo"), ("2/B", "echo"))
    _, _, records = bench.run(("1/A", "echo"), ("2/B", "wrong"))
    assert bench.sources_run() == ["wrong", "wrong"]
    assert [r["status"] for r in records] == ["passed", "failed"]


@pytest.mark.parametrize(
    "changed",
    [
        {"time_limit_scale": {"python": 1.5}},
        {"compare": "exact"},
        {"repeat": 2},
        {"max_stored_output": 10},
    ],
)
def test_flags_that_matter_grade_again(bench, changed):
    bench.run(("2/B", "echo"))
    bench.run(**changed)
    assert bench.sources_run()
    bench.run(**changed)
    assert not bench.sources_run()


def test_changed_tests_grade_again_and_changed_metadata_does_not(bench):
    bench.run(("1/A", "echo"), ("2/B", "echo"))
    bench.write_problems([{**PROBLEMS[0], "rating": 1200}, {**PROBLEMS[1], "official_tests": [7]}])
    _, _, records = bench.run()
    assert {c.stdin for c in bench.sandbox.calls if c.source == "echo"} == {b"7\n"}
    assert records[0]["rating"] == 1200


def test_lines_may_move_without_being_graded_again(bench):
    bench.run(("1/A", "echo"), ("2/B", "wrong"))
    _, metrics, records = bench.run(("2/B", "ok"), ("1/A", "echo"), ("2/B", "wrong"))
    assert set(bench.sources_run()) == {"ok"}
    assert [(r["line"], r["status"]) for r in records] == [
        (1, "failed"),
        (2, "passed"),
        (3, "failed"),
    ]
    assert metrics["run"]["graded_now"] == 1


def test_a_part_of_the_file_and_then_the_rest(bench):
    rows = [("1/A", "echo"), ("2/B", "echo"), ("2/B", "wrong")]
    assert len(bench.run(*rows, limit=1)[2]) == 1
    assert len(bench.run(problems=["2/B"])[2]) == 2
    assert len(bench.run()[2]) == 3
    assert bench.sources_run() == []


def test_identical_programs_are_graded_once_and_recorded_for_each(bench):
    _, metrics, records = bench.run(*[("1/A", "wrong_on 2")] * 5, ("2/B", "wrong_on 2"))
    assert bench.sources_run() == ["wrong_on 2"] * (4 + 2)
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


def test_the_same_records_whatever_the_number_of_workers(bench):
    rows = [("1/A", f"wrong_on {i} # {i}") for i in range(6)] + [("2/B", "echo")] * 3
    for stop in (False, True):
        seen = [
            bench.run(*rows, workers=n, stop_on_first_failure=stop, fresh=True)[2]
            for n in (1, 2, 7)
        ]
        assert seen[0] == seen[1] == seen[2]


def test_after_the_first_failure_nothing_counts_as_run(bench):
    _, _, [record] = bench.run(("1/A", "wrong_on 2 4"), stop_on_first_failure=True, workers=4)
    assert [(c["verdict"], c["reason"]) for c in record["details"]] == [
        ("AC", "passed_by_exact_match"),
        ("WA", "failed_outputs_match"),
        ("SK", "not_run_after_failure"),
        ("SK", "not_run_after_failure"),
    ]
    assert record["score"] == 0.25


def test_faults_of_the_machine_are_graded_again_at_the_next_start(bench):
    status, metrics, records = bench.run(("2/B", "fault"), ("1/A", "echo"))
    assert status == 3
    assert [r["status"] for r in records] == ["error", "passed"]
    assert (metrics["num_attempted"], metrics["num_correct"]) == (1, 1)
    assert any("machine failed" in line for line in loud_lines(metrics))
    assert "the box died" in " ".join(loud_lines(metrics))
    bench.run()
    assert set(bench.sources_run()) == {"fault"}


def test_a_missing_compiler_is_named_and_is_no_verdict(bench):
    status, metrics, [record, other] = bench.run(("1/A", "no_tool"), ("1/A", "echo"))
    assert (status, record["status"], record["verdict"]) == (3, "error", "ER")
    assert record["error"] == "g++ is missing: apt-get install g++"
    assert other["status"] == "passed"
    assert "apt-get install g++" in " ".join(loud_lines(metrics))
    assert max(map(len, loud_lines(metrics))) <= 80


def test_what_the_sandbox_refuses_does_not_leave_the_denominator(bench):
    _, metrics, [record] = bench.run(("1/A", "too_big"))
    assert (record["status"], record["verdict"]) == ("failed", "CE")
    assert record["error"] == "a source of 9 bytes, at most 8"
    assert metrics["num_attempted"] == 1


def test_an_unexpected_error_is_recorded_and_logged(bench):
    def explode(call: Call):
        if call.source == "bug":
            raise ZeroDivisionError("a bug")
        return answer(call)

    bench.write_solutions(("2/B", "bug"), ("1/A", "echo"))
    result = run_grading(bench.options(bench.folder / "sols.jsonl"), sandbox=FakeSandbox(explode))
    records = list(latest_records(result.files[0].folder))
    assert [r["status"] for r in records] == ["error", "passed"]
    assert records[0]["details"][0]["error"] == "ZeroDivisionError: a bug"
    logged = (result.files[0].folder / "grading.log").read_text()
    assert "Traceback" in logged
    files = [h for h in logging.getLogger().handlers if isinstance(h, logging.FileHandler)]
    assert not [h for h in files if h.baseFilename.endswith("grading.log")]


@pytest.mark.timeout(60)
def test_a_log_that_cannot_be_written_does_not_stop_the_run(bench):
    def explode(call: Call):
        raise OSError(24, "Too many open files")

    path = bench.write_solutions(("2/B", "x"), ("1/A", "y"))
    (bench.folder / "results" / "sols" / "grading.log").mkdir(parents=True)
    result = run_grading(bench.options(path), sandbox=FakeSandbox(explode))
    assert result.exit_status == 3
    assert [r["status"] for r in latest_records(result.files[0].folder)] == ["error", "error"]


def test_unstable_cases_are_reported(bench):
    turns = []

    def alternate(call: Call):
        turns.append(1)
        return call.stdin if len(turns) % 2 else b"no"

    bench.write_solutions(("2/B", "flaky"))
    result = run_grading(
        bench.options(bench.folder / "sols.jsonl", repeat=2, workers=1),
        sandbox=FakeSandbox(alternate),
    )
    metrics = result.files[0].metrics
    assert metrics["unstable_cases"]["count"] == 2
    assert metrics["unstable_cases"]["first"][0]["repeats"] == ["AC", "WA"]
    assert any("2 cases changed their verdict" in line for line in loud_lines(metrics))


def test_pass_at_k_is_by_problem_and_undefined_with_too_few_samples(bench):
    rows = [("1/A", "echo"), ("1/A", "wrong"), ("2/B", "wrong # 1"), ("2/B", "wrong # 2")]
    _, metrics, _ = bench.run(*rows, k=(1, 2, 3))
    assert metrics["pass_at_k"]["1"]["value"] == pytest.approx(0.25)
    assert metrics["pass_at_k"]["2"]["value"] == pytest.approx(0.5)
    assert metrics["pass_at_k"]["3"]["value"] is None
    assert "2 of 2 problems have fewer than 3 graded samples" in metrics["pass_at_k"]["3"]["note"]


def test_every_file_has_a_folder_of_its_own(bench):
    one = bench.write_solutions(("1/A", "echo"), name="one.jsonl")
    two = bench.write_solutions(("2/B", "wrong"), name="two.jsonl")
    result = run_grading(bench.options([one, two]), sandbox=FakeSandbox(answer))
    assert [f.folder.name for f in result.files] == ["one", "two"]
    assert [f.metrics["num_correct"] for f in result.files] == [1, 0]


def test_two_files_of_one_name_are_refused(bench):
    (bench.folder / "x").mkdir()
    one = bench.write_solutions(("1/A", "echo"), name="one.jsonl")
    two = bench.write_solutions(("1/A", "echo"), name="x/one.jsonl")
    with pytest.raises(InputError, match="would share the results folder 'one'"):
        run_grading(bench.options([one, two]), sandbox=FakeSandbox(answer))


def test_no_solution_left_is_said(bench):
    with pytest.raises(InputError, match="no solution is left to grade; see --problems"):
        bench.run(("1/A", "echo"), problems=["2/B"])


def test_unknown_ids_of_problems_are_named(bench):
    with pytest.raises(InputError, match="--problems: unknown problem '7/Q': not among the 5"):
        bench.run(("1/A", "echo"), problems=["7/Q"])
    status, metrics, records = bench.run(("1/A", "echo"), problems=["7/Q", "1/A"])
    assert (status, len(records)) == (0, 1)
    assert "--problems: unknown problem '7/Q'" in metrics["run"]["notes"][0]


def test_flags_without_effect_are_notes(bench):
    _, metrics, _ = bench.run(("1/A", "echo"), generated_tests_sample=0.5)
    assert metrics["run"]["notes"][0].startswith("--generated-tests-sample 0.5 changes nothing: ")


def test_an_unknown_checker_is_named(bench):
    with pytest.raises(InputError, match="--checker wcmpp: unknown checker 'wcmpp'"):
        bench.run(("1/A", "echo"), checker="wcmpp")


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"checker": "nosuch"}, "unknown checker 'nosuch'"),
        ({"checker": "testlib:/etc/passwd"}, "may only name a built-in"),
        ({"memory_limit": 0.5}, "memory limit 524288 bytes: 1 MiB at least is needed"),
        ({"time_limit": 1e-9}, "time limit 1e-09 s: 0.001 to 60000 s are possible"),
    ],
)
def test_a_problem_that_cannot_be_graded_loses_no_other(bench, columns, why):
    bench.write_problems([*PROBLEMS, {"id": "6/F", "official_tests": [1], **columns}])
    status, metrics, records = bench.run(("6/F", "echo"), ("1/A", "echo"))
    assert status == 0
    assert [r["status"] for r in records] == ["invalid", "passed"]
    assert records[0]["error"].startswith("line 1: problem 6/F is unusable: ")
    assert why in records[0]["error"]
    assert metrics["num_attempted"] == 1


def test_a_scale_beyond_what_can_be_run_is_told(bench):
    status, _, records = bench.run(("1/A", "echo"), time_limit_scale={"python": 1e30})
    assert status == 2
    assert "time limit 1e+30 s (1 s times 1e+30): 0.001 to 60000 s" in records[0]["error"]


def test_a_checker_by_name_judges_every_problem(bench):
    _, metrics, records = bench.run(("1/A", "wrong"), checker="wcmp")
    assert records[0]["details"][0]["reason"] == "failed_checker"
    assert metrics["stats"]["num_with_checker"] == 1


def test_the_table_fits_eighty_columns(bench):
    rows = [("1/A", "echo"), ("1/A", "wrong"), ("2/B", "broken"), ("3/C", "x"), ("9/Z", "x")]
    _, metrics, _ = bench.run(*rows, k=(1, 5))
    text = table(metrics, "results/sols")
    assert max(map(len, text.splitlines())) <= 80
    assert "pass@5       undefined: 2 of 2 problems have fewer than 5 graded samples" in text
    assert "failed              2" in text


def test_what_the_dataset_has_wrong_is_told(bench):
    bench.write_problems([*PROBLEMS, {**PROBLEMS[0]}])
    _, metrics, _ = bench.run(("2/B", "echo"))
    assert any(line.startswith("note: ") and "1/A twice" in line for line in loud_lines(metrics))

"""What a user means, and the one line said when it is nothing or several things."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.debugging.command import main
from eval.debugging.find import find_case
from eval.input_error import InputError
from tests.eval.debugging.made_run import MadeRun


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("", "which case? --problem ID says it"),
        ("--problem 1/B", "problem '1/B' is not among the 5 of"),
        ("--problem 1/B", "the nearest is '2/B'"),
        ("--problem 1/A", "problem '1/A' has 3 samples; choose one with --sample: 0 AC, 1 WA, 2 f"),
        ("--problem 1/A --sample 7", "problem '1/A' has no sample 7: it has 0 AC, 1 WA"),
        ("--problem 1/A --sample 0", "no case failed, of 2; choose one with --case, such as off"),
        ("--problem 1/A --sample 1 --case official:9", "there is no case official:9: official one"),
        ("--problem 1/A --sample 1 --case generated:0", "generated ones of this record are none"),
        ("--problem 1/A --sample 1 --case last", "--case 'last' is no case: write official:0"),
        ("--problem 1/A --case official:-1", "--case 'official:-1' is no case"),
        ("--problem 1/A --case official:²", "is no case"),
        ("--problem 1/A --sample 2", "no case was run, status 'failed': no code in the response"),
        ("--problem 9/Z", "no case was run, status 'invalid': line 7: unknown problem '9/Z'"),
        ("--problem 4/D --case official:0", "an interactive problem without an interactor"),
        ("--sample 1", "--sample without --problem"),
        ("--case official:1", "--case without --problem"),
        ("--list", "argument --list: expected one argument; see --help"),
        ("--list failed_cheker", "--list 'failed_cheker' is no reason; did you mean failed_checke"),
        ("--list fialed", "--list 'fialed' is no reason; did you mean failed: one of"),
        ("--problm 1/A", "unrecognized arguments: --problm 1/A; --problm: did you mean --problem"),
        ("--problem 1/A --sample x", "argument --sample: invalid int value: 'x'"),
        ("--problem 1/A --checker --shell", "--checker and --shell are two things"),
        ("--list WA --checker", "--list and --checker are two things"),
        ("--repeat 0 --problem 1/A", "--repeat 0 is less than 1"),
        ("--workers -1 --list WA", "--workers -1 is less than 0"),
        ("--rejudge", "--rejudge what? --list REASON or --problem ID says it"),
        ("--problem 5/X --rejudge", "problem '5/X' is not among the 5"),
        ("--nonsense", "unrecognized arguments: --nonsense; see --help"),
    ],
)
def test_bad_input_is_one_line(
    made: MadeRun, capsys: pytest.CaptureFixture[str], flags: str, message: str
) -> None:
    assert main([str(made.path), *flags.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and err.count("\n") == 1
    assert message in err


def test_results_that_are_not_there_are_named(
    made: MadeRun, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cases = [
        (made.path.parent / "solz", f"did you mean {made.path}"),
        (made.path.parent, f"did you mean {made.path}"),
        (tmp_path, "holds no piston_eval_results.jsonl; give the folder of one run"),
        (tmp_path / "a" / "b", "no results at"),
    ]
    for path, message in cases:
        assert main([str(path), "--list", "failed"]) == 2
        assert message in capsys.readouterr().err


def test_the_records_file_does_as_well(made: MadeRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(made.path / "piston_eval_results.jsonl"), "--list", "CU"]) == 0
    assert "3/C" in capsys.readouterr().out


def test_a_problem_may_be_spelled_otherwise(made: MadeRun) -> None:
    record, case = made.case("1a", 1)
    assert record["solution_id"] == "bad" and case["test_case_i"] == 0


def test_first_failed_passes_over_what_was_skipped() -> None:
    cases = [
        {"case_type": "official", "test_case_i": i, "verdict": v, "reason": "x"}
        for i, v in enumerate(("AC", "SK", "TLE", "WA"))
    ]
    assert find_case({"details": cases}, "first-failed")["verdict"] == "TLE"
    with pytest.raises(InputError, match="no case failed, of 2"):
        find_case({"details": cases[:2]}, "first-failed")


@pytest.mark.parametrize(
    ("reason", "problems"),
    [
        ("failed_outputs_match", ["1/A", "1/A"]),
        ("passed_by_checker", ["2/B"]),
        ("CU", ["3/C"]),
        ("checker_unclear", ["3/C"]),
        ("no_code", ["1/A"]),
        ("failed", ["1/A", "1/A", "1/A", "3/C"]),
        ("unsupported_interactive", ["4/D"]),
        ("sandbox_error", []),
    ],
)
def test_cases_are_listed_by_reason(
    made: MadeRun, capsys: pytest.CaptureFixture[str], reason: str, problems: list[str]
) -> None:
    assert main([str(made.path), "--list", reason]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines if "eval/debug_case.py" not in line)
    assert [line.split()[0] for line in lines if line[:2] in ("1/", "2/", "3/", "4/")] == problems


def test_the_list_is_narrowed_down(made: MadeRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(made.path), "--list", "failed", "--problem", "1/A", "--sample", "1"]) == 0
    out = capsys.readouterr().out
    assert "2 cases in 1 solutions" in out and "3/C" not in out


@pytest.mark.parametrize("details", [3, [3], [{"verdict": "WA"}], {"a": 1}, [{"verdict": []}]])
def test_damaged_records_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], details: object
) -> None:
    record = {"problem_id": "1/A", "line": 4, "sample_i": 0, "details": details}
    (tmp_path / "piston_eval_results.jsonl").write_text(json.dumps(record) + "\n")
    for flags in (["--list", "WA"], ["--problem", "1/A"]):
        assert main([str(tmp_path), *flags]) == 2
        assert "the record of line 4 is damaged" in capsys.readouterr().err


def test_help_fits_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["--help"])
    assert all(len(line) <= 80 for line in capsys.readouterr().out.splitlines())


def test_hostile_records_reach_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "\x1b[2J\u202e\x9b1m"
    case = {"case_type": evil, "test_case_i": evil, "verdict": "WA", "reason": evil, "error": evil}
    record = {
        "problem_id": evil, "solution_id": evil, "sample_i": evil, "status": evil,
        "verdict": evil, "line": 1, "details": [case],
    }  # fmt: skip
    (tmp_path / "piston_eval_results.jsonl").write_text(json.dumps(record) + "\n")
    main([str(tmp_path), "--list", "WA"])
    main([str(tmp_path), "--problem", evil])
    main([str(tmp_path), "--problem", "x"])
    out, err = capsys.readouterr()
    for line in (out + err).splitlines():
        assert line.isprintable(), line

"""Finding what the flags name, and the one-line errors when they name nothing."""

import json

import pytest

from gradebox.eval.cli.commands.debug import main
from gradebox.eval.common.errors import InputError
from gradebox.eval.debugging.find import SolutionQuery, find_case, find_record
from gradebox.eval.solutions.reader import recorded_solution
from testing.rows import rows


@pytest.mark.parametrize(
    ("flags", "message"),
    rows(__file__, "bad_input"),
)
def test_bad_input_is_reported_in_one_line(small_run, capsys, flags, message):
    assert main([str(small_run.path), *flags.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and err.count("\n") == 1
    assert message in err


def test_missing_results_are_reported_with_a_similar_name(small_run, capsys, tmp_path):
    cases = [
        (small_run.path.parent / "solz", f"did you mean {small_run.path}"),
        (small_run.path.parent, f"did you mean {small_run.path}"),
        (tmp_path, "contains no piston_eval_results.jsonl; give the folder of one run"),
        (tmp_path / "a" / "b", "contains no piston_eval_results.jsonl"),
    ]
    for path, message in cases:
        assert main([str(path), "--list", "failed"]) == 2
        assert message in capsys.readouterr().err


def test_first_failed_ignores_skipped_cases():
    cases = [
        {"case_type": "official", "test_case_i": i, "verdict": v, "reason": "x"}
        for i, v in enumerate(("AC", "SK", "TLE", "WA"))
    ]
    assert find_case({"details": cases}, "first-failed")["verdict"] == "TLE"
    with pytest.raises(InputError, match="none of the 2 cases failed"):
        find_case({"details": cases[:2]}, "first-failed")


@pytest.mark.parametrize(
    ("reason", "problems"),
    rows(__file__, "cases_are_listed"),
)
def test_cases_are_listed_by_reason(small_run, capsys, monkeypatch, reason, problems):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([str(small_run.path), "--list", reason]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines if "gradebox debug" not in line)
    assert [line.split()[0] for line in lines if line[:2] in ("1/", "2/", "3/", "4/")] == problems


def test_a_response_without_code_is_shown(small_run, capsys):
    assert main([str(small_run.path), "--problem", "1/A", "--sample", "2"]) == 0
    out = capsys.readouterr().out
    assert "no program was found in the response" in out
    assert "-- response, 12 bytes" in out and "I don't know" in out


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"id": "1/A", "response": "\x1b[2J none"}, "\x1b[2J none"),
        ({"id": "1/A", "messages": [{"role": "assistant", "content": "no"}]}, "no"),
        ({"id": "1/A", "code": "```py\n```"}, "```py\n```"),
        ({"id": "1/A", "completion": None}, ""),
    ],
)
def test_the_text_of_a_line(tmp_path, row, text):
    path = tmp_path / "s.jsonl"
    path.write_text('{"id": "0/A", "code": "x"}\n' + json.dumps(row) + "\n")
    assert recorded_solution(path, {"line": 2, "solution_id": "2"})[1] == text
    with pytest.raises(InputError, match="has no line 3"):
        recorded_solution(path, {"line": 3, "solution_id": "3"})


@pytest.mark.parametrize("details", [3, [3], [{"verdict": "WA"}], {"a": 1}, [{"verdict": []}]])
def test_damaged_records_are_reported(tmp_path, capsys, details):
    record = {"problem_id": "1/A", "line": 4, "sample_i": 0, "details": details}
    (tmp_path / "piston_eval_results.jsonl").write_text(json.dumps(record) + "\n")
    for flags in (["--list", "WA"], ["--problem", "1/A"]):
        assert main([str(tmp_path), *flags]) == 2
        assert (
            "the record of problem '1/A' was not written by the grader" in capsys.readouterr().err
        )


def test_hostile_records_are_escaped(tmp_path, capsys):
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


def test_a_sample_has_a_number_and_may_have_a_name_of_its_own(small_run):
    samples = [SolutionQuery("1/A", number) for number in range(3)]
    for number, query in enumerate(samples):
        record = find_record(small_run.results, query)
        assert record["sample_i"] == number
        if str(record["solution_id"]) not in "012":
            named = SolutionQuery("1/A", str(record["solution_id"]))
            assert find_record(small_run.results, named) == record
            assert list(named.records(small_run.results)) == [record]


def test_a_problem_is_found_by_another_spelling(small_run):
    record, case = small_run.case("1a", 1)
    assert record["solution_id"] == "bad" and case["test_case_i"] == 0

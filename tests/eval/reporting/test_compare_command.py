"""`python eval/compare.py A B`: its output, warnings and refusals."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

from gradebox.eval.cli.commands.compare import main
from tests.eval.results.statistics.made_records import case, solution, write_results

WRONG = [case("WA")]
METRICS = {"flags": {"--compare": "open-r1", "--workers": 2}, "calibration": {"cpu_s": 0.5}}


def two_runs(tmp_path: Path, change: dict[str, Any] | None = None, **metrics: Any) -> list[str]:
    """Write two runs of five problems: A solves 1/A, 1/B, 2/A; B solves 1/B, 2/A, 2/B, 3/A."""
    a = [
        solution(p, 0, [] if p in ("1/A", "1/B", "2/A") else WRONG)
        for p in ("1/A", "1/B", "2/A", "2/B", "3/A")
    ]
    b = [solution(p, 0, WRONG if p == "1/A" else []) for p in ("1/A", "1/B", "2/A", "2/B", "3/A")]
    for record in b:
        record.update(change or {})
    write_results(tmp_path / "a", a, METRICS)
    write_results(tmp_path / "b", b, {**METRICS, **metrics})
    return [str(tmp_path / "a"), str(tmp_path / "b")]


def test_prints_the_difference_and_changes(tmp_path, capsys):
    assert main(two_runs(tmp_path)) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "A            60.00%" in out
    assert "B            80.00%" in out
    assert "+20.00 points, standard error 37.42" in out
    assert "better on 2, worse on 1, the same on 2" in out
    assert "exact sign test: p = 1," in out
    changed = [line.split() for line in out.splitlines() if line.endswith(("won", "lost"))]
    assert changed == [
        ["1/A", "1/1", "0/1", "lost"],
        ["2/B", "0/1", "1/1", "won"],
        ["3/A", "0/1", "1/1", "won"],
    ]
    assert max(map(len, out.splitlines())) <= 80 + len(str(tmp_path))


def test_prints_json(tmp_path, capsys):
    assert main([*two_runs(tmp_path), "--json", "--cluster-by-contest"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["difference"] == pytest.approx(0.2)
    assert result["interval"]["method"] == "bootstrap over clusters"
    assert main([*two_runs(tmp_path), "--json", "--level", "0.8"]) == 0
    narrower = json.loads(capsys.readouterr().out)["interval"]
    assert narrower["level"] == 0.8 and narrower["low"] > -0.5
    assert result["differences"] == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"time_limit_s": 2.0}, "limits or checker differ for 5 of 5 common problems"),
        ({"memory_limit_bytes": 64 << 20}, "256 MB, no checker and 1.0 s, 64 MB"),
        ({"has_checker": True}, "no checker and 1.0 s, 256 MB, a checker"),
        ({"details": [to_builtins(case(index=7))]}, "tests differ for 5 of 5 common problems"),
        ({"details": [to_builtins(case(input_sha256="f" * 64))]}, "tests differ"),
        ({"details": [to_builtins(case(expected="3\n"))]}, "tests differ"),
    ],
)
def test_refuses_runs_with_different_limits_or_tests(tmp_path, capsys, change, words):
    runs = two_runs(tmp_path, change)
    assert main(runs) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in " ".join(err.split())
    assert "--anyway" in err
    assert main([*runs, "--anyway"]) == 0
    out, err = capsys.readouterr()
    assert "REFUSED" in err
    assert "points" in out


def test_refuses_different_comparison_modes(tmp_path, capsys):
    assert main(two_runs(tmp_path, flags={"--compare": "exact", "--workers": 9})) == 2
    err = capsys.readouterr().err
    assert "--compare was open-r1 and exact" in err
    assert "workers" not in err


@pytest.mark.parametrize(
    ("change", "metrics", "words"),
    [
        ({"sandbox": {"backend": "piston"}}, {}, 'sandbox backend was "box" and "piston"'),
        (
            {"sandbox": {"toolchain": "g++ 13"}, "language": "c++17"},
            {},
            None,  # run A has no program in that language
        ),
        ({}, {"calibration": {"cpu_s": 0.8}}, "the same program took 0.500 s and 0.800 s"),
        ({}, {"flags": {"--compare": "open-r1", "--fresh": True}}, None),
    ],
)
def test_warns_about_a_different_machine_or_sandbox(tmp_path, capsys, change, metrics, words):
    assert main(two_runs(tmp_path, change, **metrics)) == 0
    err = capsys.readouterr().err
    assert ("warning: " + words in err) if words else err == ""


def test_warns_about_problems_and_solutions_left_out(tmp_path, capsys):
    a = write_results(tmp_path / "a", [solution("1/A"), solution("1/B"), solution("9/Z")])
    b = write_results(
        tmp_path / "b", [solution("1/A"), solution("1/B"), solution("8/Y", 0, [case("ER")])]
    )
    assert main([str(a), str(b)]) == 0
    err = capsys.readouterr().err
    assert "1 solutions of B ended in infrastructure errors" in err
    assert "1 problems only in A and 0 only in B are left out" in err


def test_unprintable_characters_of_problem_ids_are_escaped(tmp_path, capsys):
    name = "\x1b[31m\u202eevil\n" + "x" * 100
    a = write_results(tmp_path / "a", [solution(name), solution("1/A")])
    b = write_results(tmp_path / "b", [solution(name, 0, WRONG), solution("1/A")])
    assert main([str(a), str(b), "--anyway"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert r"\x1b[31m\u202eevil\n" in out


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: p / "missing", "No such file"),
        (lambda p: write_results(p / "empty", []), "no graded solution in it"),
        (
            lambda p: write_results(p / "o", [{"problem_id": "1/A"}]),
            "was not written by the grader",
        ),
        (lambda p: write_results(p / "c", [solution("7/Q")]), "no problem in common"),
    ],
)
def test_bad_input_is_reported_in_one_line(tmp_path, capsys, make, words):
    good = write_results(tmp_path / "good", [solution("1/A")])
    assert main([str(good), str(make(tmp_path))]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("flag", "value"), [("--level", "95"), ("--seed", "-1")])
def test_out_of_range_flags_are_rejected(tmp_path, capsys, flag, value):
    assert main([*two_runs(tmp_path), flag, value]) == 2
    assert f"argument {flag}: " in capsys.readouterr().err

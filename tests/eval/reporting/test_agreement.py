"""`gradebox compare RUN`: agreement with the verdicts of the site that submissions come from."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli.commands.compare import main
from gradebox.eval.results.metrics import RunFacts, compute_metrics
from gradebox.eval.solutions.reader import read_rows
from tests.eval.results.statistics.made_records import case, solution, write_results

BAD = {"RE": [case("RE")], "WA": [case("WA")], "TLE": [case("TLE")], "AC": []}
FACTS = RunFacts("", {}, {}, None, {}, {})


def record(number: int, language: str, site: str, ours: str, **change: Any) -> dict[str, Any]:
    made = solution("1/A", number, BAD[ours])
    return {**made, "origin": {"site_language": language, "site_verdict": site}, **change}


@pytest.fixture
def run(tmp_path: Path) -> str:
    records = [
        record(0, "GNU C++17 (64)", "OK", "AC"),
        record(1, "GNU C++17 (64)", "OK", "WA"),
        record(2, "GNU C++17 (64)", "WRONG_ANSWER", "WA"),
        record(3, "PyPy 3-64", "TIME_LIMIT_EXCEEDED", "WA"),
        record(4, "PyPy 3-64", "SKIPPED", "AC"),
        record(5, "PyPy 3-64", "OK", "AC", status="error"),
        record(6, "\x1b[31mevil\u202e" + "x" * 200, "RUNTIME_ERROR", "RE"),
        solution("1/A", 7, []),
    ]
    write_results(tmp_path / "a", records, {})
    return str(tmp_path / "a")


def test_agreement_by_language_and_verdict(run, capsys):
    assert main([run, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    rows = {(r["language"][:6], r["site_verdict"]): r for r in result["rows"]}
    assert (rows["GNU C+", "OK"]["agree"], rows["GNU C+", "OK"]["same_verdict"]) == (0.5, 0.5)
    tle = rows["PyPy 3", "TIME_LIMIT_EXCEEDED"]
    assert (tle["agree"], tle["same_verdict"], tle["verdicts"]) == (1.0, 0.0, {"WA": 1})
    assert result["left_out"] == {"the site has not judged it": 1, "error": 1}
    assert sum(r["solutions"] for r in result["rows"]) == 5


SITE_VERDICTS = {"OK": "AC", "WRONG_ANSWER": "WA", "CHALLENGED": "WA", "RUNTIME_ERROR": "RE"}
SITE_VERDICTS |= {"TIME_LIMIT_EXCEEDED": "TLE", "IDLENESS_LIMIT_EXCEEDED": "TLE"}


def test_names_of_the_site(tmp_path, capsys):
    records = [record(i, "C++", site, ours) for i, (site, ours) in enumerate(SITE_VERDICTS.items())]
    write_results(tmp_path / "a", records, {})
    assert main([str(tmp_path / "a"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["site_verdict"]: row["same_verdict"] for row in rows} == dict.fromkeys(
        SITE_VERDICTS, 1.0
    )


@pytest.mark.parametrize("width", [80, 200])
def test_the_table_fits_the_terminal(run, width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    assert main([run]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "PyPy 3-64" in out
    assert ("TIME_LIMIT_EXCEEDED" in out) == (width > 80)


def test_a_run_without_a_sites_verdicts_needs_another_one(tmp_path, capsys):
    write_results(tmp_path / "a", [solution("1/A", 0, [])], {})
    assert main([str(tmp_path / "a")]) == 2
    assert "no record has a verdict of a site" in capsys.readouterr().err


def test_a_submission_keeps_what_the_site_says():
    row = {"submission_id": 5, "source": "x", "programmingLanguage": "GNU C++17 (64)",
           "verdict": "OK", "problem_id": "1/A", "known": {"site_verdict": "RE"}}  # fmt: skip
    (found,) = read_rows([row])
    assert found.known == {"site_verdict": "OK", "site_language": "GNU C++17 (64)"}
    (other,) = read_rows([{"id": "1/A", "code": "x", "known": {"site_verdict": "OK"}}])
    assert other.known == {}


def apart(records: list[dict[str, Any]]) -> dict[str, Any]:
    metrics = compute_metrics(records, [1], FACTS)
    return {name: metrics[name] for name in ("known_faults", "base_tests", "pass_at_1")}


def test_rows_known_to_be_wrong_are_counted_apart():
    records = [
        {**solution("a", 0, BAD["WA"]), "origin": {"errata": "wrong tests"}},
        {**solution("a", 1, []), "origin": {"errata": "wrong tests"}},
        {**solution("b", 0, BAD["WA"]), "origin": {"errata": "interactive"}},
        solution("c", 0, []),
        {**solution("d", 0, []), "status": "error", "origin": {"errata": "interactive"}},
    ]
    assert apart(records) == {
        "known_faults": {
            "faults": {"interactive": 1, "wrong tests": 1},
            "problems": 2,
            "solutions": 3,
            "passed": 1,
            "pass_at_1_without": 1.0,
        },
        "base_tests": None,
        "pass_at_1": 0.5,
    }
    assert apart(records[3:4])["known_faults"] is None


def test_base_and_plus():
    plus_fails = [case("AC", test_case_i=0), case("WA", test_case_i=1)]
    records = [
        {**solution("a", 0, plus_fails), "origin": {"base_tests": "1"}},
        {**solution("b", 0, []), "origin": {"base_tests": "1"}},
        {**solution("c", 0, plus_fails), "origin": {"base_tests": "2"}},
        solution("d", 0, []),
    ]
    assert apart(records)["base_tests"] == {
        "problems": 3,
        "pass_at_1": pytest.approx(2 / 3),
        "pass_at_1_with_plus": pytest.approx(1 / 3),
    }

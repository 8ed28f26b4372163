"""`Summary` on small runs whose statistics are known."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from gradebox.eval.results.statistics.counts import StatisticsOptions
from gradebox.eval.results.statistics.intervals import wilson
from gradebox.eval.results.statistics.summary import Summary
from tests.eval.results.statistics.made_records import case, solution

WRONG = [case("WA")]


def summarise(records: Iterable[Mapping[str, Any]], **options: Any) -> dict[str, Any]:
    summary = Summary()
    for record in records:
        summary.add(record)
    return summary.result(StatisticsOptions(**options))


def row(table: list[dict[str, Any]], group: str) -> dict[str, Any]:
    return next(r for r in table if r["group"] == group)


def mixed_run() -> list[dict[str, Any]]:
    """Return a run with 1/A 2 of 4 right, 1/B 0 of 2, 2/A 1 of 1, and three not counted."""
    return [
        solution("1/A", 0, rating=800, tags=["math", "dp"]),
        solution("1/A", 1, WRONG, rating=800, tags=["math", "dp"], score=0.5),
        solution("1/A", 2, rating=800, tags=["math", "dp"], language="c++17"),
        solution("1/A", 3, WRONG, rating=800, tags=["math", "dp"], language="c++17"),
        solution("1/B", 0, WRONG, rating=1000, tags=["dp"], has_checker=True, contest_year=2021),
        solution("1/B", 1, [case("RE")], rating=1000, tags=["dp"], has_checker=True),
        solution("2/A", 0, rating=None, tags=[], official_tests_complete=None, contest_year=None),
        solution("2/B", 0, [case("SK")]),
        solution("2/C", 0, [case("ER")]),
        solution("2/D", 0, status="invalid", verdict=None),
    ]


def test_means_are_over_problems_not_solutions():
    result = summarise(mixed_run())
    assert (result["solutions"], result["counted"], result["problems"]) == (10, 7, 3)
    assert result["pass_at_k"][0]["value"] == pytest.approx((0.5 + 0 + 1) / 3)
    assert result["statuses"] == {
        "failed": 4,
        "passed": 3,
        "error": 1,
        "invalid": 1,
        "no_tests": 1,
    }
    assert result["samples_per_problem"] == {"min": 1, "max": 4, "mean": pytest.approx(7 / 3)}
    assert result["score_mean"]["value"] == pytest.approx((2.5 / 4 + 0 + 1) / 3)
    assert result["verdicts"]["solutions"] == {"AC": 3, "WA": 3, "RE": 1}
    assert result["verdicts"]["cases"] == {"AC": 4, "WA": 3, "ER": 1, "RE": 1, "SK": 1}


def test_rows_of_the_tables():
    tables = summarise(mixed_run())["tables"]
    assert [r["group"] for r in tables["rating"]] == ["800-999", "1000-1199", "unrated"]
    assert [r["group"] for r in tables["tag"]] == ["dp", "math", "no tag"]
    assert row(tables["tag"], "dp")["pass_at_1"] == pytest.approx(0.25)
    assert row(tables["tag"], "dp")["problems"] == 2
    assert row(tables["language"], "c++17")["correct"] == 1
    assert row(tables["language"], "python")["pass_at_1"] == pytest.approx((0.5 + 0 + 1) / 3)
    assert [r["group"] for r in tables["checker"]] == ["with checker", "without checker"]
    assert row(tables["official_tests"], "unknown")["problems"] == 1
    assert [r["group"] for r in tables["year"]] == ["2020", "2021", "unknown"]


def test_pass_at_k_is_undefined_with_too_few_samples():
    one, two = summarise(mixed_run(), ks=[2, 1])["pass_at_k"]
    assert (one["k"], one["undefined"], one["note"]) == (1, 0, "")
    assert (two["k"], two["value"], two["interval"], two["undefined"]) == (2, None, None, 1)
    assert two["note"] == "undefined: 1 of 3 problems have fewer than 2 graded samples"
    assert two["value_of_defined"] == pytest.approx((5 / 6 + 0) / 2)


def test_the_curve_ends_at_the_fewest_samples_of_a_problem():
    summary = Summary()
    assert summary.curve() == []
    for i in range(9):
        for problem in ("1/A", "1/B")[: 2 if i < 7 else 1]:
            summary.add(solution(problem, i, WRONG if i else []))
    curve = summary.curve()
    assert [point["k"] for point in curve] == [1, 2, 3, 5, 7]
    assert [curve[0]["value"], curve[-1]["value"]] == pytest.approx([(1 / 9 + 1 / 7) / 2, 8 / 9])


def test_one_sample_a_problem_uses_wilson():
    records = [solution(f"{i}/A", 0, [] if i % 3 else WRONG) for i in range(30)]
    result = summarise(records)
    assert result["pass_at_k"][0]["interval"] == wilson(20, 30)
    assert row(result["tables"]["tag"], "math")["interval"]["method"] == "wilson"


def test_several_samples_use_a_bootstrap_over_problems_or_contests():
    records = [
        solution(f"{i}/{letter}", s, [] if (i + s) % 2 else WRONG)
        for i in range(6)
        for letter in "ABC"
        for s in range(3)
    ]
    plain = summarise(records)
    clustered = summarise(records, cluster_by_contest=True)
    assert plain["pass_at_k"][0]["interval"]["method"] == "bootstrap over problems"
    assert clustered["pass_at_k"][0]["interval"]["method"] == "bootstrap over clusters"
    assert clustered["clustered_by"] == "contest"
    assert clustered["pass_at_k"][0]["value"] == plain["pass_at_k"][0]["value"]


def test_pass_at_1_at_other_time_limits():
    records = [
        solution("1/A", 0, [case(cpu_s=0.5)]),
        solution("1/B", 0, [case(cpu_s=0.9)]),
        solution("1/C", 0, [case("TLE", cpu_s=1.2, output_passed=True)]),
        solution("1/D", 0, [case("TLE", cpu_s=1.2, output_passed=False)]),
    ]
    at = {r["factor"]: r for r in summarise(records)["time_limits"]}
    assert {f: r["pass_at_1"] for f, r in at.items()} == {0.8: 0.25, 1.0: 0.5, 1.25: 0.75}
    assert all(r["undecided"] == 0 and r["note"] == "" for r in at.values())
    del records[2]["details"][0]["output_passed"]
    late = summarise(records)["time_limits"][2]
    assert (late["pass_at_1"], late["undecided"]) == (0.5, 1)
    assert late["note"].startswith("1 solutions have their actual result")


def test_a_response_without_code_counts_as_failed():
    result = summarise([solution("1/A", 0, status="failed", verdict=None)])
    assert result["verdicts"]["solutions"] == {"no code": 1}
    assert result["pass_at_k"][0]["value"] == 0


def test_statistics_of_an_empty_run():
    result = summarise([solution("1/A", 0, [case("SK")])], ks=[1, 5])
    assert result["problems"] == 0
    assert [r["value"] for r in result["pass_at_k"]] == [None, None]
    assert result["pass_at_k"][0]["note"] == "no solution was graded"
    assert result["estimated_rating"] is None
    assert result["tables"]["rating"] == []


def test_estimated_rating_uses_rated_problems():
    result = summarise(mixed_run())["estimated_rating"]
    assert result["estimated"] is True
    assert result["problems"] == 2

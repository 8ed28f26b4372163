"""`python eval/report.py RESULTS`: its files, messages and exit statuses."""

import base64
import hashlib
import html
import re
from pathlib import Path

import pytest
from msgspec import to_builtins

from gradebox.eval.cli.commands import compare
from gradebox.eval.cli.commands.report import main
from tests.eval.reporting.synthetic_run import METRICS, synthetic_run
from tests.eval.results.statistics.made_records import case, solution, write_results


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return write_results(tmp_path / "run", synthetic_run(8), METRICS)


def test_the_page_is_written_beside_the_records(results, capsys):
    assert main([str(results)]) == 0
    assert capsys.readouterr().out == f"{results / 'report.html'}: 8 solutions\n"
    assert (
        main([str(results / "piston_eval_results.jsonl"), "-o", str(results / "report.html")]) == 0
    )
    assert sorted(path.name for path in results.iterdir()) == [
        "piston_eval_metrics.json",
        "piston_eval_results.jsonl",
        "report.html",
    ]


def test_the_same_results_make_the_same_page(results, tmp_path):
    for name in ("a.html", "b.html"):
        assert main([str(results), "-o", str(tmp_path / "out" / name)]) == 0
    assert (tmp_path / "out/a.html").read_bytes() == (tmp_path / "out/b.html").read_bytes()


def test_the_policy_allows_only_the_pages_script_and_style(results):
    main([str(results)])
    page = (results / "report.html").read_text("utf-8")
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert found
    policy = html.unescape(found[1])
    for element, directive in (("script", "script-src"), ("style", "style-src")):
        [content] = re.findall(rf"<{element}>(.*?)</{element}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    for directive in ("default-src", "base-uri", "form-action"):
        assert f"{directive} 'none'" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--k", "1,x"], "--k is '1,x'; give whole numbers such as 1,5,10"),
        (["--k", "0"], "--k is '0'; every k must be 1 or more"),
        (["--level", "1"], "--level: '1': give a number between 0 and 1"),
        (["--seed", "-3"], "--seed: '-3': give a whole number of at least 0"),
        (["-o", "/proc/no/report.html"], "choose another place with -o"),
    ],
)
def test_out_of_range_flags_are_rejected(results, capsys, arguments, words):
    assert main([str(results), *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([], "no record in it; grade some solutions first"),
        ([{"problem_id": "1/A"}], "the record of problem '1/A' was not written by"),
        (
            [{"problem_id": "1/A", "status": "passed", "details": [3]}],
            "not written by the grader",
        ),
        ([{**solution(), "score": -1.0}], "not written by the grader"),
    ],
)
def test_unusable_records_are_reported(tmp_path, capsys, records, words):
    write_results(tmp_path, records, METRICS)
    assert main([str(tmp_path)]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    "field",
    [
        {"verdict": "AC", "status": 5},
        {"verdict": ["AC"]},
        {"has_checker": "</script>"},
        {"official_tests_complete": 1e308},
        {"rating": 10**400},
        {"contest_year": 1e300},
        {"score": 1e308},
        {"memory_limit_bytes": "256"},
        {"details": [{**to_builtins(case("AC")), "reason": 7}]},
        {"details": [{**to_builtins(case("AC")), "test_case_i": "0"}]},
        {"details": [{**to_builtins(case("AC")), "case_type": "x; reboot"}]},
    ],
    ids=lambda field: next(iter(field)),
)
def test_a_field_of_another_type_is_reported(tmp_path, capsys, field):
    good = solution("1/A", 0, [])
    write_results(tmp_path / "a", [good, solution("1/B", 0, [])], METRICS)
    write_results(tmp_path / "b", [good, {**solution("1/B", 0, []), **field}], METRICS)
    for command in (main, compare.main):
        assert command([str(tmp_path / "b")] + [str(tmp_path / "a")] * (command != main)) == 2
        message = capsys.readouterr().err
        assert "the record of problem '1/B' was not written by the grader" in message
        assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("metrics", "why"),
    [
        ('{"calibration": {"cpu_s": 1e999}}', "out of range"),
        ('{"wall_s": NaN}', "invalid character"),
        ('{"flags": 1' + "0" * 5000 + "}", "out of range"),
    ],
)
def test_metrics_of_another_form_are_reported(results, capsys, metrics, why):
    (results / "piston_eval_metrics.json").write_text(metrics)
    assert main([str(results)]) == 2
    message = capsys.readouterr().err
    assert why in message
    assert len(message.splitlines()) == 1


def test_missing_results_are_reported(tmp_path, capsys):
    assert main([str(tmp_path / "none")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_unreadable_metrics_are_reported(results, capsys):
    (results / "piston_eval_metrics.json").write_text("{")
    assert main([str(results)]) == 2
    assert "metrics can't be read" in capsys.readouterr().err

"""The examples are made from their sources, and every solution gets its intended verdict."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from testing.commands import ROOT, run_command

EXAMPLES = ROOT / "examples"
COMMAND = "eval/eval_with_piston_gentest_checker_stats.py"
GRADE = (
    ("--solutions-path", "examples/solutions.jsonl"),
    ("--dataset", "examples/problems.jsonl"),
    ("--generated-tests-dir", "examples/generated_tests"),
    ("--max-generated-tests", "-1"),
    ("--skip-large-inputs-over", "3000000"),
    ("--sandbox", "local"),
)

# One xdist worker grades them once for all tests of this module.
pytestmark = [pytest.mark.xdist_group("examples"), pytest.mark.timeout(700)]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def grade(results: Path, *more: str) -> subprocess.CompletedProcess[str]:
    flags = [word for pair in GRADE for word in pair]
    return run_command(
        [sys.executable, COMMAND, *flags, "--results-dir", str(results), *more], timeout=600
    )


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the results folder of a run over all examples, and the output of the command."""
    folder = tmp_path_factory.mktemp("results")
    done = grade(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "solutions", done.stdout + done.stderr


@pytest.mark.slow(6)
def test_files_are_made_from_the_sources(tmp_path):
    script = EXAMPLES / "make_examples.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, timeout=60)
    for name in ("problems.jsonl", "solutions.jsonl"):
        assert (tmp_path / name).read_bytes() == (EXAMPLES / name).read_bytes()
    made = sorted((tmp_path / "generated_tests").iterdir())
    kept = sorted((EXAMPLES / "generated_tests").iterdir())
    assert [path.name for path in made] == [path.name for path in kept]
    for a, b in zip(made, kept, strict=True):
        assert pq.read_table(a).equals(pq.read_table(b))


def test_what_the_examples_cover():
    problems, solutions = (lines(EXAMPLES / f"{name}.jsonl") for name in ("problems", "solutions"))
    assert len(problems) >= 8 and len(solutions) >= 30
    assert {line.get("language", "response")[0] for line in solutions} >= set("pcr")
    assert any(row["generated_checker"] for row in problems)
    assert {row["input_mode"] for row in problems} == {"stdio", "file"}
    tests = pq.read_table(EXAMPLES / "generated_tests" / "test_cases_9001.parquet")
    assert max(map(len, tests["input"].to_pylist())) > 2_000_000
    assert all(path.stat().st_size < 1 << 20 for path in EXAMPLES.rglob("*") if path.is_file())
    expected = [line["expect"] for line in solutions]
    # No solution can be written for ER, which is a fault of the machine.
    verdicts = {"AC", "WA", "TLE", "MLE", "RE", "CE", "OLE", "CU", "SK", None}
    assert {expect["verdict"] for expect in expected} == verdicts
    statuses = {"passed", "failed", "no_tests", "unsupported", "invalid"}
    assert {expect["status"] for expect in expected} == statuses
    reasons = {"passed_by_exact_match", "passed_by_checker", "failed_outputs_match"}
    reasons |= {"failed_checker", "presentation_error", "checker_unclear"}
    assert {expect["reason"] for expect in expected} >= reasons | {"unsupported_interactive"}


@pytest.mark.slow(6)
def test_every_solution_gets_its_intended_verdict(graded):
    records = lines(graded[0] / "piston_eval_results.jsonl")
    solutions = lines(EXAMPLES / "solutions.jsonl")
    assert [r["line"] for r in records] == list(range(1, len(solutions) + 1))
    seen = {
        (line["id"], line["solution_id"]): (r["status"], r["verdict"])
        for line, r in zip(solutions, records, strict=True)
    }
    wanted = {
        (line["id"], line["solution_id"]): (line["expect"]["status"], line["expect"]["verdict"])
        for line in solutions
    }
    assert seen == wanted
    for line, record in zip(solutions, records, strict=True):
        reason = line["expect"]["reason"]
        of_verdict = [c for c in record["details"] if record["verdict"] in (c["verdict"], None)]
        assert reason is None or reason in {case["reason"] for case in of_verdict}, record
        skipped = [c for c in record["details"] if c["reason"] == "skipped_large_input"]
        assert len(skipped) == (1 if record["problem_id"] == "9001/D" else 0)
        assert record["num_skipped"] == len(skipped) or record["status"] == "unsupported"
        assert all(c["input_bytes"] > 3_000_000 and c["passed"] is None for c in skipped)
    metrics = json.loads((graded[0] / "piston_eval_metrics.json").read_text())
    passed = [status for status, _ in wanted.values()].count("passed")
    failed = [status for status, _ in wanted.values()].count("failed")
    assert (metrics["num_attempted"], metrics["num_correct"]) == (passed + failed, passed)


@pytest.mark.slow(6)
def test_a_second_run_grades_nothing_again(graded):
    before = (graded[0] / "piston_eval_results.jsonl").read_bytes()
    again = grade(graded[0].parent)
    assert again.returncode == 0
    assert "nothing" in (again.stdout + again.stderr).lower()
    assert (graded[0] / "piston_eval_results.jsonl").read_bytes() == before

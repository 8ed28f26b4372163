"""Records and metrics do not depend on the number of driver processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradebox.eval.cli.run import run_grading
from gradebox.eval.grading.options import Options
from gradebox.eval.results.records import read_records
from tests.eval.grading.drivers.small_work import (
    ROOT,
    options_of,
    records_of,
    unmeasured,
    write_work,
)
from tests.sandbox.backends import open_backend

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def box() -> None:
    with open_backend("box"):  # skips where no box works
        pass


@pytest.mark.parametrize(
    "flags",
    [{}, {"stop_on_first_failure": True, "generated_tests_workers": 1}, {"repeat": 2}],
    ids=["plain", "first failure", "repeat"],
)
def test_records_and_metrics_are_those_of_one_process(tmp_path: Path, flags: dict) -> None:
    write_work(tmp_path)
    found = {}
    for drivers in (1, 3):
        name = str(drivers)
        result = run_grading(options_of(tmp_path, name, drivers=drivers, **flags))
        metrics = result.files[0].metrics
        assert metrics is not None
        assert metrics["flags"]["--drivers"] == drivers
        found[drivers] = records_of(tmp_path, name), metrics["stats"], metrics["case_verdicts"]
    statuses = [record["status"] for record in found[1][0]]
    assert len(statuses) == 15
    assert {"passed", "failed", "invalid"} == set(statuses)
    assert found[1] == found[3]


def test_the_examples_have_the_same_records(tmp_path: Path) -> None:
    found = []
    for drivers in (1, 3):
        folder = tmp_path / str(drivers)
        options = Options(
            ROOT / "examples" / "solutions.jsonl",
            dataset=str(ROOT / "examples" / "problems.jsonl"),
            generated_tests_dir=ROOT / "examples" / "generated_tests",
            max_generated_tests=-1,
            results_dir=folder,
            sandbox="local",
            workers=3,
            drivers=drivers,
        )
        run_grading(options)
        found.append([unmeasured(r) for r in read_records(folder / "solutions")])
    assert len(found[0]) == 54
    assert found[0] == found[1]


def test_a_later_run_uses_the_records_of_another_number_of_drivers(tmp_path: Path) -> None:
    write_work(tmp_path)
    run_grading(options_of(tmp_path, "out", drivers=3))
    before = (tmp_path / "out" / "sols" / "piston_eval_results.jsonl").read_bytes()
    again = run_grading(options_of(tmp_path, "out", drivers=2)).files[0]
    assert (again.graded_now, again.from_before) == (0, 15)
    assert (tmp_path / "out" / "sols" / "piston_eval_results.jsonl").read_bytes() == before


def test_records_of_a_shared_cache_are_used(tmp_path: Path) -> None:
    write_work(tmp_path)
    run_grading(options_of(tmp_path, "first", cache=tmp_path / "cache"))
    second = run_grading(options_of(tmp_path, "second", cache=tmp_path / "cache", drivers=1))
    assert second.files[0].graded_now < 3  # an invalid line and one without code
    assert records_of(tmp_path, "first") == records_of(tmp_path, "second")

"""Records of runs with other numbers of driver processes are used.

That they are the same is tested beside those of servers: tests/eval/grading/remote/test_records.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gradebox.eval.cli.run import run_grading
from tests.eval.grading.drivers.small_work import (
    options_of,
    records_of,
    write_work,
)
from tests.sandbox.backends import open_backend

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def box() -> None:
    with open_backend("box"):  # skips where no box works
        pass


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

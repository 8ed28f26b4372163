"""Records are read as they are written, whatever happens to their file."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.debugging.reopen import Overrides
from gradebox.eval.reporting.run_view import RunView
from gradebox.eval.results.record import encode
from gradebox.eval.results.records import RESULTS_NAME
from gradebox.eval.results.statistics.counts import StatisticsOptions
from gradebox.sandbox.errors import RequestRefused
from tests.eval.results.statistics.made_records import case, solution


def line(sample: int, verdict: str = "AC") -> bytes:
    return encode(solution("1/A", sample, [case(verdict)]))


class Page:
    """What a page has after its requests: verdicts by place, and the last answer."""

    def __init__(self, run: RunView) -> None:
        self.run, self.rows = run, dict[int, list[Any]]()
        self.last: dict[str, Any] = {"epoch": 0, "change": 0}

    def verdicts(self) -> list[str]:
        while True:
            epoch = self.last["epoch"]
            self.last = self.run.changes(epoch, self.last["change"])
            if self.last["epoch"] != epoch:
                self.rows = {}
            self.rows.update(map(json.loads, self.last["rows"]))
            if not self.last["more"]:
                return [self.rows[place][5] for place in sorted(self.rows)]


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(RunView(str(tmp_path), StatisticsOptions(), Overrides()))


def test_a_run_in_progress_is_followed(page, tmp_path):
    path = tmp_path / RESULTS_NAME
    assert page.verdicts() == []
    path.write_bytes(line(0) + line(1, "WA")[:40])
    assert page.verdicts() == ["AC"]
    with path.open("ab") as file:
        file.write(line(1, "WA")[40:] + b"{damaged}\n" + line(2, "ER"))
    assert page.verdicts() == ["AC", "WA", "ER"]
    assert page.last["damaged"] == 1 and not page.last["finished"]
    with path.open("ab") as file:
        file.write(line(2, "TLE"))
    assert page.verdicts() == ["AC", "WA", "TLE"]
    statistics = page.run.summary()["statistics"]
    assert statistics["statuses"] == {"failed": 2, "passed": 1}
    assert page.run.record(page.last["epoch"], 2)["verdict"] == "TLE"


@pytest.mark.parametrize("how", ["replaced", "cut", "rewritten", "removed"])
def test_another_file_is_read_from_its_start(page, tmp_path, how):
    path = tmp_path / RESULTS_NAME
    path.write_bytes(line(0) + line(1))
    assert page.verdicts() == ["AC", "AC"]
    before = page.last["epoch"]
    if how == "replaced":
        (tmp_path / "new").write_bytes(line(1, "WA") + line(0))
        (tmp_path / "new").rename(path)
    elif how == "cut":
        path.write_bytes(line(0, "RE"))
    elif how == "rewritten":  # in place, as long or longer
        path.write_bytes(line(0, "WA") + line(1, "WA") + line(2, "WA"))
    else:
        path.unlink()
    wanted = {"replaced": ["WA", "AC"], "cut": ["RE"], "rewritten": ["WA"] * 3, "removed": []}
    assert page.verdicts() == wanted[how]
    with pytest.raises(RequestRefused, match="the records have changed"):
        page.run.record(before, 0)

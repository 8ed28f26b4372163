"""A driver process that dies at any moment: nothing is lost, nothing is recorded twice."""

import gc
import itertools
import json
import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli.run import run_grading
from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.drivers.pool import DriverPool
from gradebox.eval.results.records import RESULTS_NAME, RecordLog, read_records
from gradebox.sandbox.children import child as child_module
from testing.commands import run_command
from testing.fakes.fake_drivers import PAUSE, fake_drivers
from tests.eval.grading.drivers.small_work import options_of

pytestmark = pytest.mark.slow
NAME = "results"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with 40 solutions of 4 problems, whose programs run in fake sandboxes."""
    monkeypatch.setenv(PAUSE, "0.005")
    write_work(tmp_path)
    with fake_drivers():
        yield tmp_path


def write_work(folder: Path, *sources: str, tests: int = 5) -> None:
    cases = [{"input": f"{n}\n", "output": f"{n}\n"} for n in range(tests)]
    rows = [{"id": f"{n}/A", "official_tests": cases} for n in range(4)]
    found = [f"{'wrong' if n % 3 == 0 else 'right'} {n // 2}" for n in range(40)]
    lines = [{"id": f"{n % 4}/A", "code": code} for n, code in enumerate([*found, *sources])]
    for name, content in (("problems.jsonl", rows), ("sols.jsonl", lines)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in content))


def records_of(folder: Path, name: str = NAME) -> list[dict[str, Any]]:
    return list(read_records(folder / name / "sols"))


def recorded(folder: Path, name: str = NAME) -> int:
    path = folder / name / "sols" / RESULTS_NAME
    return path.read_bytes().count(b"\n") if path.exists() else 0


def driver_pids() -> list[int]:
    """Return the driver processes of this process."""
    return [d.child.pid for p in pools() for d in list(p.drivers) if d.child.status is None]


def pools() -> list[DriverPool]:
    return [found for found in gc.get_objects() if type(found) is DriverPool]


@pytest.mark.parametrize("records", [1, 30])
def test_the_solutions_of_a_killed_driver_are_graded_again(work, records, monkeypatch):
    run_grading(options_of(work, "calm", drivers=1))
    appended, append = itertools.count(1), RecordLog.append

    def kill_one(file: RecordLog, line: bytes) -> int:
        if next(appended) == records:
            os.kill(driver_pids()[-1], signal.SIGKILL)
        return append(file, line)

    monkeypatch.setattr(RecordLog, "append", kill_one)
    run_grading(options_of(work))
    assert next(appended) == 41
    assert records_of(work) == records_of(work, "calm")
    assert [r["line"] for r in records_of(work)] == list(range(1, 41))


def test_a_solution_that_ends_every_driver_is_an_error(work):
    write_work(work, "deadly")
    result = run_grading(options_of(work))
    records = records_of(work)
    assert [r["line"] for r in records if r["status"] == "error"] == [41]
    assert len(records) == 41
    why = "the driver process ended 3 times while it graded this: signal 9"
    assert records[-1]["error"].startswith(why)
    assert result.exit_status == 3
    log = (work / NAME / "sols" / "grading.log").read_text()
    assert log.count("another one takes its place") == 3


def test_drivers_that_cannot_start_end_the_run(work, tmp_path, monkeypatch):
    boot = tmp_path / "boot.py"
    boot.write_text("raise SystemExit('no such library')\n")
    with monkeypatch.context() as patch:  # ends before `work` does, which sets it as well
        patch.setattr(child_module, "BOOT", boot)
        with pytest.raises(InputError, match=r"before they grade anything.*no such library"):
            run_grading(options_of(work))
        assert driver_pids() == []


def test_messages_of_drivers_are_those_of_one_process(work):
    write_work(work, "warns 1", "warns 2", "warns 3")
    run_grading(options_of(work, drivers=4))
    log = (work / NAME / "sols" / "grading.log").read_text()
    assert log.count("WARNING gradebox.test: driver: all is not well") == 15


@pytest.mark.parametrize("drivers", [1, 2])
def test_a_full_disk_ends_the_run_and_the_next_one_continues(tmp_path, drivers):
    """A file size limit stands for a full disk, because the same write fails."""
    write_work(tmp_path)
    command = [sys.executable, "-m", "testing.fakes.fake_drivers", str(tmp_path), "0", str(drivers)]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    full = run_command(command, timeout=150, preexec_fn=limit)
    assert full.returncode == 2, full.stderr
    assert "File too large; raise the file size limit (ulimit -f), then start" in full.stdout
    kept = len(records_of(tmp_path))
    assert 0 < kept < 40
    with fake_drivers():
        again = run_grading(options_of(tmp_path)).files[0]
    assert (again.from_before, again.graded_now) == (kept, 40 - kept)


def test_no_descriptor_and_no_thread_is_left(work):
    run_grading(options_of(work, "first"))
    before = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    run_grading(options_of(work, "second", drivers=4))
    assert (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == before
    assert driver_pids() == []

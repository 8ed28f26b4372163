"""A grading session opens its parts on demand and closes them in order."""

import json
from pathlib import Path
from typing import Any

from gradebox.eval.grading.options import Options
from gradebox.eval.grading.session import GradingSession
from gradebox.sandbox import opening
from testing.fakes.scripted_sandbox import FakeSandbox


def options(folder: Path, **more: Any) -> Options:
    row = {"id": "1/A", "official_tests": [{"input": "1", "output": "1"}], "checker": "wcmp"}
    (folder / "p.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "s.jsonl").write_text(json.dumps({"id": "1/A", "code": "x"}) + "\n")
    return Options(solutions_path=folder / "s.jsonl", dataset=str(folder / "p.jsonl"), **more)


def test_the_sandbox_hides_what_the_run_reads_and_writes(tmp_path, monkeypatch):
    hidden: list[str] = []

    def open_sandbox(*_: Any, **known: Any) -> FakeSandbox:
        hidden.extend(map(str, known["hidden"]))
        return FakeSandbox()

    monkeypatch.setattr(opening, "open_sandbox", open_sandbox)
    for name in ("generated", "checker.cpp"):
        (tmp_path / name).mkdir()
    more = {
        "generated_tests_dir": tmp_path / "generated",
        "results_dir": tmp_path / "results",
        "cache": tmp_path / "cache",
        "checker": f"cpp:{tmp_path / 'checker.cpp'} --strict",
    }
    with GradingSession(options(tmp_path, **more)) as session:
        _ = session.sandbox
    names = {"s.jsonl", "p.jsonl", "generated", "results", "cache", "checker.cpp"}
    assert {str(tmp_path / name) for name in names} == set(hidden)

"""A grading session opens its parts on demand and closes them in order."""

import json
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.cases.judges import try_named_checker
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.session import GradingSession
from gradebox.sandbox import opening
from testing.fakes.scripted_sandbox import FakeSandbox


def options(folder: Path, **more: Any) -> Options:
    row = {"id": "1/A", "official_tests": [{"input": "1", "output": "1"}], "checker": "wcmp"}
    (folder / "p.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "s.jsonl").write_text(json.dumps({"id": "1/A", "code": "x"}) + "\n")
    return Options(solutions_path=folder / "s.jsonl", dataset=str(folder / "p.jsonl"), **more)


def test_inputs_and_plans_need_no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "open_sandbox", lambda *_, **__: pytest.fail("it was opened"))
    with GradingSession(options(tmp_path)) as session:
        session.open_inputs()
        problem = session.problems.get("1/A")
        assert problem is not None
        assert [ref.index for ref in session.plan(problem)] == [0]
        assert [file.name for file in session.files] == ["s.jsonl"]


def test_resources_are_closed_before_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []

    class Sandbox(FakeSandbox):
        def close(self) -> None:
            closed.append("sandbox")

    monkeypatch.setattr(opening, "open_sandbox", lambda *_, **__: Sandbox())
    with GradingSession(options(tmp_path)) as session:
        problem = session.problems.get("1/A")
        assert problem is not None
        resources = session.resources.acquire(problem)
        monkeypatch.setattr(resources, "close", lambda: closed.append("resources"))
    assert closed == ["resources", "sandbox"]


def test_a_given_sandbox_stays_open(tmp_path: Path) -> None:
    class Sandbox(FakeSandbox):
        def close(self) -> None:
            pytest.fail("it was closed")

    with GradingSession(options(tmp_path), Sandbox()) as session:
        assert session.description.backend == "box"


def test_case_settings_are_the_options_with_changes(tmp_path: Path) -> None:
    with GradingSession(options(tmp_path, repeat=3, compare="exact"), FakeSandbox()) as session:
        settings = session.case_settings(stored_bytes=7)
    assert (settings.compare, settings.repeat, settings.stored_bytes) == ("exact", 3, 7)


def test_an_unknown_named_checker_is_reported(tmp_path: Path) -> None:
    with (
        GradingSession(options(tmp_path, checker="wcmpp"), FakeSandbox()) as session,
        pytest.raises(InputError, match="--checker wcmpp: unknown checker"),
    ):
        try_named_checker(session.options, session.sandbox)


def test_the_sandbox_hides_what_the_run_reads_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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

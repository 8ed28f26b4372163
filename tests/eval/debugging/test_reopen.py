"""The run's own files and flags, found again; what is gone is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from eval.debugging.find import open_results
from eval.debugging.reopen import Overrides, at_hand, options_of
from eval.input_error import InputError
from tests.eval.debugging.made_run import MadeRun, write_lines


def test_the_runs_flags_are_taken(tmp_path: Path) -> None:
    made = MadeRun(tmp_path, compare="exact", max_stored_output=77, checker="wcmp")
    options = options_of(made.results, Overrides())
    assert (options.compare, options.max_stored_output, options.checker) == ("exact", 77, "wcmp")
    assert options.sandbox == "local"  # what it ran in, though it was asked for by "auto"
    assert options_of(made.results, Overrides(checker="ncmp")).checker == "ncmp"
    assert options_of(made.results, Overrides(sandbox="piston")).sandbox == "piston"
    assert options_of(made.results, Overrides(endpoint=("http://h",))).endpoint == ("http://h",)


def test_a_moved_folder_finds_its_relative_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    made = MadeRun(there)
    metrics_path = made.path / "piston_eval_metrics.json"
    metrics = json.loads(metrics_path.read_text())
    metrics["flags"]["--dataset"] = "problems.jsonl"
    metrics["flags"]["--checker"] = "testlib:check/it.cpp -q"
    metrics["run"]["solutions_file"] = "sols.jsonl"
    metrics["run"]["folder"] = str(there)
    metrics_path.write_text(json.dumps(metrics))
    (there / "check").mkdir()
    (there / "check" / "it.cpp").write_text("")
    shutil.move(there, tmp_path / "here")
    monkeypatch.chdir("/")
    options = options_of(open_results(str(tmp_path / "here/results/sols")), Overrides())
    assert options.dataset == str(tmp_path / "here" / "problems.jsonl")
    assert options.solutions_path == (str(tmp_path / "here" / "sols.jsonl"),)
    assert options.checker == f"testlib:{tmp_path / 'here' / 'check' / 'it.cpp'} -q"


def test_isolation_is_never_switched_off_by_a_file(tmp_path: Path) -> None:
    made = MadeRun(tmp_path)
    path = made.path / "piston_eval_metrics.json"
    metrics = json.loads(path.read_text())
    metrics["flags"]["--allow-unsafe-sandbox"] = True
    path.write_text(json.dumps(metrics))
    assert options_of(made.results, Overrides()).allow_unsafe_sandbox is False
    assert options_of(made.results, Overrides(allow_unsafe_sandbox=True)).allow_unsafe_sandbox


@pytest.mark.parametrize("metrics", [None, "{", "[]", '{"flags": 3, "run": []}'])
def test_a_run_that_has_not_ended_needs_its_files_named(
    tmp_path: Path, metrics: str | None
) -> None:
    made = MadeRun(tmp_path)
    path = made.path / "piston_eval_metrics.json"
    path.unlink()
    if metrics is not None:
        path.write_text(metrics)
    with pytest.raises(InputError, match=r"has not ended: start it again, or give --solutions-pat"):
        options_of(made.results, Overrides())
    given = Overrides(str(made.solutions_path), str(made.problems_path))
    assert options_of(made.results, given).dataset == str(made.problems_path)


@pytest.mark.parametrize("value", [{"--k": "x"}, {"--workers": "x", "--repeat": [1]}])
def test_flags_that_make_no_sense_are_said(tmp_path: Path, value: dict[str, object]) -> None:
    made = MadeRun(tmp_path)
    path = made.path / "piston_eval_metrics.json"
    metrics = json.loads(path.read_text())
    metrics["flags"] |= value
    path.write_text(json.dumps(metrics))
    with pytest.raises(InputError, match="can't be used"):
        options_of(made.results, Overrides())


def opened(made: MadeRun, problem: str = "1/A", sample: int = 1) -> None:
    record, case = made.case(problem, sample)
    with at_hand(made.results, record, case, Overrides(), made.sandbox):
        pass


def test_a_changed_solutions_file_is_not_mistaken_for_the_runs(tmp_path: Path) -> None:
    made = MadeRun(tmp_path)
    lines = made.solutions_path.read_text().splitlines(keepends=True)
    made.solutions_path.write_text("".join(lines[1:]))
    with pytest.raises(InputError, match=r"line 2 of .* the record is of 'bad': the file was chan"):
        opened(made)
    made.solutions_path.write_text(lines[0])
    with pytest.raises(InputError, match="has no line 2: it was cut; give --solutions-path"):
        opened(made)
    made.solutions_path.unlink()
    with pytest.raises(InputError, match="does not exist"):
        opened(made)


def test_a_test_that_is_gone_is_said(tmp_path: Path) -> None:
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "wrong"}])
    made.write_problems([{"id": "1/A", "official_tests": ["1\n"]}])
    record, case = made.case("1/A", 0, "official:1")
    with (
        pytest.raises(InputError, match=r"test official:1 of problem 1/A is not in .* any more"),
        at_hand(made.results, record, case, Overrides(), made.sandbox),
    ):
        pass
    write_lines(made.problems_path, [{"id": "5/X", "official_tests": []}])
    with pytest.raises(InputError, match="unknown problem '1/A'"):
        opened(made, sample=0)


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    made = MadeRun(tmp_path)
    moved = tmp_path / "elsewhere"
    shutil.move(made.path, moved)
    shutil.rmtree(tmp_path / "results")
    results = open_results(str(moved))
    record, case = next((r, r["details"][0]) for r in made_records(moved) if r["line"] == 2)
    with at_hand(results, record, case, Overrides(), made.sandbox):
        pass
    assert not (tmp_path / "results").exists()


def made_records(folder: Path) -> list[dict]:
    lines = (folder / "piston_eval_results.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]

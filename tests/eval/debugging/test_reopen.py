"""Finding the run's flags and files again; what is missing is named."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.debugging.find import open_results
from gradebox.eval.debugging.reopen import Overrides, open_case, run_options
from tests.eval.debugging.small_run import SmallRun, write_lines


@contextlib.contextmanager
def changed_metrics(small_run: SmallRun) -> Iterator[dict[str, Any]]:
    """Let a block change the metrics of a run."""
    path = small_run.path / "piston_eval_metrics.json"
    metrics = json.loads(path.read_text())
    yield metrics
    path.write_text(json.dumps(metrics))


def test_the_runs_flags_are_used(tmp_path):
    small_run = SmallRun(tmp_path, compare="exact", max_stored_output=77, checker="wcmp")
    options = run_options(small_run.results, Overrides())
    assert (options.compare, options.max_stored_output, options.checker) == ("exact", 77, "wcmp")
    assert options.sandbox == "local"  # what --sandbox auto chose
    assert run_options(small_run.results, Overrides(checker="ncmp")).checker == "ncmp"
    assert run_options(small_run.results, Overrides(sandbox="piston")).sandbox == "piston"
    assert run_options(small_run.results, Overrides(endpoint=("http://h",))).endpoint == (
        "http://h",
    )


def test_relative_paths_are_found_in_a_moved_folder(tmp_path, monkeypatch):
    there = tmp_path / "there"
    there.mkdir()
    small_run = SmallRun(there)
    with changed_metrics(small_run) as metrics:
        metrics["flags"] |= {"--dataset": "problems.jsonl", "--checker": "testlib:check/it.cpp -q"}
        metrics["run"] |= {"solutions_file": "sols.jsonl", "folder": str(there)}
    (there / "check").mkdir()
    (there / "check" / "it.cpp").write_text("")
    shutil.move(there, tmp_path / "here")
    monkeypatch.chdir("/")
    options = run_options(open_results(str(tmp_path / "here/results/sols")), Overrides())
    assert options.dataset == str(tmp_path / "here" / "problems.jsonl")
    assert options.solutions_path == (str(tmp_path / "here" / "sols.jsonl"),)
    assert options.checker == f"testlib:{tmp_path / 'here' / 'check' / 'it.cpp'} -q"


def test_results_can_not_disable_isolation(tmp_path):
    small_run = SmallRun(tmp_path)
    with changed_metrics(small_run) as metrics:
        metrics["flags"]["--allow-unsafe-sandbox"] = True
    assert run_options(small_run.results, Overrides()).allow_unsafe_sandbox is False
    assert run_options(small_run.results, Overrides(allow_unsafe_sandbox=True)).allow_unsafe_sandbox


@pytest.mark.parametrize(
    ("server", "known", "used"),
    [
        ("http://elsewhere:2000", "", False),
        ("elsewhere:2000/api/v2", "http://elsewhere:2000", True),
        ("http://169.254.169.254", "http://elsewhere:2000", False),
        ("http://127.0.0.1:4000", "", True),
        ("http://localhost:2000", "", True),
    ],
)
def test_results_do_not_choose_where_tests_are_sent(tmp_path, monkeypatch, server, known, used):
    monkeypatch.setenv("PISTON_ENDPOINTS", known)
    small_run = SmallRun(tmp_path)
    with changed_metrics(small_run) as metrics:
        metrics["flags"] |= {"--sandbox": "piston", "--endpoint": [server]}
        metrics["sandbox"]["backend"] = "piston"
    results = open_results(str(small_run.path))
    if used:
        assert list(run_options(results, Overrides()).endpoint) == [server]
    else:
        with pytest.raises(InputError, match="does not decide where tests are sent: give --endp"):
            run_options(results, Overrides())
        given = run_options(results, Overrides(endpoint=("http://mine",)))
        assert given.endpoint == ("http://mine",)
    assert run_options(results, Overrides(sandbox="local")).endpoint == ()


@pytest.mark.parametrize("metrics", [None, "{", "[]", '{"flags": 3, "run": []}'])
def test_an_unfinished_run_needs_its_files_named(tmp_path, metrics):
    small_run = SmallRun(tmp_path)
    path = small_run.path / "piston_eval_metrics.json"
    path.unlink()
    if metrics is not None:
        path.write_text(metrics)
    with pytest.raises(InputError, match=r"unfinished; start it again, or give --solutions-pat"):
        run_options(small_run.results, Overrides())
    given = Overrides(str(small_run.solutions_path), str(small_run.problems_path))
    assert run_options(small_run.results, given).dataset == str(small_run.problems_path)


@pytest.mark.parametrize("value", [{"--k": "x"}, {"--workers": "x", "--repeat": [1]}])
def test_unusable_flags_are_reported(tmp_path, value):
    small_run = SmallRun(tmp_path)
    with changed_metrics(small_run) as metrics:
        metrics["flags"] |= value
    with pytest.raises(InputError, match="unusable"):
        run_options(small_run.results, Overrides())


def open_sample(small_run: SmallRun, problem: str = "1/A", sample: int = 1) -> None:
    record, case = small_run.case(problem, sample)
    with open_case(small_run.results, record, case, Overrides(), small_run.sandbox):
        pass


def test_a_changed_solutions_file_is_rejected(tmp_path):
    small_run = SmallRun(tmp_path)
    lines = small_run.solutions_path.read_text().splitlines(keepends=True)
    small_run.solutions_path.write_text("".join(lines[1:]))
    with pytest.raises(InputError, match=r"line 2 of .* the record is of 'bad'; give the run"):
        open_sample(small_run)
    small_run.solutions_path.write_text(lines[0])
    with pytest.raises(InputError, match="has no line 2, so it was shortened"):
        open_sample(small_run)
    small_run.solutions_path.unlink()
    with pytest.raises(InputError, match="does not exist"):
        open_sample(small_run)


def test_a_missing_test_is_reported(tmp_path):
    small_run = SmallRun(tmp_path, [{"id": "1/A", "code": "wrong"}])
    small_run.write_problems([{"id": "1/A", "official_tests": ["1\n"]}])
    record, case = small_run.case("1/A", 0, "official:1")
    with (
        pytest.raises(InputError, match=r"test official:1 of problem 1/A is no longer in"),
        open_case(small_run.results, record, case, Overrides(), small_run.sandbox),
    ):
        pass
    write_lines(small_run.problems_path, [{"id": "5/X", "official_tests": []}])
    with pytest.raises(InputError, match="unknown problem '1/A'"):
        open_sample(small_run, sample=0)

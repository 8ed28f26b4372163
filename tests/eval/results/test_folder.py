"""The results folder between runs."""

import json
import os

import pytest
from msgspec.structs import replace

from gradebox.eval.common.errors import InputError
from gradebox.eval.results.folder import OTHERS_NAME, ResultsFolder, discard_results, results_stem
from gradebox.eval.results.record import SCHEMA, as_json, encode
from gradebox.eval.results.records import read_records
from testing.fakes.records import CASE, record


def fields(solution_id: str, key: str = "", **more):
    return as_json(record(solution_id, key=key or f"key {solution_id}", **more))


def open_folder(tmp_path, **more) -> ResultsFolder:
    return ResultsFolder(tmp_path / "run", backend="box", **more)


def ids(folder_or_path) -> list[str]:
    return [r["solution_id"] for r in read_records(folder_or_path)]


def test_compacting_puts_records_in_the_order_of_the_solutions(tmp_path):
    with open_folder(tmp_path) as folder:
        for ordinal, name in ((2, "c"), (0, "a"), (1, "b")):
            folder.place(ordinal, fields(name))
        assert folder.compact() is True
    assert ids(tmp_path / "run") == ["a", "b", "c"]


def test_the_next_run_reuses_records_and_does_not_rewrite_an_ordered_file(tmp_path):
    with open_folder(tmp_path) as folder:
        for ordinal, name in enumerate("ab"):
            folder.place(ordinal, fields(name))
        assert folder.compact() is False
    before = (tmp_path / "run" / "piston_eval_results.jsonl").stat()
    with open_folder(tmp_path) as folder:
        assert folder.find("key b") == fields("b")
        assert folder.find("another") is None
        assert [folder.place(i, fields(n)) for i, n in enumerate("ab")] == [True, True]
        assert folder.compact() is False
        assert folder.added == 0
    after = (tmp_path / "run" / "piston_eval_results.jsonl").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_changed_record_replaces_the_old_one(tmp_path):
    with open_folder(tmp_path) as folder:
        folder.place(0, fields("a", score=0.5))
        folder.place(1, fields("b"))
    with open_folder(tmp_path) as folder:
        assert folder.place(0, fields("a", score=0.7)) is False
        folder.place(1, fields("b"))
        folder.compact()
    assert [r["score"] for r in read_records(tmp_path / "run")] == [0.7, 1.0]


def test_records_of_another_schema_are_counted_and_graded_again(tmp_path):
    with open_folder(tmp_path) as folder:
        for ordinal, name in enumerate("abc"):
            folder.place(ordinal, fields(name, schema=SCHEMA - 1))
    with open_folder(tmp_path) as folder:
        assert (folder.outdated, folder.find("key a")) == (3, None)
        folder.place(0, fields("a"))  # and then the run is killed
    with open_folder(tmp_path) as folder:
        assert folder.outdated == 2
        folder.place(0, fields("a"))
        folder.place(1, fields("b"))
        folder.compact()  # a run over a part of the solutions
    with open_folder(tmp_path) as folder:
        assert folder.outdated == 1
        assert sorted(ids(tmp_path / "run")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "unsettled", [{"status": "error"}, {"details": (CASE, replace(CASE, verdict="ER"))}]
)
def test_records_with_infrastructure_errors_are_not_reused(tmp_path, unsettled):
    with open_folder(tmp_path) as folder:
        folder.place(0, fields("a", **unsettled))
        assert folder.find("key a") is None
    with open_folder(tmp_path) as folder:
        assert folder.find("key a") is None


def test_a_run_over_some_solutions_keeps_the_records_of_the_others(tmp_path):
    with open_folder(tmp_path) as folder:
        for ordinal, name in enumerate("abc"):
            folder.place(ordinal, fields(name))
        folder.compact()
    with open_folder(tmp_path) as folder:
        folder.place(0, fields("b"))
        folder.compact()
    assert ids(tmp_path / "run") == ["b"]
    assert ids(tmp_path / "run" / OTHERS_NAME) == ["a", "c"]
    with open_folder(tmp_path) as folder:
        assert folder.find("key a") == fields("a")
        for ordinal, name in enumerate("abc"):
            assert folder.place(ordinal, fields(name))
        folder.compact()
    assert ids(tmp_path / "run") == ["a", "b", "c"]
    assert not (tmp_path / "run" / OTHERS_NAME).exists()


def test_fresh_removes_records_and_metrics(tmp_path):
    with open_folder(tmp_path) as folder:
        folder.place(0, fields("a"))
        folder.write_metrics({"x": 1})
    with open_folder(tmp_path / "other") as other, pytest.raises(InputError, match="another run"):
        other.place(0, fields("b"))
        discard_results([tmp_path / "run", other.path])
    assert ids(tmp_path / "run") == ["a"] and ids(other.path) == ["b"]
    discard_results([tmp_path / "run", other.path, other.path])
    for path in (tmp_path, tmp_path / "other"):
        with open_folder(path) as folder:
            assert folder.find("key a") is folder.find("key b") is None
            assert not folder.metrics_path.exists()


def test_the_first_new_record_removes_the_metrics(tmp_path):
    with open_folder(tmp_path) as folder:
        folder.write_metrics({"x": 1})
        assert json.loads(folder.metrics_path.read_text()) == {"x": 1}
        folder.place(0, fields("a"))
        assert not folder.metrics_path.exists()


def test_records_of_another_sandbox_are_refused(tmp_path):
    with open_folder(tmp_path) as folder:
        folder.place(0, fields("a"))
    with pytest.raises(
        InputError, match=r"made with sandbox 'box', this run uses 'piston'.*--fresh"
    ):
        ResultsFolder(tmp_path / "run", backend="piston")
    discard_results([tmp_path / "run"])
    with ResultsFolder(tmp_path / "run", backend="piston") as folder:
        assert folder.find("key a") is None


def test_a_second_run_in_the_folder_is_refused(tmp_path):
    with open_folder(tmp_path), pytest.raises(InputError, match="another run"):
        open_folder(tmp_path)


def test_damaged_lines_are_removed(tmp_path):
    with open_folder(tmp_path) as folder:
        folder.place(0, fields("a"))
    path = tmp_path / "run" / "piston_eval_results.jsonl"
    with path.open("ab") as file:
        file.write(b"\0\0\0\n" + encode(fields("b")) + encode(fields("c"))[:40])
    with open_folder(tmp_path) as folder:
        assert folder.find("key b") == fields("b")
        assert folder.find("key c") is None
        for ordinal, name in enumerate("abc"):
            folder.place(ordinal, fields(name))
        folder.compact()
    assert ids(tmp_path / "run") == ["a", "b", "c"]


@pytest.mark.parametrize(
    "damage",
    [{"details": None}, {"details": [5]}, {"status": "great"}, {"status": 5}, {"score": 1e999}],
)
def test_a_solution_with_an_invalid_record_is_graded_again(tmp_path, damage):
    with open_folder(tmp_path) as folder:
        folder.place(0, fields("a"))
        folder.place(1, fields("b"))
    path = tmp_path / "run" / "piston_eval_results.jsonl"
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(json.dumps({**json.loads(first), **damage}).encode() + b"\n" + second)
    with open_folder(tmp_path) as folder:
        assert folder.find("key a") is None
        assert folder.find("key b") == fields("b")
        for ordinal, name in enumerate("ab"):
            folder.place(ordinal, fields(name))
        folder.compact()
    assert list(read_records(path)) == [fields("a"), fields("b")]


@pytest.mark.parametrize("name", ["piston_eval_metrics.json", OTHERS_NAME])
def test_a_folder_in_place_of_a_file_is_reported(tmp_path, name):
    (tmp_path / "run" / name).mkdir(parents=True)
    with pytest.raises(InputError, match=f"{name}: can't"), open_folder(tmp_path) as folder:
        folder.place(0, fields("a"))


def test_a_file_in_place_of_the_folder_is_reported(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match=r"can't write results there.*another --results-dir"):
        open_folder(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_reported(tmp_path):
    (tmp_path / "run").mkdir(mode=0o500)
    with pytest.raises(InputError, match=r"Permission denied.*another --results-dir"):
        open_folder(tmp_path)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("a.jsonl", "a"),
        ("a.jsonl.gz", "a"),
        ("a.b.json", "a.b"),
        ("run-1.2", "run-1.2"),
        ("A.JSONL", "A"),
        (".jsonl", ".jsonl"),
    ],
)
def test_the_folder_is_named_after_the_solutions_file(tmp_path, name, stem):
    assert results_stem(tmp_path / name) == stem

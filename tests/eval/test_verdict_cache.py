"""Records shared between runs."""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import replace

import pytest

from eval.input_error import InputError
from eval.records import as_json
from eval.verdict_cache import VerdictCache
from tests.eval.test_run import Bench
from tests.fakes.records import CASE, record

FIELDS = as_json(record(key="ab12"))


def test_what_was_put_is_found_by_its_key(tmp_path):
    VerdictCache(tmp_path / "c").put(FIELDS)
    cache = VerdictCache(tmp_path / "c")
    assert cache.find("ab12") == FIELDS
    assert cache.find("ab13") is None


@pytest.mark.parametrize("damage", [b"", b"junk", b"x\x9c"])
def test_a_damaged_file_is_no_record(tmp_path, damage):
    cache = VerdictCache(tmp_path)
    cache.put(FIELDS)
    [path] = tmp_path.glob("*/*")
    path.write_bytes(damage)
    assert cache.find("ab12") is None
    cache.put(FIELDS)
    assert cache.find("ab12") == FIELDS


@pytest.mark.parametrize("damage", [{"status": None}, {"details": 5}, {"score": "1"}])
def test_what_is_no_whole_record_is_not_taken(tmp_path, damage):
    cache = VerdictCache(tmp_path)
    cache.put(FIELDS)
    [path] = tmp_path.glob("*/*")
    path.write_bytes(zlib.compress(json.dumps({**FIELDS, **damage}).encode()))
    assert cache.find("ab12") is None


def test_a_file_under_a_wrong_name_is_no_record(tmp_path):
    cache = VerdictCache(tmp_path)
    cache.put(FIELDS)
    [path] = tmp_path.glob("*/*")
    path.rename(path.with_name("ab99.json.z"))
    assert cache.find("ab99") is None


@pytest.mark.parametrize(
    "unsettled", [{"status": "error"}, {"details": (replace(CASE, verdict="ER"),)}]
)
def test_faults_of_the_machine_are_not_kept(tmp_path, unsettled):
    cache = VerdictCache(tmp_path)
    cache.put(as_json(record(key="ab12", **unsettled)))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't be used: File exists; give another folder"):
        VerdictCache(tmp_path / "file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named_before_anything_runs(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="can't be written; change its owner or mode"):
        VerdictCache(tmp_path)


def test_a_cache_that_fails_does_not_cost_the_record(tmp_path, monkeypatch):
    bench = Bench(tmp_path)

    def full(self: VerdictCache, record: object) -> None:
        raise InputError("--cache: no space left")

    with monkeypatch.context() as patch:
        patch.setattr(VerdictCache, "put", full)
        with pytest.raises(InputError, match="no space left"):
            bench.run(("1/A", "echo"), cache=tmp_path / "cache")
    _, metrics, _ = bench.run(("1/A", "echo"))
    assert metrics["run"]["from_before"] == 1


def test_another_run_takes_the_verdicts_and_its_own_names(tmp_path):
    bench = Bench(tmp_path)
    cache = tmp_path / "cache"
    _, _, first = bench.run(("1/A", "echo"), ("2/B", "wrong"), cache=cache)
    _, metrics, second = bench.run(
        ("2/B", "wrong"), ("1/A", "echo"), cache=cache, results_dir=tmp_path / "elsewhere"
    )
    assert bench.sources_run() == []
    assert [(r["line"], r["problem_id"], r["status"]) for r in second] == [
        (1, "2/B", "failed"),
        (2, "1/A", "passed"),
    ]
    assert second[1]["details"] == first[0]["details"]
    assert metrics["run"]["from_before"] == 2

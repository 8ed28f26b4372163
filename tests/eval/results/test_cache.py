"""The cache of records that runs share."""

import json
import os
import zlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from gradebox.eval.common.errors import InputError
from gradebox.eval.results.cache import VerdictCache
from gradebox.eval.results.record import as_json
from testing.fakes.records import CASE, record
from tests.eval.cli.test_run import RunFolder

FIELDS = as_json(record(key="ab12"))


def stored(folder: Path) -> tuple[VerdictCache, Path]:
    """Return a cache with FIELDS, and the file that has them."""
    cache = VerdictCache(folder)
    cache.put(FIELDS)
    [path] = folder.glob("*/*")
    return cache, path


def test_a_stored_record_is_found_by_its_key(tmp_path):
    stored(tmp_path / "c")
    cache = VerdictCache(tmp_path / "c")
    assert cache.find("ab12") == FIELDS
    assert cache.find("ab13") is None


def packed(**changes: object) -> bytes:
    return zlib.compress(json.dumps({**FIELDS, **changes}).encode())


@pytest.mark.parametrize(
    "damage",
    [b"", b"junk", b"x\x9c", packed(status=None), packed(details=5), packed(score="1"),
     packed(key="ab99")],
    ids=["empty", "junk", "cut", "status", "details", "score", "another key"],
)  # fmt: skip
def test_a_damaged_file_is_ignored_and_can_be_replaced(tmp_path, damage):
    cache, path = stored(tmp_path)
    path.write_bytes(damage)
    assert cache.find("ab12") is None
    cache.put(FIELDS)
    assert cache.find("ab12") == FIELDS


@pytest.mark.parametrize(
    "unsettled", [{"status": "error"}, {"details": (replace(CASE, verdict="ER"),)}]
)
def test_records_with_infrastructure_errors_are_not_stored(tmp_path, unsettled):
    cache = VerdictCache(tmp_path)
    cache.put(as_json(record(key="ab12", **unsettled)))
    assert list(tmp_path.iterdir()) == []


def entry(folder):
    path = folder / "ab" / "ab12.json.z"
    path.parent.mkdir()
    return path


@pytest.mark.parametrize(
    "occupy",
    [
        lambda folder: os.mkfifo(entry(folder)),  # opening it would wait for a writer
        lambda folder: entry(folder).mkdir(),
        lambda folder: entry(folder).symlink_to("/dev/zero"),
        lambda folder: (folder / "ab").write_text("a file in the place of the folder"),
        lambda folder: (folder / "ab").symlink_to("nowhere"),
    ],
    ids=["fifo", "folder", "device", "file for folder", "link"],
)
def test_what_others_put_in_its_place_stops_nothing(tmp_path, occupy):
    cache = VerdictCache(tmp_path)
    occupy(tmp_path)
    assert cache.find("ab12") is None
    cache.put(FIELDS)


def test_an_entry_that_expands_without_end_is_ignored(tmp_path, monkeypatch):
    cache = VerdictCache(tmp_path)
    cache.put(FIELDS)
    assert cache.find("ab12") == FIELDS
    monkeypatch.setattr("gradebox.eval.results.cache.LARGEST", 100)
    assert cache.find("ab12") is None


def test_an_unusable_folder_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't be used: File exists; give another folder"):
        VerdictCache(tmp_path / "file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_reported_when_opened(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="can't be written; change its owner or mode"):
        VerdictCache(tmp_path)


def test_another_run_reuses_verdicts_under_its_own_names(tmp_path):
    folder = RunFolder(tmp_path)
    cache = tmp_path / "cache"
    _, _, first = folder.run(("1/A", "echo"), ("2/B", "wrong"), cache=cache)
    _, metrics, second = folder.run(
        ("2/B", "wrong"), ("1/A", "echo"), cache=cache, results_dir=tmp_path / "elsewhere"
    )
    assert folder.sources_run() == []
    assert [(r["line"], r["problem_id"], r["status"]) for r in second] == [
        (1, "2/B", "failed"),
        (2, "1/A", "passed"),
    ]
    assert second[1]["details"] == first[0]["details"]
    assert metrics["run"]["from_before"] == 2


def test_a_failing_cache_does_not_lose_the_record(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path)

    def full(self: VerdictCache, record: object) -> None:
        raise InputError("--cache: no space left")

    with monkeypatch.context() as patch:
        patch.setattr(VerdictCache, "put", full)
        with pytest.raises(InputError, match="no space left"):
            folder.run(("1/A", "echo"), cache=tmp_path / "cache")
    _, metrics, _ = folder.run(("1/A", "echo"))
    assert metrics["run"]["from_before"] == 1


def test_everybody_who_may_write_to_the_folder_may_add_records(tmp_path):
    tmp_path.chmod(0o2770)
    old = os.umask(0o077)
    try:
        VerdictCache(tmp_path).put(FIELDS)
    finally:
        os.umask(old)
    assert (tmp_path / "ab").stat().st_mode & 0o7777 == 0o2770

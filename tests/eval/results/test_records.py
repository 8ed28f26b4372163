"""Reading and writing records."""

import errno
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.common.errors import InputError
from gradebox.eval.results.record import as_json, encode
from gradebox.eval.results.records import (
    RESULTS_NAME,
    RecordLog,
    latest_records,
    read_records,
    stored_text,
    to_frame,
)
from testing.fakes.records import CASE, record


def line(solution_id: str = "1", **fields) -> bytes:
    return encode(as_json(record(solution_id, **fields)))


# The documented fields of a record and of its cases. Users' scripts rely on these names.
FIELDS = (
    "schema problem_id solution_id sample_i line language status verdict score error rating tags "
    "official_tests_complete num_official num_generated num_skipped compile details sandbox key"
)
CASE_FIELDS = (
    "case_type test_case_i passed verdict score output expected error reason cpu_s wall_s "
    "memory_bytes contended exit_code signal stderr checker input_bytes input_sha256 "
    "output_bytes output_sha256 transcript"
)


def test_fields_are_in_the_documented_order():
    fields = json.loads(line())
    assert " ".join(fields).startswith(FIELDS + " ")
    assert " ".join(fields["details"][0]).startswith(CASE_FIELDS + " ")
    assert not {"repeats", "input"} & fields["details"][0].keys()


@given(st.binary(max_size=300), st.integers(0, 300))
def test_stored_text_is_the_start_of_the_output(data, limit):
    text = stored_text(data, limit)
    cut = data[:limit]
    whole = cut.decode("utf-8", "backslashreplace")
    assert whole.startswith(text) or len(data) > limit
    assert len(text) <= 4 * limit
    assert json.loads(json.dumps(text)) == text
    if len(data) <= limit:
        assert text == whole


def test_stored_text_escapes_bytes_that_are_not_utf8():
    assert stored_text(b"a\xffb\x00", 10) == "a\\xffb\x00"


def write(path, *parts: bytes):
    path.write_bytes(b"".join(parts))
    return path


def test_the_last_record_of_a_solution_wins(tmp_path):
    path = write(
        tmp_path / RESULTS_NAME,
        line("a", score=0.1),
        line("b", score=0.2),
        line("a", score=0.3),
        line("c")[:-20],
    )
    assert [r["score"] for r in read_records(path)] == [0.1, 0.2, 0.3]
    assert [(r["solution_id"], r["score"]) for r in latest_records(tmp_path)] == [
        ("b", 0.2),
        ("a", 0.3),
    ]


def test_a_damaged_line_in_the_middle_is_reported(tmp_path):
    path = write(tmp_path / "r.jsonl", line(), b"\0\0\0\n", line())
    with pytest.raises(InputError, match="line 2 is not a record; start the run again"):
        list(read_records(path))


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(InputError, match="can't read records: No such file"):
        list(read_records(tmp_path / "none.jsonl"))


@pytest.mark.parametrize("cut", [1, 5, 200])
def test_a_cut_last_line_is_removed_before_the_next_record(tmp_path, cut):
    path = write(tmp_path / "r.jsonl", line("a"), line("b")[:-cut])
    log = RecordLog(path)
    assert log.append(line("c")) == len(line("a"))
    log.close()
    assert [r["solution_id"] for r in read_records(path)] == ["a", "c"]


def test_records_of_any_size_are_read_by_offset(tmp_path):
    log = RecordLog(tmp_path / "r.jsonl")
    big = line("big", error="x" * 300_000)
    offsets = [log.append(x) for x in (line("a"), big, line("b"))]
    assert [log.read(at)["solution_id"] for at in offsets] == ["a", "big", "b"]
    assert log.read_line(offsets[1]) == big
    log.close()
    log.close()


def test_a_record_that_a_full_disk_cut_is_removed(tmp_path, monkeypatch):
    log = RecordLog(tmp_path / "r.jsonl")
    log.append(line("a"))
    write_all, room = os.write, [100]

    def write_some(fd, data):
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = write_all(fd, data[: room[0]])
        room[0] -= done
        return done

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write_some)
        with pytest.raises(InputError, match="No space left on device; free some space, then"):
            log.append(line("b"))
    log.append(line("c"))
    log.close()
    assert [r["solution_id"] for r in read_records(tmp_path / "r.jsonl")] == ["a", "c"]


def test_a_file_that_cannot_be_opened_is_reported(tmp_path):
    with pytest.raises(InputError, match="can't write records: Is a directory"):
        RecordLog(tmp_path)


def test_tables_of_solutions_and_of_cases(tmp_path):
    write(tmp_path / RESULTS_NAME, line("a", details=(CASE, CASE)), line("b"))
    frame = to_frame(tmp_path)
    assert list(frame["solution_id"]) == ["a", "b"]
    assert list(frame["compile.ok"]) == [True, True]
    cases = to_frame(tmp_path, cases=True)
    assert list(cases["solution_id"]) == ["a", "a", "b"]
    assert list(cases["verdict"]) == ["AC"] * 3

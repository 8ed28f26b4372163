"""Solutions files: formats of a line, bad lines and bad files."""

import gzip
import json
from pathlib import Path

import pytest

import gradebox.eval.solutions.files as solution_files
from gradebox.eval.common.errors import InputError
from gradebox.eval.solutions.reader import read_solutions
from gradebox.eval.solutions.solution import Solution
from testing.rows import rows


def write(path: Path, *rows: object) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read_one(tmp_path: Path, row: object) -> Solution:
    (solution,) = read_solutions([write(tmp_path / "s.jsonl", row)])
    return solution


@pytest.mark.parametrize(("row", "expected"), rows(__file__, "forms"))
def test_formats_of_a_line(tmp_path, row, expected):
    """Expected: problem, solution, language, code."""
    solution = read_one(tmp_path, row)
    found = [solution.problem_id, solution.solution_id, solution.language, solution.code]
    assert (solution.error, found) == (None, expected)


BAD_LINES: list[tuple[str, str]] = [
    *rows(__file__, "bad_lines"),
    ('{"id": ' + "9" * 5000 + "}", r"line 2: (not JSON|id has|id is)"),
    ("[" * 100_000, r"line 2: (JSON nested too deeply|not JSON)"),
    ('{"id": "%s", "code": "x"}' % ("a" * 201), r"line 2: id has 201 characters: at most 200"),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_bad_line_is_reported_and_the_others_are_read(tmp_path, line, message):
    good = '{"id": "1/A", "code": "x"}'
    first, bad, last = read_solutions([write(tmp_path / "s.jsonl", good, line, good)])
    assert (first.error, last.error) == (None, None)
    assert (first.line, bad.line, last.line) == (1, 2, 3)
    assert bad.error is not None
    assert "\n" not in bad.error
    assert len(bad.error) < 400
    with pytest.raises(ValueError, match=message):
        raise ValueError(bad.error)


def test_a_line_that_is_not_utf8_is_reported_and_the_others_are_read(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'{"id":"1/A","code":"x"}\n{"id":"1/A","code":"\xff"}\n{"id":"1/A","code":"y"}'
    )
    first, bad, last = read_solutions([path])
    assert bad.error == "line 2: not UTF-8 at byte 20: save the file as UTF-8"
    assert (first.code, last.code) == ("x", "y")


def test_a_line_that_is_too_long_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr(solution_files, "MAX_LINE_BYTES", 1000)
    path = write(
        tmp_path / "s.jsonl",
        {"id": "1/A", "code": "x"},
        {"id": "1/A", "code": "y" * 5_000_000},
        {"id": "1/A", "code": "z"},
    )
    first, bad, last = read_solutions([path])
    assert bad.error.startswith("line 2: the line is longer than 1000 bytes: ")
    assert (first.code, last.code, last.line) == ("x", "z", 3)


def test_bom_crlf_blank_lines_and_a_missing_last_newline_are_accepted(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"id":"1/A","code":"x"}\r\n\r\n  \n'
        b'{"id":"1/A","code":"y\xe2\x80\xa8","rating":NaN}\r\n{"id":"1/B","code":"z"}'
    )
    found = [(s.line, s.problem_id, s.sample_i, s.code) for s in read_solutions([path])]
    assert found == [(1, "1/A", 0, "x"), (4, "1/A", 1, "y\u2028"), (5, "1/B", 0, "z")]


def test_blank_lines_are_not_counted(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'\n{"id":"1/A"}\r\n\r\n  \n{"id":"1/B"}')
    assert solution_files.count_lines(path) == 2
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert solution_files.count_lines(path) is None


@pytest.mark.parametrize("name", ["s.jsonl.gz", "s.jsonl"])
def test_gzip_is_recognised_by_its_first_bytes(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(b'{"id":"1/A","code":"x"}\n'))
    assert [s.code for s in read_solutions([path])] == ["x"]


def test_a_cut_gzip_file_raises_after_its_readable_lines(tmp_path):
    path = tmp_path / "s.jsonl.gz"
    rows = "".join(json.dumps({"id": "1/A", "code": str(i)}) + "\n" for i in range(5000))
    data = gzip.compress(rows.encode())
    path.write_bytes(data[: len(data) // 2])
    solutions = read_solutions([path])
    assert next(solutions).code == "0"
    with pytest.raises(InputError, match=r"s.jsonl.gz is damaged after line \d+ .*copy it again"):
        list(solutions)


def test_unusable_files_are_refused_before_the_first_solution(tmp_path):
    (tmp_path / "blank.jsonl").write_text("\n  \n")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "lines.zst").write_bytes(b"\x28\xb5\x2f\xfd\x04")
    (tmp_path / "wide.jsonl").write_text('{"id":"1/A"}', encoding="utf-16")
    (tmp_path / "table.parquet").write_bytes(b"PAR1....")
    for name, message in (
        ("none.jsonl", r"none.jsonl does not exist: give a JSON-lines file"),
        ("none*.jsonl", r"no file matches .*none\*.jsonl: quote the glob"),
        ("", r" is a folder: give a file of it, or a glob such as .*/\*.jsonl"),
        ("blank.jsonl", r"blank.jsonl is empty: give a JSON-lines file, one object a line"),
        ("empty.jsonl", r"empty.jsonl is empty"),
        ("wide.jsonl", r"wide.jsonl is not UTF-8 but UTF-16 or UTF-32"),
        ("lines.zst", r"lines.zst is compressed by zstd: unzstd it, or compress it by gzip"),
        ("table.parquet", r"table.parquet is a parquet file: export it as JSON lines"),
    ):
        with pytest.raises(InputError, match=message):
            read_solutions([tmp_path / name if name else tmp_path])
    with pytest.raises(InputError, match="--solutions-path is empty"):
        read_solutions([])


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (b"{", "not JSON"),
        (b'{"tags": ["id", "id", "x"]}', "no problem: give id"),
        (b"[1, 2]", "a JSON list, not an object"),
        (b'"id",code', "not JSON"),
        (b'{"id": "\xe9"}', "not UTF-8 at byte 8"),
    ],
)
def test_a_bad_first_line_does_not_affect_the_others(tmp_path, first, message):
    path = tmp_path / "s.jsonl"
    path.write_bytes(first + b'\n{"id": "1/A", "code": "0"}\n')
    bad, good = read_solutions([path])
    assert message in str(bad.error)
    assert (good.line, good.code, good.error) == (2, "0", None)


def test_globs_are_sorted_and_an_existing_path_is_not_a_glob(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c[1].jsonl"):
        write(tmp_path / name, {"id": "1/A", "code": name})
    found = list(read_solutions([f"{tmp_path}/[ab].jsonl", tmp_path / "c[1].jsonl"]))
    assert [s.code for s in found] == ["a.jsonl", "b.jsonl", "c[1].jsonl"]
    assert [s.sample_i for s in found] == [0, 1, 2]
    assert [s.solution_id for s in found] == ["1", "1@1", "1@1@1"]
    assert [Path(s.source).name for s in found] == ["a.jsonl", "b.jsonl", "c[1].jsonl"]


def test_a_file_given_twice_is_read_once(tmp_path):
    path = write(tmp_path / "a.jsonl", {"id": "1/A", "code": "x"})
    assert [s.solution_id for s in read_solutions([path, f"{tmp_path}/*.jsonl"])] == ["1"]


def test_a_repeated_name_gets_its_line_number(tmp_path):
    rows = [{"id": p, "code": "x", "sample_id": s} for p, s in (("1/A", 0), ("1/B", 0), ("1/A", 0))]
    path = write(tmp_path / "s.jsonl", *rows, {"id": "1/A", "code": "x", "sample_id": "0@3"})
    found = [(s.problem_id, s.solution_id, s.sample_i) for s in read_solutions([path])]
    assert found == [("1/A", "0", 0), ("1/B", "0", 0), ("1/A", "0@3", 1), ("1/A", "0@3@4", 2)]


def test_filter_and_limit_change_neither_names_nor_numbers(tmp_path):
    path = write(
        tmp_path / "s.jsonl",
        *({"id": f"1/{'AB'[i % 2]}", "code": str(i)} for i in range(6)),
        "broken",
    )
    everything = list(read_solutions([path]))
    assert len(everything) == 7
    assert list(read_solutions([path], limit=3)) == everything[:3]
    assert list(read_solutions([path], limit=0)) == []
    assert list(read_solutions([path], problems={"1/B"})) == everything[1:6:2]
    assert list(read_solutions([path], problems={"1/B"}, limit=2)) == everything[1:4:2]


def test_aliases_share_one_sample_count(tmp_path):
    path = write(
        tmp_path / "s.jsonl",
        {"id": "1/A", "code": "a"},
        {"id": "2/C", "code": "b"},
        {"id": "9/Z", "code": "c"},
    )
    canonical = {"1/A": "1/A", "2/C": "1/A"}.get
    found = list(read_solutions([path], resolve=canonical))
    assert [(s.problem_id, s.sample_i) for s in found] == [("1/A", 0), ("1/A", 1), ("9/Z", 0)]
    filtered = read_solutions([path], resolve=canonical, problems={"2/C"})
    assert [s.code for s in filtered] == ["a", "b"]

"""Generated tests: names of files and columns, unusable rows, unusable files."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.options import Options
from gradebox.eval.problems import generated_tests
from gradebox.eval.problems.generated_tests import GeneratedTests, open_generated_tests
from gradebox.eval.problems.problem import Problem, TestCase


def write(
    path: Path, rows: list[tuple[Any, Any, Any, Any]], number: str = "test_case_i", **options: Any
) -> Path:
    """Write rows of (problem, number, input, output)."""
    names = ["problem_id", number, "input", "output"]
    columns = list(zip(*rows, strict=True)) if rows else [[], [], [], []]
    table = pa.table({name: list(column) for name, column in zip(names, columns, strict=True)})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, **options)
    return path


def read_all(tests: GeneratedTests, problem: Problem) -> list[TestCase]:
    return list(tests.read(problem, {ref.index for ref in tests.refs(problem)}))


SIX = [("6/A", 0, "1\n", "a"), ("6/B", 0, "22\n", "b"), ("6/A", 1, "é\n", "c")]


@pytest.mark.parametrize("name", ["test_cases_0006.parquet", "test_cases_6.parquet"])
@pytest.mark.parametrize("column", ["test_case_i", "test_i"])
def test_names_of_files_and_number_columns(tmp_path, name, column):
    write(tmp_path / name, SIX, column)
    tests = GeneratedTests(tmp_path)
    assert [(r.index, r.input_bytes, r.skip) for r in tests.refs(Problem("6/A"))] == [
        (0, 2, None),
        (1, 3, None),
    ]
    assert read_all(tests, Problem("6/A")) == [
        TestCase("generated", 0, b"1\n", b"a"),
        TestCase("generated", 1, "é\n".encode(), b"c"),
    ]
    assert read_all(tests, Problem("6/B")) == [TestCase("generated", 0, b"22\n", b"b")]
    assert tests.messages() == []


def test_a_problem_or_contest_without_generated_tests(tmp_path):
    write(tmp_path / "test_cases_6.parquet", SIX)
    tests = GeneratedTests(tmp_path)
    for problem in (Problem("6/C"), Problem("7/A"), Problem("../../etc/passwd"), Problem("")):
        assert tests.refs(problem) == []
        assert list(tests.read(problem, {0})) == []


@pytest.mark.parametrize(
    "problem",
    [
        Problem("5/Z", contest_id="6", aliases=("6/A",)),
        Problem("5/Z", aliases=("4/K", "6/A")),
        Problem("6A"),
        Problem("problem-of-six", contest_id="6", aliases=("6/a",)),
    ],
)
def test_rows_may_name_a_problem_by_an_alias(tmp_path, problem):
    write(tmp_path / "test_cases_0006.parquet", SIX)
    assert [t.expected for t in read_all(GeneratedTests(tmp_path), problem)] == [b"a", b"c"]


def test_the_id_is_preferred_to_the_aliases(tmp_path):
    write(tmp_path / "test_cases_6.parquet", SIX)
    problem = Problem("6/B", aliases=("6/A",))
    assert [t.expected for t in read_all(GeneratedTests(tmp_path), problem)] == [b"b"]


def test_unusable_and_repeated_rows_are_ignored_and_reported(tmp_path):
    path = write(
        tmp_path / "test_cases_6.parquet",
        [
            ("6/A", 0, "a", "a"),
            ("6/A", 1, None, "b"),
            ("6/A", 2, "c", None),
            ("6/A", None, "d", "d"),
            (None, 4, "e", "e"),
            ("6/A", 0, "f", "f"),
            ("6/B", 0, "g", "g"),
            ("6/A", 6, "", ""),
        ],
    )
    tests = GeneratedTests(tmp_path)
    assert [(t.index, t.input) for t in read_all(tests, Problem("6/A"))] == [(0, b"a"), (6, b"")]
    assert [(t.index, t.input) for t in read_all(tests, Problem("6/B"))] == [(0, b"g")]
    repeated, unusable = tests.messages()
    assert unusable.startswith(f"{path}: 4 rows lack ")
    assert repeated.startswith(f"{path}: 1 rows repeat a number")


@pytest.mark.parametrize(
    ("numbers", "type_of_numbers"),
    [(["0", "1"], "string"), ([0.0, 1.0], "double"), ([0, 1], "int8"), ([0, 1], "uint64")],
)
@pytest.mark.parametrize("kind", [pa.large_string(), pa.binary(), pa.dictionary("int32", "string")])
def test_other_types_of_the_same_columns(tmp_path, numbers, type_of_numbers, kind):
    text = {name: pa.array(["6/A", "6/A"]).cast(kind) for name in ("problem_id", "input", "output")}
    pq.write_table(
        pa.table({**text, "test_i": pa.array(numbers, type_of_numbers)}),
        tmp_path / "test_cases_6.parquet",
    )
    found = read_all(GeneratedTests(tmp_path), Problem("6/A"))
    assert found == [TestCase("generated", i, b"6/A", b"6/A") for i in (0, 1)]


def test_rows_with_an_unreadable_number_are_ignored(tmp_path):
    rows = [("6/A", number, "x", "y") for number in ("0", "one", "1.5", "", "2")]
    write(tmp_path / "test_cases_6.parquet", rows)
    assert [r.index for r in GeneratedTests(tmp_path).refs(Problem("6/A"))] == [0, 2]


@pytest.mark.parametrize(
    "table",
    [
        lambda: pa.table({name: [] for name in ("problem_id", "test_case_i", "input", "output")}),
        lambda: pa.schema([("input", pa.int64())]).empty_table(),
        lambda: pa.table({}),
    ],
    ids=["columns without a type", "other columns", "no columns"],
)
def test_a_file_without_rows_has_no_tests_and_is_noted(tmp_path, table):
    pq.write_table(table(), tmp_path / "test_cases_6.parquet")
    write(tmp_path / "test_cases_7.parquet", [("7/A", 0, "1", "2")])
    tests = GeneratedTests(tmp_path)
    assert tests.refs(Problem("6/A")) == []
    assert len(tests.refs(Problem("7/A"))) == 1
    (note,) = tests.messages()
    assert "test_cases_6.parquet has no rows: its problems have no generated tests" in note


def test_unusable_files_are_reported(tmp_path):
    (tmp_path / "test_cases_1.parquet").write_text("plain text")
    (tmp_path / "test_cases_2.parquet").write_bytes(b"")
    whole = write(tmp_path / "test_cases_3.parquet", SIX).read_bytes()
    (tmp_path / "test_cases_3.parquet").write_bytes(whole[: len(whole) // 2])
    pq.write_table(pa.table({"id": [1], "stdin": ["x"]}), tmp_path / "test_cases_4.parquet")
    write(tmp_path / "test_cases_5.parquet", [("5/A", 0, 1, 2)])
    write(tmp_path / "test_cases_6.parquet", SIX, "nr")
    pointer = "version https://git-lfs.example/spec/v1\noid sha256:0\nsize 9\n"
    (tmp_path / "test_cases_7.parquet").write_text(pointer)
    tests = GeneratedTests(tmp_path)
    for contest, message in (
        (1, r"test_cases_1.parquet is not a readable parquet file: "),
        (2, r"test_cases_2.parquet is not a readable parquet file: "),
        (3, r"test_cases_3.parquet is not a readable parquet file: "),
        (
            4,
            r"test_cases_4.parquet has the columns 'id', 'stdin': "
            r"problem_id, input, output and test_case_i or test_i are needed",
        ),
        (5, r"test_cases_5.parquet: column input is of type int64, text is needed"),
        (7, r"test_cases_7.parquet is a git-lfs pointer to the file: git lfs pull"),
        (6, r"test_cases_6.parquet has the columns 'problem_id', 'nr', 'input', 'output': "),
    ):
        with pytest.raises(InputError, match=message):
            tests.refs(Problem(f"{contest}/A"))


@pytest.mark.parametrize("kind", ["fifo", "folder", "link to none", "link to a device"])
def test_what_is_no_file_is_reported(tmp_path, kind):
    path = tmp_path / "test_cases_6.parquet"
    made: dict[str, Callable[[], object]] = {
        "fifo": lambda: os.mkfifo(path),  # opening it waited for ever
        "folder": path.mkdir,
        "link to none": lambda: path.symlink_to("none"),
        "link to a device": lambda: path.symlink_to("/dev/zero"),
    }
    made[kind]()
    with pytest.raises(InputError, match="is not a file, or a link to none"):
        GeneratedTests(tmp_path).refs(Problem("6/A"))


def test_an_unused_folder_is_reported(tmp_path):
    write(tmp_path / "test_cases_6.parquet", SIX)
    options = Options(solutions_path=("s.jsonl",), generated_tests_dir=tmp_path)
    found = open_generated_tests(options.generated_tests_dir, options.max_generated_tests)
    (note,) = found.messages()
    assert f"--generated-tests-dir {tmp_path} is not used" in note
    assert "--max-generated-tests is 0; -1 takes all" in note
    found = open_generated_tests(options.generated_tests_dir, 1)
    assert found is not None and not found.messages()


def test_damaged_contents_are_reported(tmp_path):
    rows = [("6/A", i, f"{i}" * 50, "y") for i in range(500)]
    path = write(tmp_path / "test_cases_6.parquet", rows, compression="gzip")
    data = bytearray(path.read_bytes())
    data[100:2000] = bytes(1900)
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"test_cases_6.parquet is damaged: .*download it again"):
        read_all(GeneratedTests(tmp_path), Problem("6/A"))


def test_a_file_that_changes_before_it_is_read_is_reported(tmp_path):
    write(tmp_path / "test_cases_6.parquet", SIX)
    tests = GeneratedTests(tmp_path)
    tests.refs(Problem("6/A"))
    write(tmp_path / "test_cases_6.parquet", [("6/A", 0, "longer", "a")])
    changed = r"test_cases_6.parquet changed while it was read: start"
    for wanted in ({0}, {0, 1}):  # of another size, and gone
        with pytest.raises(InputError, match=changed):
            list(tests.read(Problem("6/A"), wanted))


def test_unusable_folders_are_reported(tmp_path):
    with pytest.raises(InputError, match=r"--generated-tests-dir .*/none is not a folder: give"):
        GeneratedTests(tmp_path / "none")
    with pytest.raises(InputError, match="has no parquet file of tests: give the folder that has"):
        GeneratedTests(tmp_path)
    pq.write_table(pa.table({"id": [1]}), tmp_path / "train.parquet")
    with pytest.raises(InputError, match=r"has no parquet .*; not read: .*train.parquet has the c"):
        GeneratedTests(tmp_path)
    write(tmp_path / "generated_tests" / "test_cases_6.parquet", SIX)
    with pytest.raises(InputError, match=r"has no parquet file of tests: give .*/generated_tests"):
        GeneratedTests(tmp_path)


@pytest.mark.parametrize("name", ["mine.parquet", "test_cases_mine.parquet"])
def test_a_file_of_any_name_is_read(tmp_path, name):
    write(tmp_path / name, [("mine/A", 5, "a", "b"), *SIX])
    assert [t.index for t in read_all(GeneratedTests(tmp_path), Problem("mine/A"))] == [5]
    assert [t.index for t in read_all(GeneratedTests(tmp_path), Problem("6/B"))] == [0]


def test_a_file_named_for_another_contest_is_read_where_no_other_has_the_problem(tmp_path):
    write(tmp_path / "test_cases_6.parquet", SIX)
    write(tmp_path / "test_cases_7.parquet", [("mine/A", 0, "a", "b"), ("6/A", 9, "c", "d")])
    (tmp_path / "test_cases_8.parquet").write_text("plain text")
    tests = GeneratedTests(tmp_path)
    for _ in range(2):  # the same, whatever was looked for before
        assert [r.index for r in tests.refs(Problem("6/A"))] == [0, 1]
        assert [t.input for t in read_all(tests, Problem("mine/A"))] == [b"a"]
    (note,) = tests.messages()
    assert note.startswith(f"not read: {tmp_path}/test_cases_8.parquet is not a readable parquet")
    with pytest.raises(InputError, match=r"test_cases_8.parquet is not a readable parquet file"):
        tests.refs(Problem("8/A"))


def test_all_files_with_a_problem_are_read(tmp_path):
    files = ("test_cases_0006.parquet", "test_cases_6.parquet", "more.parquet")
    for i, name in enumerate(files):
        rows = [("6/A", number, f"{name} {number}", "x") for number in range(i, i + 2)]
        write(tmp_path / name, rows, row_group_size=1)
    tests = GeneratedTests(tmp_path)
    assert [t.input.decode() for t in read_all(tests, Problem("6/A"))] == [
        "test_cases_0006.parquet 0",
        "test_cases_0006.parquet 1",
        "test_cases_6.parquet 2",
        "more.parquet 3",
    ]
    assert sorted(tests.messages()) == [
        f"{tmp_path / name}: 1 rows repeat a number of '6/A': the first counts"
        for name in sorted(files[1:])
    ]


@pytest.mark.parametrize("dictionary", [True, False])
def test_tests_that_expand_to_any_size_are_refused(tmp_path, monkeypatch, dictionary):
    write(tmp_path / "a.parquet", [("6/A", 1, "x" * 9000, "y")], use_dictionary=dictionary)
    problem = Problem("6/A")
    assert len(GeneratedTests(tmp_path).refs(problem)) == 1
    monkeypatch.setattr(generated_tests, "_MAX_DECODED_BYTES", 8000)
    with pytest.raises(InputError, match=r"1 tests have .* bytes: 8000 are read"):
        GeneratedTests(tmp_path).refs(problem)

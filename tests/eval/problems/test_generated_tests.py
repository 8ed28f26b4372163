"""Generated tests: names of files and columns, unusable rows, unusable files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.options import Options
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
def test_names_of_files_and_number_columns(tmp_path: Path, name: str, column: str) -> None:
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
    assert tests.notes.messages() == []


def test_only_wanted_tests_are_read_in_the_file_order(tmp_path: Path) -> None:
    rows = [("6/A", n, f"in {n}", f"out {n}") for n in (7, 3, 5, 1, 9)]
    write(tmp_path / "test_cases_6.parquet", rows, row_group_size=2)
    tests = GeneratedTests(tmp_path)
    assert [r.index for r in tests.refs(Problem("6/A"))] == [7, 3, 5, 1, 9]
    assert [t.index for t in tests.read(Problem("6/A"), {9, 3, 1, 100})] == [3, 1, 9]
    assert list(tests.read(Problem("6/A"), set())) == []


def test_a_problem_or_contest_without_generated_tests(tmp_path: Path) -> None:
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
def test_rows_may_name_a_problem_by_an_alias(tmp_path: Path, problem: Problem) -> None:
    write(tmp_path / "test_cases_0006.parquet", SIX)
    assert [t.expected for t in read_all(GeneratedTests(tmp_path), problem)] == [b"a", b"c"]


def test_the_id_is_preferred_to_the_aliases(tmp_path: Path) -> None:
    write(tmp_path / "test_cases_6.parquet", SIX)
    problem = Problem("6/B", aliases=("6/A",))
    assert [t.expected for t in read_all(GeneratedTests(tmp_path), problem)] == [b"b"]


def test_unusable_and_repeated_rows_are_ignored_and_reported(tmp_path: Path) -> None:
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
    unusable, repeated = tests.notes.messages()
    assert unusable.startswith(f"{path}: 4 rows lack ")
    assert repeated.startswith(f"{path}: 1 rows repeat a number")


@pytest.mark.parametrize(
    ("numbers", "type_of_numbers"),
    [(["0", "1"], "string"), ([0.0, 1.0], "double"), ([0, 1], "int8"), ([0, 1], "uint64")],
)
@pytest.mark.parametrize("kind", [pa.large_string(), pa.binary(), pa.dictionary("int32", "string")])
def test_other_types_of_the_same_columns(
    tmp_path: Path, numbers: list[Any], type_of_numbers: str, kind: Any
) -> None:
    text = {name: pa.array(["6/A", "6/A"]).cast(kind) for name in ("problem_id", "input", "output")}
    pq.write_table(
        pa.table({**text, "test_i": pa.array(numbers, type_of_numbers)}),
        tmp_path / "test_cases_6.parquet",
    )
    found = read_all(GeneratedTests(tmp_path), Problem("6/A"))
    assert found == [TestCase("generated", i, b"6/A", b"6/A") for i in (0, 1)]


def test_rows_with_an_unreadable_number_are_ignored(tmp_path: Path) -> None:
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
def test_a_file_without_rows_has_no_tests_and_is_noted(tmp_path: Path, table: Any) -> None:
    pq.write_table(table(), tmp_path / "test_cases_6.parquet")
    write(tmp_path / "test_cases_7.parquet", [("7/A", 0, "1", "2")])
    tests = GeneratedTests(tmp_path)
    assert tests.refs(Problem("6/A")) == []
    assert len(tests.refs(Problem("7/A"))) == 1
    (note,) = tests.notes.messages()
    assert "test_cases_6.parquet has no rows: its problems have no generated tests" in note


def test_unusable_files_are_reported(tmp_path: Path) -> None:
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


def test_an_unused_folder_is_reported(tmp_path: Path) -> None:
    write(tmp_path / "test_cases_6.parquet", SIX)
    options = Options(solutions_path=("s.jsonl",), generated_tests_dir=tmp_path)
    found = open_generated_tests(options.generated_tests_dir, options.max_generated_tests)
    assert found is not None
    (note,) = found.notes.messages()
    assert f"--generated-tests-dir {tmp_path} is not used" in note
    assert "--max-generated-tests is 0; -1 takes all" in note
    found = open_generated_tests(options.generated_tests_dir, 1)
    assert found is not None and not found.notes.messages()


def test_damaged_contents_are_reported(tmp_path: Path) -> None:
    rows = [("6/A", i, f"{i}" * 50, "y") for i in range(500)]
    path = write(tmp_path / "test_cases_6.parquet", rows, compression="gzip")
    data = bytearray(path.read_bytes())
    data[100:2000] = bytes(1900)
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"test_cases_6.parquet is damaged: .*download it again"):
        read_all(GeneratedTests(tmp_path), Problem("6/A"))


def test_a_file_that_changes_before_it_is_read_is_reported(tmp_path: Path) -> None:
    write(tmp_path / "test_cases_6.parquet", SIX)
    tests = GeneratedTests(tmp_path)
    tests.refs(Problem("6/A"))
    write(tmp_path / "test_cases_6.parquet", [("6/A", 0, "longer", "a")])
    with pytest.raises(InputError, match=r"test_cases_6.parquet changed while it was read: start"):
        list(tests.read(Problem("6/A"), {0, 1}))


def test_unusable_folders_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--generated-tests-dir .*/none is not a folder: give"):
        GeneratedTests(tmp_path / "none")
    with pytest.raises(InputError, match=r"has no test_cases_\*.parquet: give the folder that"):
        GeneratedTests(tmp_path)
    write(tmp_path / "generated_tests" / "test_cases_6.parquet", SIX)
    with pytest.raises(InputError, match=r"has no test_cases_\*.parquet: give .*/generated_tests"):
        GeneratedTests(tmp_path)


def test_the_padded_file_of_a_contest_is_preferred(tmp_path: Path) -> None:
    write(tmp_path / "test_cases_0006.parquet", SIX[:1])
    write(tmp_path / "test_cases_6.parquet", SIX)
    tests = GeneratedTests(tmp_path)
    assert [r.index for r in tests.refs(Problem("6/A"))] == [0]
    (note,) = tests.notes.messages()
    assert "test_cases_6.parquet is ignored: test_cases_0006.parquet" in note


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["6/A", "6/B", "6/C1"]),
        st.integers(0, 12),
        st.one_of(st.none(), st.text(max_size=5)),
        st.text(max_size=3),
    ),
    max_size=30,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=ROWS, group=st.integers(1, 8), dictionary=st.booleans(), wanted=st.sets(st.integers(0, 12))
)
def test_what_is_read_is_the_first_row_of_each_number(
    tmp_path: Path,
    rows: list[tuple[str, int, str | None, str]],
    group: int,
    dictionary: bool,
    wanted: set[int],
) -> None:
    table = pa.table(
        {
            "problem_id": pa.array([r[0] for r in rows], pa.string()),
            "test_i": pa.array([r[1] for r in rows], pa.int64()),
            "input": pa.array([r[2] for r in rows], pa.string()),
            "output": pa.array([r[3] for r in rows], pa.string()),
        }
    )
    path = tmp_path / "test_cases_0006.parquet"
    pq.write_table(table, path, row_group_size=group, use_dictionary=dictionary)
    tests = GeneratedTests(tmp_path)
    for name in ("6/A", "6/B", "6/C1"):
        expected: dict[int, tuple[str, str]] = {}
        for problem, number, given_input, output in rows:
            if problem == name and given_input is not None:
                expected.setdefault(number, (given_input, output))
        refs = tests.refs(Problem(name))
        assert [(r.index, r.input_bytes) for r in refs] == [
            (number, len(pair[0].encode())) for number, pair in expected.items()
        ]
        read = [(t.index, t.input, t.expected) for t in tests.read(Problem(name), wanted)]
        assert read == [
            (number, pair[0].encode(), pair[1].encode())
            for number, pair in expected.items()
            if number in wanted
        ]

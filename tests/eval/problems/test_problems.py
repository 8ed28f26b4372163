"""Problems from JSON-lines and parquet files and from saved datasets."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradebox.eval.common.errors import MAX_MESSAGES, Diagnostics, InputError
from gradebox.eval.problems import open_problems
from gradebox.eval.problems.problem import Problem, TestCase
from testing.rows import rows
from tests.eval.problems.dataset_rows import stdin_row

MIB = 1 << 20
CHECKER = "print(1)\n"
ROWS: list[dict[str, Any]] = [
    {
        "id": "1000/A",
        "aliases": ["999/C"],
        "contest_id": "1000",
        "contest_start_year": 2018,
        "index": "A",
        "title": "Sum",
        "description": "long " * 1000,
        "time_limit": 1.5,
        "memory_limit": 64.0,
        "input_mode": "stdio",
        "rating": 800,
        "tags": ["math", "dp"],
        "official_tests": [
            {"input": "1\n", "output": "2\n"},
            {"input": "é", "output": ""},
            {"input": "", "output": "x"},
        ],
        "official_tests_complete": True,
        "generated_checker": CHECKER,
        "interaction_format": None,
        "interactor": None,
        "checker": None,
        "testset_size": 31,
    },
    {
        "id": "1001/B1",
        "aliases": None,
        "contest_id": "1001",
        "contest_start_year": None,
        "index": "B1",
        "title": "Talk",
        "description": None,
        "time_limit": None,
        "memory_limit": None,
        "input_mode": "file",
        "rating": None,
        "tags": [],
        "official_tests": [{"input": "7", "output": None}],
        "official_tests_complete": False,
        "generated_checker": None,
        "interaction_format": "ask",
        "interactor": "loop()",
        "checker": "tokens",
        "testset_size": None,
    },
    {"id": "1002/C", "aliases": [], "official_tests": None},
    {"id": "1003/D", "aliases": ["1000/A"], "official_tests": []},
]


def jsonl(path: Path, rows: list[Any] | None = None) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows or ROWS]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def parquet(path: Path, rows: list[Any] | None = None) -> Path:
    names = {name: None for row in rows or ROWS for name in row}
    table = pa.Table.from_pylist([{**names, **row} for row in rows or ROWS])
    pq.write_table(table, path, row_group_size=3)
    return path


def saved(path: Path, rows: list[Any] | None = None) -> Path:
    import datasets

    source = datasets.Dataset.from_list(rows or ROWS)
    source.save_to_disk(str(path), num_shards=2)
    return path


KINDS = [
    pytest.param(lambda folder, rows=None: jsonl(folder / "p.jsonl", rows), id="jsonl"),
    pytest.param(lambda folder, rows=None: parquet(folder / "p.parquet", rows), id="parquet"),
    pytest.param(
        lambda folder, rows=None: saved(folder / "p", rows), id="saved", marks=pytest.mark.slow
    ),
]


@pytest.mark.parametrize("make", KINDS)
def test_every_kind_of_file_gives_the_same_problems(tmp_path, make):
    with open_problems(str(make(tmp_path))) as problems:
        assert problems.ids() == ["1000/A", "1001/B1", "1002/C", "1003/D"]
        assert problems.messages() == []
        first = problems.get("1000/A")
        assert first is not None
        assert first == Problem(
            id="1000/A",
            time_limit_s=1.5,
            memory_limit_bytes=64 * MIB,
            checker=CHECKER,
            aliases=("999/C",),
            title="Sum",
            contest_id="1000",
            contest_year=2018,
            rating=800,
            tags=("math", "dp"),
            official_tests_complete=True,
        )
        second = problems.get("1001/B1")
        assert second is not None
        assert second == Problem(
            id="1001/B1",
            input_mode="file",
            time_limit_s=2.0,
            memory_limit_bytes=256 * MIB,
            interactive=True,
            interactor="loop()",
            checker_name="tokens",
            title="Talk",
            contest_id="1001",
            official_tests_complete=False,
        )
        assert problems.official_sizes("1000/A") == [2, 2, 0]
        assert list(problems.official_tests("1000/A")) == [
            TestCase("official", 0, b"1\n", b"2\n"),
            TestCase("official", 1, "é".encode(), b""),
            TestCase("official", 2, b"", b"x"),
        ]
        assert list(problems.official_tests("1001/B1")) == [TestCase("official", 0, b"7", b"")]
        assert problems.official_sizes("1002/C") == problems.official_sizes("1003/D") == []


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("1000/A", "1000/A"),  # an id counts before an alias of another row
        ("999/C", "1000/A"),
        ("1000A", "1000/A"),
        ("1000/a", "1000/A"),
        (" 1000/A\n", "1000/A"),
        ("999c", "1000/A"),
        ("1001b1", "1001/B1"),
        ("01000-A", "1000/A"),
        ("1000", None),
        ("1000/B", None),
        ("", None),
        ("/", None),
    ],
)
def test_a_problem_is_found_by_id_alias_and_other_spellings(tmp_path, name, found):
    problems = open_problems(str(jsonl(tmp_path / "p.jsonl")))
    problem = problems.get(name)
    assert (problem.id if problem else None) == problems.resolve(name) == found


def test_an_ambiguous_spelling_matches_no_problem(tmp_path):
    rows = [{"id": "7/a", "title": "small"}, {"id": "7/A", "title": "large"}]
    problems = open_problems(str(jsonl(tmp_path / "p.jsonl", rows)))
    assert problems.get("7A") is None
    assert [p and p.title for p in map(problems.get, ("7/a", "7/A"))] == ["small", "large"]


def test_an_unknown_problem_is_reported_with_a_suggestion(tmp_path: Path) -> None:
    problems = open_problems(str(jsonl(tmp_path / "p.jsonl")))
    assert problems.why_missing("1000/AB").startswith("unknown problem '1000/AB': not among the 4 ")
    assert "the nearest is 1000/A; check --dataset," in problems.why_missing("1000/AB")
    assert len(problems.why_missing("x" * 10**6)) < 500
    hints = ["the nearest is" in problems.why_missing(f"1000/A{i}") for i in range(100)]
    assert (hints[0], hints[-1]) == (True, False)  # each search compares all names
    with pytest.raises(InputError, match="unknown problem '5/X': not among the 4 of"):
        problems.official_sizes("5/X")


# Column, a wrong value, and what the message must contain beside the column.
WRONG_VALUES: list[Any] = [
    *rows(__file__, "wrong_values"),
    ("gold_solutions", [{"code": ""}] * 10_001, ["10001 programs", "10000"]),
]


@pytest.mark.parametrize(("column", "value", "parts"), WRONG_VALUES)
def test_a_wrong_value_makes_one_problem_unusable(tmp_path, column, value, parts):
    given = [{**ROWS[0], column: value, "id": "1/A"}, ROWS[2]]
    problems = open_problems(str(jsonl(tmp_path / "p.jsonl", given)))
    assert problems.get("1/A") is problems.get("1/A") is None
    assert problems.get("1002/C") is not None
    why = problems.why_missing("1/A")
    assert why.startswith(f"problem 1/A is unusable: {column.split('_')[0]}")
    assert [part for part in parts if part not in why] == []
    assert problems.messages() == [why]
    with pytest.raises(InputError, match="problem 1/A is unusable"):
        problems.official_sizes("1/A")


@pytest.mark.parametrize("rating", ["hard", 1e300, 2**63, "1e30"])  # no record can hold these
def test_wrong_descriptive_values_are_dropped(tmp_path, rating):
    row = {
        "id": 12,
        "aliases": "none",
        "rating": rating,
        "tags": {"a": 1},
        "title": 5,
        "official_tests_complete": "yes",
        "contest_id": None,
    }
    problem = open_problems(str(jsonl(tmp_path / "p.jsonl", [row]))).get("12")
    expected = Problem("12", title="5", contest_id="12")
    assert problem == expected


def test_limits_and_ratings_may_be_written_as_text(tmp_path):
    row = {"id": "1/A", "time_limit": "0.5", "memory_limit": "16", "rating": "1500"}
    problem = open_problems(str(jsonl(tmp_path / "p.jsonl", [row]))).get("1/A")
    assert (problem.time_limit_s, problem.memory_limit_bytes) == (0.5, 16 * MIB)
    assert problem.rating == 1500


@pytest.mark.parametrize(
    "tests",
    [
        {"input": ["1", "22"], "output": ["a", "b"]},
        json.dumps([{"input": "1", "output": "a"}, {"input": "22", "output": "b"}]),
    ],
    ids=["lists", "JSON text"],
)
@pytest.mark.parametrize("make", KINDS[:2])
def test_tests_may_be_two_lists_or_json_text(tmp_path, make, tests):
    rows = [{"id": "0/Z", "official_tests": None}, {"id": "1/A", "official_tests": tests}]
    problems = open_problems(str(make(tmp_path, rows)))
    assert problems.official_sizes("1/A") == [1, 2]
    assert [t.expected for t in problems.official_tests("1/A")] == [b"a", b"b"]
    assert problems.official_sizes("0/Z") == []


def test_unusable_rows_are_reported_and_the_others_are_used(tmp_path):
    path = jsonl(
        tmp_path / "p.jsonl",
        ["{", "[1]", '{"title": "x"}', '{"id": "1/A"}', '{"id": "1/A"}', '{"id": ["2/B"]}', ""],
    )
    problems = open_problems(str(path))
    assert problems.ids() == ["1/A"]
    messages = problems.messages()
    assert len(messages) == 5
    assert messages[0].startswith(f"{path}, line 1 is not a problem: not JSON")
    assert messages[1] == f"{path}, line 2 is not a problem: a JSON list, not an object"
    assert (
        messages[2]
        == "p.jsonl, row 2 is not a problem: the row has neither id nor contest_id and index"
    )
    assert messages[3] == "p.jsonl has 1/A twice: the first row is used"
    assert messages[4].startswith("p.jsonl, row 5 is not a problem: id is a list of 1 elements")


def test_a_row_that_is_too_long_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr("gradebox.eval.problems.rows.MAX_ROW_BYTES", 1000)
    longest = json.dumps({"id": "1/B"}).ljust(1000)
    path = jsonl(
        tmp_path / "p.jsonl",
        ['{"id": "1/A"}', " " * 2_500_000, longest, '{"id": "1/C"}', "x" * 1001],
    )
    problems = open_problems(str(path))
    assert problems.ids() == ["1/A", "1/B", "1/C"]
    assert [p and p.id for p in map(problems.get, problems.ids())] == ["1/A", "1/B", "1/C"]
    assert [m.partition(" is ")[0] for m in problems.messages()] == [
        f"{path}, line 2",
        f"{path}, line 5",
    ]
    assert "it is longer than 1000 bytes: shorten it" in problems.messages()[0]


def test_bom_crlf_blank_lines_and_a_missing_last_newline_are_accepted(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "1/A"}\r\n\r\n{"contest_id": 2, "index": "B"}')
    problems = open_problems(str(path))
    assert [p and p.id for p in map(problems.get, problems.ids())] == ["1/A", "2/B"]


def test_unusable_datasets_are_refused_with_a_remedy(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "broken.jsonl").write_text("{\n")
    (tmp_path / "array.json").write_text("[{}]")
    (tmp_path / "p.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd\x04")
    (tmp_path / "p.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00")
    (tmp_path / "bad.parquet").write_text("PAR1 but not really")
    pq.write_table(pa.table({"name": ["x"]}), tmp_path / "names.parquet")
    for name, message in (
        ("none.jsonl", r"does not exist: give a local copy: --dataset FILE.jsonl"),
        ("empty.jsonl", r"empty.jsonl is empty: give a local copy"),
        (
            "broken.jsonl",
            r"broken.jsonl has no usable problem: .* line 1 is not a problem: not JSON",
        ),
        ("array.json", r"array.json has the columns none, and tests of no format"),
        ("p.jsonl.gz", r"p.jsonl.gz is damaged \(.*\): compress or copy it again"),
        ("p.jsonl.zst", r"p.jsonl.zst is compressed by zstd: unzstd it, or use gzip"),
        ("bad.parquet", r"the data of .*bad.parquet is damaged: "),
        ("names.parquet", r"names.parquet has the columns 'name', and tests of no format"),
    ):
        with pytest.raises(InputError, match=message):
            open_problems(str(tmp_path / name))
    with pytest.raises(InputError, match=r"--dataset 'a/b/c' does not exist: give a local copy"):
        open_problems("a/b/c")


def test_tests_that_no_program_or_a_wrong_one_passes_are_noted(tmp_path):
    blank = [{"input": "1", "output": " "}, {"input": "2", "output": ""}]
    rows = [
        {"id": "1/A", "official_tests": blank},
        {"id": "1/B", "official_tests": blank, "checker": "tokens"},
        {"id": "1/C", "official_tests": [*blank, {"input": "", "output": "0"}]},
    ]
    rows.append({**rows[2], "id": "1/D", "time_limit": 2000})
    problems = open_problems(str(jsonl(tmp_path / "p.jsonl", rows)))
    assert all(map(problems.get, problems.ids()))
    note, limit = problems.messages()
    assert limit.startswith("problem 1/D: its time_limit is 2000 seconds: divide by 1000 if ")
    assert note.startswith("problem 1/A: no test has an output, so that only programs pass that")
    public = open_problems(str(jsonl(tmp_path / "l.jsonl", [stdin_row(private_test_cases="")])))
    assert public.get("1900_A") is not None
    assert public.messages() == [
        "problem 1900_A: private_test_cases is empty: only the public tests run"
    ]


def test_compressed_rows_are_read_up_to_a_size(tmp_path, monkeypatch):
    packed = tmp_path / "p.jsonl.gz"
    packed.write_bytes(gzip.compress(jsonl(tmp_path / "p.jsonl").read_bytes()))
    assert open_problems(str(packed)).ids() == open_problems(str(tmp_path / "p.jsonl")).ids()
    monkeypatch.setattr("gradebox.eval.problems.rows.MOST_UNPACKED_BYTES", 9)
    with pytest.raises(InputError, match="is more than 9 bytes unpacked: give a part of it"):
        open_problems(str(packed))


def test_the_description_changes_with_the_contents(tmp_path):
    path = jsonl(tmp_path / "p.jsonl")
    one = open_problems(str(path)).describe()
    assert one["problems"] == 4
    assert [subset["name"] for subset in one["subsets"]] == ["p.jsonl"]
    assert open_problems(str(path)).describe() == one
    jsonl(path, [*ROWS[:3], {**ROWS[3], "time_limit": 9}])
    assert open_problems(str(path)).describe() != one
    assert json.loads(json.dumps(one)) == one


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(sorted({name for row in ROWS for name in row})),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=9)
        | st.lists(
            st.none()
            | st.text(max_size=3)
            | st.dictionaries(
                st.sampled_from(["input", "output"]),
                st.none() | st.integers() | st.text(max_size=3),
            ),
            max_size=3,
        ),
    )
)
def test_every_row_is_a_problem_or_is_reported(tmp_path_factory, row):
    path = jsonl(tmp_path_factory.mktemp("any") / "p.jsonl", [{"id": "0/OK"}, row])
    with open_problems(str(path)) as problems:
        others = [name for name in problems.ids() if name != "0/OK"]
        usable = [problem for name in others if (problem := problems.get(name)) is not None]
        assert len(usable) + len(problems.messages()) == 1
        for problem in usable:
            assert 0 < problem.time_limit_s <= 3600
            assert problem.memory_limit_bytes > 0
            assert [len(t.input) for t in problems.official_tests(problem.id)] == (
                problems.official_sizes(problem.id)
            )
        assert problems.get("0/OK") is not None


def test_diagnostics_are_bounded_and_list_each_message_once():
    diagnostics = Diagnostics()
    for i in range(2 * MAX_MESSAGES):
        diagnostics.add(f"message {i}")
        diagnostics.add("message 0")
    assert diagnostics.messages()[MAX_MESSAGES:] == [f"and {MAX_MESSAGES} more"]

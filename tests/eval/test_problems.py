"""Problems from files, saved datasets and the hub: the same whatever they are kept in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eval.problems.json_rows as json_rows
import eval.problems.opening as opening
from eval.input_error import InputError
from eval.model import Problem, TestCase
from eval.notes import MAX_NOTES, Notes
from eval.problem_ids import loose
from eval.problems import ProblemSet, open_problems
from eval.problems.json_spans import split_tests
from eval.problems.row import RowError

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
        "memory_limit": 0.0,
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
Make = Callable[..., Path]


@pytest.mark.parametrize("make", KINDS)
def test_problems_are_the_same_whatever_they_are_kept_in(tmp_path: Path, make: Make) -> None:
    with open_problems(str(make(tmp_path))) as problems:
        assert problems.ids() == ["1000/A", "1001/B1", "1002/C", "1003/D"]
        assert problems.messages() == []
        first = problems.get("1000/A")
        assert first is not None
        assert (first.extra["testset_size"], "description" in first.extra) == (31, False)
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
            num_official=3,
            extra=first.extra,
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
            num_official=1,
            extra=second.extra,
        )
        assert [p and p.num_official for p in map(problems.get, ("1002/C", "1003/D"))] == [0, 0]
        assert problems.official_sizes("1000/A") == [2, 2, 0]
        assert list(problems.official_tests("1000/A")) == [
            TestCase("official", 0, b"1\n", b"2\n"),
            TestCase("official", 1, "é".encode(), b""),
            TestCase("official", 2, b"", b"x"),
        ]
        assert list(problems.official_tests("1001/B1")) == [TestCase("official", 0, b"7", b"")]
        assert problems.official_sizes("1002/C") == problems.official_sizes("1003/D") == []


@pytest.mark.parametrize("make", KINDS)
def test_threads_read_at_once(tmp_path: Path, make: Make) -> None:
    rows = [
        {"id": f"{i}/A", "official_tests": [{"input": f"{i}", "output": "o" * i}] * (i + 1)}
        for i in range(40)
    ]
    with open_problems(str(make(tmp_path, rows))) as problems, ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda i: list(problems.official_tests(f"{i % 40}/A")), range(160))
        for i, tests in enumerate(found):
            assert [t.input for t in tests] == [b"%d" % (i % 40)] * (i % 40 + 1)
            assert {t.expected for t in tests} == {b"o" * (i % 40)}


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
def test_names_of_a_problem(tmp_path: Path, name: str, found: str | None) -> None:
    problems = open_problems(str(jsonl(tmp_path / "p.jsonl")))
    problem = problems.get(name)
    assert (problem.id if problem else None) == problems.resolve(name) == found


def test_another_spelling_that_could_be_two_problems_is_none(tmp_path: Path) -> None:
    rows = [{"id": "7/a", "title": "small"}, {"id": "7/A", "title": "large"}]
    problems = open_problems(str(jsonl(tmp_path / "p.jsonl", rows)))
    assert problems.get("7A") is None
    assert [p and p.title for p in map(problems.get, ("7/a", "7/A"))] == ["small", "large"]


@given(st.integers(1, 99_999), st.sampled_from("ABZ"), st.sampled_from(["", "1", "12"]))
def test_spellings_of_one_id_agree(contest: int, letter: str, digits: str) -> None:
    usual = f"{contest}/{letter}{digits}"
    for separator in ("", "/", "-", "_", " "):
        assert loose(f"{contest}{separator}{letter}{digits}") == usual
        assert loose(f"{contest}{separator}{letter.lower()}{digits}") == usual
    assert loose(f"{contest}{digits}") is None


def test_an_unknown_problem_is_told_with_the_nearest(tmp_path: Path) -> None:
    problems = open_problems(str(jsonl(tmp_path / "p.jsonl")))
    assert problems.why_missing("1000/AB").startswith("unknown problem '1000/AB': not among the 4 ")
    assert "the nearest is 1000/A; look at --dataset," in problems.why_missing("1000/AB")
    assert len(problems.why_missing("x" * 10**6)) < 500
    hints = ["the nearest is" in problems.why_missing(f"1000/A{i}") for i in range(100)]
    assert (hints[0], hints[-1]) == (True, False)  # each costs a look at every name
    with pytest.raises(InputError, match="unknown problem '5/X': not among the 4 of"):
        problems.official_sizes("5/X")


WRONG_VALUES: list[tuple[str, Any, str]] = [
    ("time_limit", "soon", "time_limit is 'soon': a number is needed"),
    ("time_limit", -1, "time_limit is -1 seconds: more than 0, at most 3600 is needed"),
    ("time_limit", float("nan"), "time_limit is nan: a number is needed"),
    ("time_limit", [2], "time_limit is a list of 1 elements: a number is needed"),
    ("time_limit", True, "time_limit is True: a number is needed"),
    ("memory_limit", 1e300, "memory_limit is 1e+300 MB: more than 0, at most"),
    ("input_mode", "socket", "input_mode is 'socket': stdio or file is needed"),
    ("generated_checker", 7, "generated_checker is 7: text is needed"),
    ("generated_checker", "\ud800", "generated_checker has a lone surrogate"),
    ("checker", {}, "checker is a dict of 0 elements: text is needed"),
    ("official_tests", 5, "official_tests is 5: a list of tests is needed"),
    ("official_tests", "[", "official_tests is text that is no JSON"),
    ("official_tests", [None], "official test 0 is None: input, output are needed"),
    ("official_tests", [{"input": 5, "output": "x"}], "official test 0 has an input or output"),
    ("official_tests", [{"input": "5"}], "official test 0 has no output"),
    ("official_tests", [{"input": "\ud800", "output": "x"}], "has a lone surrogate"),
    ("official_tests", {"input": ["5"], "output": []}, "has 1 inputs, 0 outputs"),
    ("official_tests", {"input": "5"}, "official_tests has no lists input and output"),
]


@pytest.mark.parametrize(("column", "value", "message"), WRONG_VALUES)
def test_a_wrong_value_makes_one_problem_unusable(
    tmp_path: Path, column: str, value: Any, message: str
) -> None:
    rows = [{**ROWS[0], column: value, "id": "1/A"}, ROWS[2]]
    problems = open_problems(str(jsonl(tmp_path / "p.jsonl", rows)))
    assert problems.get("1/A") is None
    assert problems.get("1/A") is None
    assert problems.get("1002/C") is not None
    assert problems.why_missing("1/A").startswith("problem 1/A is unusable: ")
    assert message in problems.why_missing("1/A")
    assert problems.messages() == [problems.why_missing("1/A")]


def test_values_that_only_describe_are_dropped_when_wrong(tmp_path: Path) -> None:
    row = {
        "id": 12,
        "aliases": "none",
        "rating": "hard",
        "tags": {"a": 1},
        "title": 5,
        "contest_start": 1_500_000_000,
        "official_tests_complete": "yes",
        "contest_id": None,
        "long": "x" * 1000,
        "short": "x",
    }
    problem = open_problems(str(jsonl(tmp_path / "p.jsonl", [row]))).get("12")
    expected = Problem("12", title="5", contest_id="12", contest_year=2017, extra={"short": "x"})
    assert problem == expected


def test_numbers_may_be_text(tmp_path: Path) -> None:
    row = {"id": "1/A", "time_limit": "0.5", "memory_limit": "16", "rating": "1500"}
    problem = open_problems(str(jsonl(tmp_path / "p.jsonl", [row]))).get("1/A")
    assert problem is not None
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
def test_other_shapes_of_tests(tmp_path: Path, make: Make, tests: Any) -> None:
    rows = [{"id": "0/Z", "official_tests": None}, {"id": "1/A", "official_tests": tests}]
    problems = open_problems(str(make(tmp_path, rows)))
    assert problems.official_sizes("1/A") == [1, 2]
    assert [t.expected for t in problems.official_tests("1/A")] == [b"a", b"b"]
    assert problems.official_sizes("0/Z") == []


def test_bad_rows_are_named_and_lose_no_other(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "p.jsonl",
        ["{", "[1]", '{"title": "x"}', '{"id": "1/A"}', '{"id": "1/A"}', '{"id": ["2/B"]}', ""],
    )
    problems = open_problems(str(path))
    assert problems.ids() == ["1/A"]
    messages = problems.messages()
    assert len(messages) == 5
    assert messages[0].startswith(f"{path}, line 1 is no problem: not JSON")
    assert messages[1] == f"{path}, line 2 is no problem: a JSON list, not an object"
    assert messages[2] == "p.jsonl, row 0 is no problem: no id, nor contest_id and index"
    assert messages[3] == "p.jsonl has 1/A twice: the first row counts"
    assert messages[4].startswith("p.jsonl, row 3 is no problem: id is a list of 1 elements")


def test_lines_may_have_bom_crlf_blanks_and_no_end(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "1/A"}\r\n\r\n{"contest_id": 2, "index": "B"}')
    problems = open_problems(str(path))
    assert [p and p.id for p in map(problems.get, problems.ids())] == ["1/A", "2/B"]


def test_datasets_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "broken.jsonl").write_text("{\n")
    (tmp_path / "array.json").write_text("[{}]")
    (tmp_path / "p.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00")
    (tmp_path / "bad.parquet").write_text("PAR1 but not really")
    pq.write_table(pa.table({"name": ["x"]}), tmp_path / "names.parquet")
    pq.write_table(pa.table({"id": ["1/A"], "official_tests": [5]}), tmp_path / "five.parquet")
    for name, message in (
        ("none.jsonl", r"none.jsonl' does not exist: give a local copy: --dataset FILE.jsonl"),
        ("empty.jsonl", r"empty.jsonl is empty: give a local copy"),
        ("broken.jsonl", r"broken.jsonl has no usable problem: .* line 1 is no problem: not JSON"),
        ("array.json", r"array.json is a JSON array: give one object a line"),
        ("p.jsonl.gz", r"p.jsonl.gz is compressed: unpack it first \(gunzip p.jsonl.gz\)"),
        ("bad.parquet", r"bad.parquet cannot be read as parquet: "),
        ("names.parquet", r"names.parquet has the columns 'name': id is needed, or contest_id and"),
        ("five.parquet", r"column official_tests is of type int64: a list of input and output"),
    ):
        with pytest.raises(InputError, match=message):
            open_problems(str(tmp_path / name))
    with pytest.raises(InputError, match=r"--dataset 'a/b/c' does not exist: give a local copy"):
        open_problems("a/b/c")


def test_what_a_result_depends_on_is_described(tmp_path: Path) -> None:
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
def test_any_row_is_a_problem_or_is_named(
    tmp_path_factory: pytest.TempPathFactory, row: dict[str, Any]
) -> None:
    path = jsonl(tmp_path_factory.mktemp("any") / "p.jsonl", [{"id": "0/OK"}, row])
    with open_problems(str(path)) as problems:
        others = [name for name in problems.ids() if name != "0/OK"]
        usable = [problem for name in others if (problem := problems.get(name)) is not None]
        assert len(usable) + len(problems.messages()) == 1
        for problem in usable:
            assert 0 < problem.time_limit_s <= 3600
            assert problem.memory_limit_bytes > 0
            assert len(list(problems.official_tests(problem.id))) == problem.num_official
        assert problems.get("0/OK") is not None


def test_notes_are_bounded_and_said_once() -> None:
    notes = Notes()
    for i in range(2 * MAX_NOTES):
        notes.add(f"note {i}")
        notes.add("note 0")
    assert len(notes) == 2 * MAX_NOTES
    assert notes.messages()[-1] == f"and {MAX_NOTES} more"
    assert len(notes.messages()) == MAX_NOTES + 1


def test_importing_takes_neither_arrow_nor_datasets(tmp_path: Path) -> None:
    code = (
        "import sys; from eval.problems import open_problems; import eval.generated_tests;"
        f"open_problems({str(jsonl(tmp_path / 'p.jsonl'))!r}).get('1000/A');"
        "print([m for m in ('pyarrow', 'datasets', 'pandas', 'numpy') if m in sys.modules])"
    )
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert run.stdout == "[]\n"


# --- through the `datasets` library -------------------------------------------------------


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A hub of one dataset: subset → its rows, or what loading it raises."""
    import datasets

    subsets: dict[str, Any] = {}

    def load_dataset(name: str, subset: str, **options: Any) -> Any:
        found = subsets.get(subset, ValueError(f"BuilderConfig '{subset}' not found"))
        if isinstance(found, Exception):
            raise found
        assert (name, options["split"]) == ("someone/problems", "test")
        return datasets.Dataset.from_list(found)

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    monkeypatch.setattr(opening, "_note_offline", lambda: None)
    yield subsets


def titles(problems: ProblemSet, *names: str) -> list[str | None]:
    return [p.title if (p := problems.get(name)) else None for name in names]


@pytest.mark.slow
def test_the_first_subset_that_has_a_problem_wins(hub: dict[str, Any]) -> None:
    hub["verifiable"] = [{"id": "1/A", "title": "v", "aliases": ["2/B"]}]
    hub["default"] = [
        {"id": f"{i}/{c}", "title": "d", "aliases": []} for i, c in ((1, "A"), (2, "B"), (3, "C"))
    ]
    problems = open_problems("someone/problems")
    assert titles(problems, "1/A", "2/B", "3/C", "4/D") == ["v", "v", "d", None]
    assert problems.ids() == ["1/A", "3/C"]
    problems = open_problems("someone/problems", subsets=("default", "verifiable"))
    assert titles(problems, "1/A", "2/B", "3/C") == ["d", "d", "d"]


@pytest.mark.slow
def test_a_subset_that_is_missing_is_left_out_and_told(hub: dict[str, Any]) -> None:
    hub["default"] = [{"id": "1/A", "title": "d"}]
    problems = open_problems("someone/problems")
    assert titles(problems, "1/A") == ["d"]
    (note,) = problems.messages()
    assert note.startswith("--dataset someone/problems: subset verifiable: BuilderConfig")


@pytest.mark.slow
def test_a_hub_out_of_reach_says_how_to_use_a_local_copy(hub: dict[str, Any]) -> None:
    hub["verifiable"] = ConnectionError("Couldn't reach\nthe hub")
    message = (
        r"^--dataset someone/problems \(split test\) cannot be loaded: subset verifiable: "
        r"Couldn't reach the hub: give a local copy: --dataset FILE.jsonl, FILE.parquet or a folder"
    )
    with pytest.raises(InputError, match=message):
        open_problems("someone/problems")
    with pytest.raises(InputError, match="--dataset-subsets is empty: give names"):
        open_problems("someone/problems", subsets=())


@pytest.mark.slow
def test_saved_splits_and_folders_of_files(tmp_path: Path) -> None:
    import datasets

    rows = datasets.Dataset.from_list(ROWS[2:])
    datasets.DatasetDict(test=rows, train=rows.select([0])).save_to_disk(str(tmp_path / "both"))
    assert len(open_problems(str(tmp_path / "both"))) == 2
    assert open_problems(str(tmp_path / "both"), split="train").ids() == ["1002/C"]
    with pytest.raises(InputError, match=r"--dataset-split dev is not in .*: it has test, train"):
        open_problems(str(tmp_path / "both"), split="dev")

    (tmp_path / "files").mkdir()
    path = jsonl(tmp_path / "files" / "test.jsonl", ROWS[2:])
    cache = tmp_path / "cache"
    found = open_problems(str(path.parent), subsets=("default",), cache_dir=cache)
    assert found.ids() == ["1002/C", "1003/D"]
    with pytest.raises(InputError, match=r"give the file itself: --dataset .*/files/test.jsonl"):
        open_problems(str(path.parent), split="dev", subsets=("default",), cache_dir=cache)
    (tmp_path / "void").mkdir()
    with pytest.raises(InputError, match=r"cannot be loaded: .*give a local copy"):
        open_problems(str(tmp_path / "void"), cache_dir=cache)


# --- long lines, of which one test at a time is parsed ------------------------------------

SPACED = st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "  : ")])
OFFICIAL = (
    st.none()
    | st.just("[]")
    | st.dictionaries(
        st.sampled_from(["input", "output"]), st.lists(st.text(max_size=3), max_size=2)
    )
    | st.lists(
        st.dictionaries(st.sampled_from(["input", "output", '"', "]"]), st.text(max_size=6))
        | st.none(),
        max_size=4,
    )
)


@given(
    st.dictionaries(st.sampled_from(["id", "a", "official", "tests"]), st.text(max_size=5)),
    OFFICIAL,
    st.dictionaries(st.sampled_from(["b", "c"]), st.just({"official_tests": [{"input": "no"}]})),
    SPACED,
    st.booleans(),
)
def test_a_split_line_is_the_line(
    before: dict[str, Any],
    official: Any,
    after: dict[str, Any],
    spaced: tuple[str, str],
    ascii_only: bool,
) -> None:
    row = {**before, "official_tests": official, **after}
    line = json.dumps(row, separators=spaced, ensure_ascii=ascii_only).encode()
    split = split_tests(line)
    plain = isinstance(official, list) and all(isinstance(test, dict) for test in official)
    assert (split is not None) == plain
    if split is not None:
        assert json.loads(split.head) == {**row, "official_tests": None}
        assert [json.loads(line[start:end]) for start, end in split.spans] == official


@given(st.text(alphabet='{}[]",:\\ official_tests"', max_size=60), st.integers(0, 40))
def test_splitting_lets_nothing_pass_that_is_no_json(noise: str, at: int) -> None:
    good = '{"official_tests": [{"input": "1"}, {"input": "2"}]}'
    line = (good[:at] + noise + good[at:]).encode()
    try:
        split = split_tests(line)
        assert split is not None
        parsed = {**json.loads(split.head), "official_tests": None}
        tests = [json.loads(line[start:end]) for start, end in split.spans]
    except (RowError, ValueError, AssertionError):
        return
    whole = json.loads(line)
    assert whole["official_tests"] == tests
    assert {**whole, "official_tests": None} == parsed


def test_long_lines_are_read_as_short_ones_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = jsonl(
        tmp_path / "p.jsonl", [*ROWS, "{", {"id": "9/A", "official_tests": [{"input": 1}]}]
    )

    def read() -> list[Any]:
        with open_problems(str(path)) as problems:
            found = [(problems.get(i), problems.why_missing(i)) for i in problems.ids()]
            tests = [list(problems.official_tests(p.id)) for p, _ in found if p]
            return [found, tests, problems.messages()]

    short = read()
    monkeypatch.setattr(json_rows, "LONG_LINE_BYTES", 0)
    monkeypatch.setattr(json_rows, "_CHUNK_BYTES", 7)
    assert read() == short
    assert "official test 0 has an input or output that is no text" in short[0][-1][1]

"""Damaged and hostile files: Arrow record batches, which are mapped as they are, and parquet."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import arrow, open_problems
from gradebox.eval.problems.arrow import MappedRows
from gradebox.eval.problems.formats import Reading
from gradebox.eval.problems.problem_set import ProblemSet


def own_rows(_rows: Any, _where: str) -> Reading:
    return Reading()


def texts(*values: str, offsets: list[int] | None = None) -> Any:
    """Return an array of texts; with `offsets`, one that points to other places."""
    array = pa.array(values)
    if offsets is None:
        return array
    buffer = pa.array(offsets, pa.int32()).buffers()[1]
    return pa.StringArray.from_buffers(len(values), buffer, array.buffers()[2])


def column_of_tests(inputs: Any, ends: list[int]) -> Any:
    pairs = pa.StructArray.from_arrays([inputs, texts("1", "2", "3")], ["input", "output"])
    offsets = pa.array(ends, pa.int32()).buffers()[1]
    return pa.ListArray.from_buffers(
        pa.list_(pairs.type), len(ends) - 1, [None, offsets], children=[pairs]
    )


def good_tests() -> Any:
    return column_of_tests(texts("1", "2", "3"), [0, 1, 3])


def open_mapped(path: Path) -> ProblemSet:
    def map_file() -> Any:
        with pa.memory_map(str(path)) as source:
            return pa.ipc.open_stream(source).read_all()

    return ProblemSet("saved", "test", [MappedRows("saved", "f", map_file, own_rows)])


def write(path: Path, ids: Any, tests: Any) -> None:
    table = pa.record_batch([ids, tests], ["id", "official_tests"])
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_batch(table)


@pytest.mark.parametrize(
    ("offsets", "ends"),
    [([0, 1, 0, 3], [0, 1, 3]), (None, [0, 2, 900, 3])],
    ids=["a text of negative length", "a list beyond its values"],
)
def test_a_row_that_points_elsewhere_is_unusable(tmp_path, offsets, ends):
    tests = column_of_tests(texts("1", "2", "3", offsets=offsets), ends)
    write(tmp_path / "data.arrow", texts("1/A", "1/B", "1/C")[: len(tests)], tests)
    problems = open_mapped(tmp_path / "data.arrow")
    assert next(problems.official_tests("1/A")).input == b"1"
    assert problems.get("1/B") is None
    assert "problem 1/B is unusable: the row's data is damaged" in problems.why_missing("1/B")


def test_names_that_point_elsewhere_are_reported(tmp_path):
    write(tmp_path / "data.arrow", texts("1/A", "1/B", offsets=[0, 5, 1]), good_tests())
    with pytest.raises(InputError, match=r"the data of saved is damaged: .*: download or save it"):
        open_mapped(tmp_path / "data.arrow")


def test_damaged_bytes_are_a_fault_of_the_data(tmp_path):
    good = tmp_path / "good.arrow"
    write(good, texts("1/A", "1/B"), good_tests())
    seed, usable = random.Random(5), 0
    for number in range(300):
        data = bytearray(good.read_bytes())
        for _ in range(seed.choice((1, 2, 5))):
            data[seed.randrange(len(data))] = seed.choice((0, 1, 127, 128, 255))
        path = tmp_path / f"{number}.arrow"
        path.write_bytes(data[: seed.randrange(len(data))] if number % 5 == 0 else data)
        try:
            problems = open_mapped(path)
            for name in problems.ids():
                problems.get(name)
            usable += 1
        except InputError:
            continue
    assert 0 < usable < 300


def parquet(path: Path, **columns: Any) -> str:
    pq.write_table(pa.table(columns), path, store_schema=False)
    return str(path)


@pytest.mark.parametrize(
    ("limit", "most", "message"),
    [
        ("MAX_ROWS", 2, "has 3 rows: a data set may have 2; give a part of it"),
        ("MAX_ALIASES", 4, "has 5 aliases: a data set may have 4; give a part of it"),
    ],
)
def test_a_small_file_may_not_expand_to_any_number(tmp_path, monkeypatch, limit, most, message):
    ids, aliases = ["1/A", "1/B", "1/C"], [["a", "b", "c"], ["d"], ["e"]]
    path = parquet(tmp_path / "p.parquet", id=ids, aliases=aliases)
    assert open_problems(path).resolve("e") == "1/C"
    monkeypatch.setattr(arrow, limit, most)
    with pytest.raises(InputError, match=message):
        open_problems(path)


def test_a_row_group_may_not_fill_the_disk(tmp_path, monkeypatch):
    path = parquet(tmp_path / "p.parquet", id=["1/A", "1/B"], title=["x" * 9000] * 2)
    with open_problems(path) as problems:
        assert problems.get("1/B") is not None
    monkeypatch.setattr(arrow, "MAX_GROUP_BYTES", 10_000)
    with pytest.raises(InputError, match="a row group expands to more than 10000 bytes"):
        open_problems(path).get("1/A")


@pytest.mark.parametrize("dictionary", [True, False])
def test_long_ids_are_cut_before_they_become_objects(tmp_path, dictionary):
    ids = pa.array(["1/A", "é" * 300, "1/A", "1/B", None])
    path = tmp_path / "p.parquet"
    columns = {"id": ids.dictionary_encode() if dictionary else ids, "contest_id": [3] * 5}
    pq.write_table(pa.table(columns), path, store_schema=dictionary)
    batch = next(arrow.load_parquet().ParquetFile(path, read_dictionary=["id"]).iter_batches())
    assert arrow.short_texts(batch, 2).column("id").to_pylist() == [
        "1/",
        "éé",
        "1/",
        "1/",
        None,
    ]
    problems = open_problems(str(path))
    assert problems.ids() == ["1/A", "1/B"]
    assert "row 1 is not a problem: id is 'ééé" in problems.messages()[0]


def test_a_date_out_of_range_costs_its_row(tmp_path):
    years = pa.array([10**18, 5], pa.timestamp("us"))
    path = parquet(tmp_path / "p.parquet", id=["1/A", "1/B"], contest_start_year=years)
    problems = open_problems(path)
    assert problems.get("1/A") is None
    assert "a date or duration is out of range" in problems.why_missing("1/A")
    assert problems.get("1/B") is not None


def test_a_large_row_is_refused_before_it_becomes_objects(tmp_path, monkeypatch):
    path = parquet(tmp_path / "p.parquet", id=["1/A"], title=["x" * 9000])
    with open_problems(path) as problems:
        assert problems.get("1/A") is not None
    monkeypatch.setattr(arrow, "MAX_ROW_BYTES", 8000)
    with pytest.raises(InputError, match="bytes: at most 8000 are read"):
        open_problems(path).get("1/A")


@pytest.mark.parametrize("mapped", [False, True])
def test_columns_of_one_name_are_refused(tmp_path, mapped):
    path = tmp_path / "p.parquet"
    columns = [texts("1/A", "2/A"), texts("3/A", "4/A"), good_tests()]
    table = pa.Table.from_arrays(columns, ["id", "id", "official_tests"])
    pq.write_table(table, path)
    with pytest.raises(InputError, match="several columns 'id'"):
        if mapped:
            MappedRows("saved", "f", lambda: table, own_rows)
        else:
            open_problems(str(path))

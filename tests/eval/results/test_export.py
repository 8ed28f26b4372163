"""`gradebox export`: the records as a table that others read."""

import csv
import io
from pathlib import Path

import pandas as pd
import pytest

from gradebox.eval.cli.commands.report import main_of_table as main
from gradebox.eval.results.other_formats import BATCH_ROWS, export
from tests.eval.results.statistics.made_records import case, solution, write_results

EVIL = '=HYPERLINK("x")\r\n,"\x00\u2028\U0001f600'


@pytest.fixture
def results(tmp_path: Path) -> str:
    failed = case("WA", 1, output=EVIL, stderr="\ud800", checker={"stdout": "0"}, groups=("a", "b"))
    first = solution("1/A", 0, [case(), failed], tags=("dp", "a,b"), rating=None)
    return str(write_results(tmp_path / "run", [first, solution("1/B", 0, rating=-800)]))


def test_csv_has_a_row_for_each_solution(results, tmp_path):
    path = tmp_path / "a.csv"
    assert export(results, path) == 2
    with path.open(newline="", encoding="utf-8") as file:
        first, second = csv.DictReader(file)
    assert [first[n] for n in ("problem_id", "tags", "rating", "origin")] == [
        *("1/A", '["dp", "a,b"]', "", ""),
    ]
    assert (second["rating"], second["score"], second["compile"]) == ("-800", "1.0", "{}")
    assert "details" not in first


def test_tables_of_cases_keep_every_text(results, tmp_path):
    for name, output in (("c.csv", f"'{EVIL}"), ("c.parquet", EVIL)):
        assert main([results, "--to", str(tmp_path / name), "--cases"]) == 0
        if name.endswith("csv"):
            with (tmp_path / name).open(newline="", encoding="utf-8") as file:
                text = file.read()
            assert text.count("\0") == 1  # Python 3.10 does not read it
            rows = list(csv.DictReader(io.StringIO(text.replace("\0", "_"), newline="")))
            output = output.replace("\0", "_")
        else:
            frame = pd.read_parquet(tmp_path / name)
            assert list(frame.groups[1]) == ["a", "b"] and frame.cpu_s.sum() == 1.5
            rows = frame.to_dict("records")
        assert [row["verdict"] for row in rows] == ["AC", "WA", "AC"]
        assert [rows[1][n] for n in ("output", "stderr", "checker", "problem_id")] == [
            *(output, "\\ud800", '{"stdout": "0"}', "1/A"),
        ]


def test_parquet_is_written_in_batches_with_one_schema(tmp_path):
    cases = [case() for _ in range(BATCH_ROWS - 1)]
    killed = solution("1/A", 1, [case("RE", signal=9)])
    run = write_results(tmp_path / "r", [solution("1/A", 0, cases), killed, solution("1/A", 2)])
    assert export(str(run), tmp_path / "c.parquet", cases=True) == BATCH_ROWS + 1
    frame = pd.read_parquet(tmp_path / "c.parquet")
    assert frame.signal.dropna().tolist() == [9] and len(frame) == BATCH_ROWS + 1


@pytest.mark.parametrize(
    ("records", "name", "message"),
    [
        ([], "a.csv", "run: no case in it"),
        ([solution()], "a.xlsx", "give a file that ends in .csv or .parquet"),
        ([solution()], "no/a.csv", "can't be written: No such file or directory"),
        ([{"problem_id": "1/A"}], "a.csv", "was not written by the grader"),
        ([solution("1/A", 0, [case("RE", exit_code=1 << 70)])], "a.parquet", "write .csv"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(records, name, message, tmp_path, capsys):
    run = write_results(tmp_path / "run", records)
    assert main([str(run), "--to", str(tmp_path / name), "--cases"]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["run"]

"""The results of a run in other formats: a table, and what other graders write.

`gradebox export` makes a table with a row for each solution, or for each case, as FILE.csv or
FILE.parquet. The columns are the fields of record.py, so that the tables of all runs have the same
columns. A list of texts is a list in parquet; other nested fields are JSON. Memory use is constant.

`--also-write FORMAT=PATH` has the formats of other graders:

| format        | file                                                                             |
|---------------|----------------------------------------------------------------------------------|
| livecodebench | as its `…_eval_all.json`: a list of {question_id, contest_date, difficulty,      |
|               | platform, code_list, graded_list, pass@1, metadata}, for its compute_scores      |
| evalplus      | as its `…eval_results.json`: {date, hash, eval: {task_id: [{task_id, solution,   |
|               | base_status, plus_status, base_fail_tests, plus_fail_tests}]}, pass_at_k}        |

Only solutions that count (passed or failed) are written. Records have neither programs nor
statements: programs come from the solutions file, statements are left out.
"""

from __future__ import annotations

import importlib
import io
import json
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import replacing, write_json
from gradebox.eval.results.record import CaseRecord, SolutionRecord
from gradebox.eval.results.records import IDENTIFYING, table_rows, usable_records
from gradebox.eval.results.statistics.counts import COUNTED_STATUSES
from gradebox.eval.results.statistics.intervals import defined_pass_at_k

Record = Mapping[str, Any]
# Verdicts as LiveCodeBench's error codes; other failures are -4, a runtime error.
_CODES = {"WA": (-2, "Wrong Answer"), "TLE": (-3, "Time Limit Exceeded")}
_KS = (1, 10, 100)
_USED = ("problem_id", "sample_i", "status", "verdict", "origin", "contest_id")
_OF_CASES = ("test_case_i", "verdict", "cpu_s")


def _graded(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the records that count, by problem, in the order of their samples."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record["status"] in COUNTED_STATUSES:
            slim = {name: record.get(name) for name in _USED}  # without outputs
            slim["details"] = [{name: c[name] for name in _OF_CASES} for c in record["details"]]
            found.setdefault(str(record["problem_id"]), []).append(slim)
    return {name: sorted(some, key=lambda r: r["sample_i"]) for name, some in found.items()}


def livecodebench(records: Iterable[Record], code_of: Callable[[Record], str]) -> Any:
    """Return what LiveCodeBench's evaluator writes, sorted by question_id."""
    rows = []
    for name, some in sorted(_graded(records).items()):
        origin, codes = some[0].get("origin") or {}, [code_of(record) for record in some]
        passed = [record["status"] == "passed" for record in some]
        date = origin.get("contest_date", "")
        rows.append(
            {
                "question_id": name,
                "contest_id": some[0].get("contest_id") or "",
                "contest_date": f"{date}T00:00:00" if date else "",
                "difficulty": origin.get("difficulty", ""),
                "platform": origin.get("platform", ""),
                "output_list": codes,
                "code_list": codes,
                "graded_list": passed,
                "pass@1": sum(passed) / len(passed),
                "metadata": [json.dumps(_metadata(record)) for record in some],
            }
        )
    return rows


def _metadata(record: Record) -> dict[str, Any]:
    if record["status"] == "passed":
        return {"execution time": sum(case["cpu_s"] or 0.0 for case in record["details"])}
    code, message = _CODES.get(str(record["verdict"]), (-4, "Runtime Error"))
    return {"error_code": code, "error_message": message, "verdict": record["verdict"]}


def evalplus(records: Iterable[Record], code_of: Callable[[Record], str]) -> Any:
    """Return what EvalPlus writes; without plus tests in the rows, plus_status is null."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, some in _graded(records).items():
        rows[name] = [
            {
                "task_id": name,
                "solution": code_of(record),
                **dict(zip(("base_status", "plus_status"), _statuses(record), strict=True)),
                "base_fail_tests": [],
                "plus_fail_tests": [],
            }
            for record in some
        ]
    both = {"base": ("base_status",), "plus": ("base_status", "plus_status")}
    has_plus = any(row["plus_status"] for some in rows.values() for row in some)
    numbers = {
        which: _pass_at_k(rows.values(), statuses)
        for which, statuses in both.items()
        if has_plus or which == "base"
    }
    return {"date": "", "hash": "", "eval": rows, "pass_at_k": numbers}


def _statuses(record: Record) -> tuple[str, str | None]:
    base = (record.get("origin") or {}).get("base_tests", "")
    cases, passed = record["details"], record["status"] == "passed"
    if not base.isdecimal() or not cases:
        status = "pass" if passed else "timeout" if record["verdict"] == "TLE" else "fail"
        return status, "fail" if base.isdecimal() else None
    parts = (
        [c["verdict"] for c in cases if (c["test_case_i"] < int(base)) == first]
        for first in (True, False)
    )
    first, second = map(_status, parts)
    return first, second


def _status(verdicts: Sequence[str]) -> str:
    if verdicts and all(verdict == "AC" for verdict in verdicts):
        return "pass"
    return "timeout" if "TLE" in verdicts else "fail"


def _pass_at_k(rows: Iterable[list[dict[str, Any]]], statuses: Sequence[str]) -> dict[str, float]:
    counts = [
        (len(some), sum(all(row[s] == "pass" for s in statuses) for row in some)) for some in rows
    ]
    return defined_pass_at_k(counts, _KS)


FORMATS: Mapping[str, Callable[[Iterable[Record], Callable[[Record], str]], Any]] = {
    "livecodebench": livecodebench,
    "evalplus": evalplus,
}


def targets(given: Sequence[str] | None) -> dict[str, Path]:
    """Return the path of each format of `FORMAT=PATH`. Raises InputError."""
    found = {}
    for text in given or ():
        name, equals, path = text.partition("=")
        if name not in FORMATS or not equals or not path:
            raise InputError(
                f"--also-write {text}: give FORMAT=PATH, FORMAT one of {', '.join(FORMATS)}"
            )
        found[name] = Path(path)
    return found


def write_others(
    wanted: Mapping[str, Path],
    read: Callable[[], Iterable[Record]],
    codes: Mapping[tuple[str, int], str],
) -> None:
    """Write a run's records in other formats.

    read   returns the records
    codes  the programs by problem and number of the sample
    """
    for name, path in wanted.items():
        document = FORMATS[name](
            read(), lambda record: codes.get((record["problem_id"], record["sample_i"]), "")
        )
        write_json(path, document)


BATCH_ROWS = 10_000
BATCH_CHARS = 16 << 20
_COMPUTED = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes texts that begin so
_QUOTED = re.compile(r'[",\r\n]')

Row = dict[str, Any]


def columns(*, cases: bool) -> dict[str, type]:
    """Return the type of each column: bool, int, float, str, list (of texts) or dict (JSON)."""
    fields = {name: _kind(hint) for name, hint in get_type_hints(SolutionRecord).items()}
    if cases:
        own = {name: _kind(hint) for name, hint in get_type_hints(CaseRecord).items()}
        return {**{name: fields[name] for name in IDENTIFYING}, **own}
    del fields["details"]
    return fields


def _kind(hint: Any) -> type:
    """Return the kind of column for the type of a field; None and UNSET are empty in all kinds."""
    origin, members = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _kind(next(m for m in members if m not in (type(None), msgspec.UnsetType)))
    if origin is Literal:
        return type(members[0])
    if origin is tuple:
        return list if _kind(members[0]) is str else dict
    return hint if hint in (bool, int, float, str) else dict


def export(results: str, path: Path, *, cases: bool = False) -> int:
    """Write the table of a results folder or records file; return the number of rows.

    path   ends in .csv or .parquet; the file is replaced whole or not at all
    cases  a row for each case, with the fields that identify its solution

    Raises InputError for unusable records, another ending, or a file that can't be written.
    """
    write = WRITERS.get(path.suffix.lower())
    if write is None:
        raise InputError(f"{path}: give a file that ends in {' or '.join(WRITERS)}")
    rows = (row for record in usable_records(results) for row in table_rows(record, cases))
    with replacing(path) as file:
        if not (written := write(file, columns(cases=cases), rows)):
            raise InputError(f"{results}: no {'case' if cases else 'record'} in it")
    return written


def _write_csv(file: IO[bytes], kinds: Mapping[str, type], rows: Iterable[Row]) -> int:
    """Write RFC 4180's format in UTF-8; a text that a spreadsheet would compute begins with '."""
    text = io.TextIOWrapper(file, "utf-8", errors="backslashreplace", newline="")
    written = 0
    text.write(",".join(kinds) + "\r\n")
    for written, row in enumerate(rows, start=1):  # noqa: B007
        text.write(",".join(_cell(row.get(name), kind) for name, kind in kinds.items()) + "\r\n")
    text.detach()
    return written


def _cell(value: Any, kind: type) -> str:
    """Return a cell as it is written. Before 3.11, the module csv fails at null characters."""
    if value is None:
        return ""
    cell = json.dumps(value) if kind in (list, dict) else str(value)
    if kind is str and cell.startswith(_COMPUTED):
        cell = f"'{cell}"
    return '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell


def _write_parquet(file: IO[bytes], kinds: Mapping[str, type], rows: Iterable[Row]) -> int:
    try:  # imported as Any: pyarrow has no type hints
        pa: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is missing: pip install pyarrow, or write .csv") from None
    arrow: dict[type, Any] = {
        bool: pa.bool_(), int: pa.int64(), float: pa.float64(), list: pa.list_(pa.string()),
    }  # fmt: skip
    schema = pa.schema([(name, arrow.get(kind, pa.string())) for name, kind in kinds.items()])
    json_columns = [name for name, kind in kinds.items() if kind is dict]
    written = 0
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in _batches(rows):
            written += len(batch)
            for row in batch:
                row.update({n: json.dumps(row[n]) for n in json_columns if row.get(n) is not None})
            try:
                writer.write_table(pa.Table.from_pylist(batch, schema))
            except (pa.ArrowException, OverflowError) as error:
                why = f"a value that parquet can't hold: {error!s:.200}; write .csv"
                raise InputError(why) from None
    return written


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch, chars = list[Row](), 0
    for row in rows:
        batch.append(row)
        chars += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(batch) == BATCH_ROWS or chars > BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


WRITERS: Mapping[str, Callable[[IO[bytes], Mapping[str, type], Iterable[Row]], int]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}

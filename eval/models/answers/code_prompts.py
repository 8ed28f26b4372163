"""Prompts that ask for solutions of a code dataset's problems.

dataset row ─▶ statement columns ─(template with {{placeholders}})─▶ prompt

Tests and checkers are never read, so they can't get into a prompt.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.answers.statements import columns_of, described, format_of
from gradebox.eval.models.response_file import read_lines
from gradebox.eval.problems.dataset_library import is_saved_dataset, load_saved, load_subsets
from gradebox.eval.problems.formats import RowFormat
from gradebox.eval.problems.formats.array_rows import array_items
from gradebox.eval.problems.formats.hub import (
    FILES,
    download,
    parquet_in,
    release_files,
    release_in,
    whole,
)
from gradebox.eval.problems.formats.ioi import IOI
from gradebox.eval.problems.formats.ioi_rows import ioi_files
from gradebox.eval.problems.row import RowError, problem_id

Row = Mapping[str, Any]

STATEMENT_COLUMNS = (
    "title",
    "description",
    "input_format",
    "output_format",
    "interaction_format",
    "note",
    "examples",
    "time_limit",
    "memory_limit",
    "input_mode",
)
TEMPLATE = (
    Path(__file__).parents[1] / "data" / "code" / "dataset.txt"
)  # for rows of other data sets
COLUMNS = ("id", "contest_id", "index", *STATEMENT_COLUMNS)
PLACEHOLDERS = {*STATEMENT_COLUMNS, "language", "fence", "input", "output", "interaction"}
_PLACEHOLDER = re.compile(r"\{\{ ?([a-z_]+) ?\}\}")


def read_rows(dataset: str, split: str, subsets: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a dataset in its order, with ids and statement columns only.

    Raises InputError when the dataset can't be read.
    """
    path = Path(dataset).expanduser()
    files = [path] if path.is_file() else _files(path, dataset, subsets)
    if not files:
        subsets, split = whole(dataset, subsets, split)
        yield from _library_rows(path, dataset, split, subsets)
    known: set[str] = set()
    for file in files:
        for row in _parquet_rows(file) if file.suffix == ".parquet" else _json_rows(file):
            if path.is_dir() and row["id"] in known:  # another subtask of IOI
                continue
            known.add(row["id"])
            yield row


def _files(path: Path, dataset: str, subsets: Sequence[str]) -> list[Path]:
    """Return the files of a data set that is read from its files, none of any other."""
    if dataset in FILES:
        return download(dataset, release_files(subsets))
    if not path.is_dir() or is_saved_dataset(path):
        return []
    subtasks = [file for file, kind in ioi_files(path).items() if kind is IOI]
    return subtasks or release_in(path, subsets) or parquet_in(path)


def _json_rows(path: Path) -> Iterator[Row]:
    for number, row in enumerate(_objects(path)):
        kind = format_of(row)
        yield described(row, kind, number) if kind else {n: row.get(n) for n in COLUMNS}


def _objects(path: Path) -> Iterator[Row]:
    """Yield the objects of a file of JSON lines, or of one JSON array. Raises InputError."""
    with path.open("rb") as file:
        is_array = file.read(16).lstrip()[:1] == b"["
    yield from array_items(path)[0] if is_array else read_lines(path)


def _chosen(names: Sequence[str]) -> tuple[RowFormat | None, list[str]]:
    """Return the format of a table's rows, None for our own, and the columns to read."""
    kind = format_of(names)
    wanted = COLUMNS if kind is None else columns_of(kind)
    return kind, [name for name in dict.fromkeys(wanted) if name in names]


def _parquet_rows(path: Path) -> Iterator[Row]:
    parquet = importlib.import_module("pyarrow.parquet")
    arrow_error = importlib.import_module("pyarrow").ArrowException
    try:
        with parquet.ParquetFile(path) as file:
            kind, columns = _chosen(file.schema_arrow.names)
            number = 0
            for batch in file.iter_batches(batch_size=64, columns=columns):
                for row in batch.to_pylist():
                    yield described(row, kind, number) if kind else row
                    number += 1
    except (OSError, arrow_error) as error:
        raise InputError(f"--dataset {path}: {error}") from None


def _library_rows(path: Path, dataset: str, split: str, subsets: Sequence[str]) -> Iterator[Row]:
    if is_saved_dataset(path):
        tables, failures = load_saved(path, split)
    else:
        tables, failures = load_subsets(dataset, split, subsets)
    if not tables:
        raise InputError(
            f"--dataset {dataset} (split {split}) cannot be loaded: {'; '.join(failures)}; give "
            "a local copy: a .jsonl or .parquet file, or a folder made with save_to_disk"
        )
    earlier_ids: set[str] = set()
    for loaded in tables:
        table = loaded.open_table()
        kind, columns = _chosen(table.column_names)
        ids: set[str] = set()
        number = 0
        for batch in table.select(columns).to_batches(max_chunksize=64):
            for row in batch.to_pylist():
                row = described(row, kind, number) if kind else row
                number += 1
                name = _id_or_none(row)
                if name is None or name not in earlier_ids:  # else in an earlier subset as well
                    yield row
                if name is not None:
                    ids.add(name)
        earlier_ids |= ids


def _id_or_none(row: Row) -> str | None:
    try:
        return problem_id(row)
    except RowError:
        return None


def read_template(path: Path) -> str:
    """Return a prompt template; raise InputError for an unknown or missing placeholder."""
    try:
        template = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--prompt-file {path}: {error}") from None
    names = set(_PLACEHOLDER.findall(template))
    unknown = sorted(names - PLACEHOLDERS)
    if unknown:
        raise InputError(
            f"--prompt-file {path}: {{{{{unknown[0]}}}}} is unknown; known are "
            f"{', '.join(sorted(PLACEHOLDERS))}"
        )
    if "description" not in names:
        raise InputError(f"--prompt-file {path} has no {{{{description}}}}; add it")
    return template


def render(template: str, row: Row, language: str) -> str:
    """Return the prompt of a problem. Placeholders inside its statement are not filled in."""
    fields = _fields(row, language)
    return _PLACEHOLDER.sub(lambda match: fields[match[1]], template).strip() + "\n"


def get_problem_id(row: Row, number: int, dataset: str) -> str:
    """Return the problem's id; raise InputError with the row's number when it has none."""
    try:
        return problem_id(row)
    except RowError as error:
        raise InputError(f"--dataset {dataset} row {number}: {error}") from None


def _fields(row: Row, language: str) -> dict[str, str]:
    is_python = language == "python"
    uses_files = row.get("input_mode") == "file"
    interaction, note = _text(row, "interaction_format"), _text(row, "note")
    return {
        **{name: _text(row, name) for name in STATEMENT_COLUMNS},
        "language": "Python 3" if is_python else language.replace("c++", "C++"),
        "fence": "cpp" if language.startswith("c++") else language,
        "input": "the file input.txt" if uses_files else "standard input",
        "output": "the file output.txt" if uses_files else "standard output",
        "interaction": f"\n## Interaction\n\n{interaction}\n" if interaction else "",
        "note": f"\n## Note\n\n{note}\n" if note else "",
        "examples": _format_examples(row.get("examples")),
    }


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def _format_examples(examples: Any) -> str:
    """Return the examples of the statement as Markdown; "(none)" without examples."""
    if isinstance(examples, dict):  # columns: {"input": […], "output": […]}
        columns = [examples.get(name) for name in ("input", "output")]
        pairs = zip(*(c if isinstance(c, list) else [] for c in columns), strict=False)
        examples = [{"input": given, "output": expected} for given, expected in pairs]
    parts = []
    for example in examples if isinstance(examples, list) else []:
        if isinstance(example, dict):
            given, expected = (str(example.get(n, "")).rstrip() for n in ("input", "output"))
            parts.append(f"Input:\n```\n{given}\n```\nOutput:\n```\n{expected}\n```")
    return "\n\n".join(parts) or "(none)"

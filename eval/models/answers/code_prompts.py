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
from gradebox.eval.models.response_file import read_lines
from gradebox.eval.problems.dataset_library import is_saved_dataset, load_saved, load_subsets
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
COLUMNS = ("id", "contest_id", "index", *STATEMENT_COLUMNS)
PLACEHOLDERS = {*STATEMENT_COLUMNS, "language", "fence", "input", "output", "interaction"}
_PLACEHOLDER = re.compile(r"\{\{ ?([a-z_]+) ?\}\}")


def read_rows(dataset: str, split: str, subsets: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a dataset in its order, with ids and statement columns only.

    Raises InputError when the dataset can't be read.
    """
    path = Path(dataset).expanduser()
    if not path.is_file():
        yield from _library_rows(path, dataset, split, subsets)
    elif path.suffix == ".parquet":
        yield from _parquet_rows(path)
    else:
        for row in read_lines(path):
            yield {name: row.get(name) for name in COLUMNS}


def _parquet_rows(path: Path) -> Iterator[Row]:
    parquet = importlib.import_module("pyarrow.parquet")
    arrow_error = importlib.import_module("pyarrow").ArrowException
    try:
        with parquet.ParquetFile(path) as file:
            columns = [name for name in COLUMNS if name in file.schema_arrow.names]
            for batch in file.iter_batches(batch_size=64, columns=columns):
                yield from batch.to_pylist()
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
        columns = [name for name in COLUMNS if name in table.column_names]
        ids: set[str] = set()
        for batch in table.select(columns).to_batches(max_chunksize=64):
            for row in batch.to_pylist():
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
        "fence": "python" if is_python else "cpp",
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

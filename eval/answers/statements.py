"""Statements of a code dataset's problems → prompts. Tests and checkers are never in them.

dataset row ─▶ Statement ─(template with {{field}})─▶ prompt
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.input_error import InputError
from eval.problems.opening import datasets_library, load_errors
from eval.problems.row import RowError, problem_id
from eval.sampling.response_file import read_lines

# What a template may hold; nothing else of a row can be put into a prompt.
COLUMNS = (
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
ID_COLUMNS = ("id", "contest_id", "index")
_PLACE = re.compile(r"\{\{ ?([a-z_]+) ?\}\}")

# Language → how it is called in a prompt, and the tag of its Markdown block.
SPOKEN = {"python": ("Python 3", "python")}


def rows_of(
    dataset: str, split: str, subsets: Sequence[str], more: Sequence[str] = ()
) -> Iterator[Mapping[str, Any]]:
    """The rows of a dataset in its order, statement columns (and `more`) only."""
    wanted = [*ID_COLUMNS, *COLUMNS, *more]
    path = Path(dataset).expanduser()
    if path.is_file() and path.suffix != ".parquet":
        for row in read_lines(path):
            yield {name: row.get(name) for name in wanted}
    elif path.is_file():
        yield from _parquet_rows(path, wanted)
    else:
        yield from _library_rows(path, dataset, split, subsets, wanted)


def _parquet_rows(path: Path, wanted: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    parquet = importlib.import_module("pyarrow.parquet")
    arrow_error = importlib.import_module("pyarrow").ArrowException
    try:
        with parquet.ParquetFile(path) as file:
            columns = [name for name in wanted if name in file.schema_arrow.names]
            for batch in file.iter_batches(batch_size=64, columns=columns):
                yield from batch.to_pylist()
    except (OSError, arrow_error) as error:
        raise InputError(f"--dataset {path}: {error}") from None


def _library_rows(
    path: Path, dataset: str, split: str, subsets: Sequence[str], wanted: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    datasets = datasets_library()
    failures = []
    saved = any((path / name).is_file() for name in ("dataset_dict.json", "state.json"))
    earlier: set[str] = set()
    found = False
    for subset in [None] if saved else subsets:
        try:
            if saved:
                loaded = datasets.load_from_disk(str(path))
                if isinstance(loaded, datasets.DatasetDict):
                    loaded = loaded[split]
            else:
                loaded = datasets.load_dataset(dataset, subset, split=split)
        except load_errors(datasets) as error:
            failures.append(f"{subset or path}: {' '.join(str(error).split())[:150]}")
            continue
        found = True
        columns = [name for name in wanted if name in loaded.column_names]
        here: set[str] = set()
        for row in loaded.select_columns(columns):
            # A problem that an earlier subset had is the same one.
            name = _id_or_none(row)
            if name is None or name not in earlier:
                yield row
            if name is not None:
                here.add(name)
        earlier |= here
    if not found:
        raise InputError(
            f"--dataset {dataset} (split {split}) cannot be loaded: {'; '.join(failures)}; give "
            "a local copy: a .jsonl or .parquet file, or a folder made with save_to_disk"
        )


def _id_or_none(row: Mapping[str, Any]) -> str | None:
    try:
        return problem_id(row)
    except RowError:
        return None


def read_template(path: Path) -> str:
    """A prompt template; InputError names a place that no column fills."""
    try:
        template = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--prompt-file {path}: {error}") from None
    names = set(_PLACE.findall(template))
    known = {*COLUMNS, "language", "fence", "input", "output", "interaction"}
    unknown = sorted(names - known)
    if unknown:
        raise InputError(
            f"--prompt-file {path}: {{{{{unknown[0]}}}}} is unknown; known are "
            f"{', '.join(sorted(known))}"
        )
    if "description" not in names:
        raise InputError(f"--prompt-file {path}: no {{{{description}}}} in it; put it in")
    return template


def render(template: str, row: Mapping[str, Any], language: str) -> str:
    """The prompt of one problem. A statement that holds {{…}} itself is left as it is."""
    fields = _fields(row, language)
    return _PLACE.sub(lambda place: fields[place[1]], template).strip() + "\n"


def statement_id(row: Mapping[str, Any], number: int, dataset: str) -> str:
    """The problem's id; InputError names the row that has none."""
    try:
        return problem_id(row)
    except RowError as error:
        raise InputError(f"--dataset {dataset} row {number}: {error}") from None


def _fields(row: Mapping[str, Any], language: str) -> dict[str, str]:
    spoken, fence = SPOKEN.get(language, (language.replace("c++", "C++"), "cpp"))
    by_file = row.get("input_mode") == "file"
    interaction, note = _text(row, "interaction_format"), _text(row, "note")
    return {
        **{name: _text(row, name) for name in COLUMNS},
        "language": spoken,
        "fence": fence,
        "input": "the file input.txt" if by_file else "standard input",
        "output": "the file output.txt" if by_file else "standard output",
        "interaction": f"\n## Interaction\n\n{interaction}\n" if interaction else "",
        "note": f"\n## Note\n\n{note}\n" if note else "",
        "examples": _examples(row.get("examples")),
    }


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def _examples(value: Any) -> str:
    """The examples of the statement, which are not the tests."""
    if isinstance(value, dict):
        sides = [value.get(name) for name in ("input", "output")]
        pairs = zip(*(side if isinstance(side, list) else [] for side in sides), strict=False)
        value = [{"input": i, "output": o} for i, o in pairs]
    parts = []
    for example in value if isinstance(value, list) else []:
        if isinstance(example, dict):
            given, wanted = str(example.get("input", "")), str(example.get("output", ""))
            parts.append(
                f"Input:\n```\n{given.rstrip()}\n```\nOutput:\n```\n{wanted.rstrip()}\n```"
            )
    return "\n\n".join(parts) or "(none)"

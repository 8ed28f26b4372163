"""A benchmark's test file (JSON lines or a JSON list) → samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.common.paths import DATA
from gradebox.eval.models.benchmarks.sample import Benchmark, Sample
from gradebox.eval.models.response_file import read_lines
from gradebox.sandbox.input_file import check_input_file

# A few questions of our own in the format of each benchmark, so that all configurations run.
EXAMPLE_DATA = DATA / "benchmarks"


def find_file(test_path: str, data_dir: Path) -> Path:
    """Return the test file: the path itself, else the one under `data_dir`.

    A leading `datasets/`, which many configurations have, may be missing there. Raises
    InputError with the places that were tried.
    """
    for place in _places(test_path, data_dir):
        if place.is_file():
            return place
    raise InputError(missing_files_message([test_path], data_dir))


def _places(test_path: str, data_dir: Path) -> list[Path]:
    path = Path(test_path)
    places = [path, data_dir / path]
    if path.parts[:1] == ("datasets",):
        places.append(data_dir / Path(*path.parts[1:]))
    return places


def is_missing(test_path: str, data_dir: Path) -> bool:
    """Return whether there is no test file in any of its places."""
    return not any(place.is_file() for place in _places(test_path, data_dir))


def missing_files_message(test_paths: Sequence[str], data_dir: Path) -> str:
    """Return the message about missing test files: all of them, the places, the remedies."""
    if len(test_paths) == 1:
        places = ", ".join(map(str, _places(test_paths[0], data_dir)))
        missing = f"no file {test_paths[0]}; looked for {places}; put it there"
    else:
        missing = f"{len(test_paths)} files are missing: {', '.join(test_paths)}; put them there"
    return (
        f"{missing}, give --data-dir (now {data_dir}), or leave these benchmarks out with "
        "--skip-missing (docs/benchmarks-by-configuration.md has the source of each file)"
    )


def is_example_data(path: Path) -> bool:
    """Return whether a benchmark's test file is gradebox's example, not the real questions."""
    return EXAMPLE_DATA in path.resolve().parents


def read_samples(benchmark: Benchmark, path: Path, limit: int | None = None) -> list[Sample]:
    """Return the questions of a file.

    Raises InputError for a row that the process function can't use, a duplicate id, or a file
    without questions.
    """
    samples: list[Sample] = []
    row_of_id: dict[str, int] = {}
    for number, row in enumerate(_rows(path), 1):
        if limit is not None and len(samples) >= limit:
            break
        where = f"{benchmark.name}: {path} row {number}"
        try:
            sample = benchmark.process(row)
        except RowError as error:
            raise InputError(f"{where}: {error}") from None
        sample_id = sample.id or str(number - 1)
        if sample_id in row_of_id:
            raise InputError(
                f"{where}: row {row_of_id[sample_id]} has the same id {sample_id!r}; ids must be "
                "unique"
            )
        row_of_id[sample_id] = number
        samples.append(replace(sample, id=sample_id))
    if not samples:
        raise InputError(f"{benchmark.name}: {path} has no questions")
    return samples


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    if not _is_list(path):
        yield from read_lines(path)
        return
    try:
        rows = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})") from None
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise InputError(f"{path} row {number}: not a JSON object")
        yield row


def _is_list(path: Path) -> bool:
    try:
        check_input_file(path)
        with path.open("rb") as file:
            return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None

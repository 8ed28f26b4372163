"""A benchmark's test file → samples. JSON lines, or one JSON list.

A path is looked for as it stands, then in the data folder; a leading `datasets/`, which many
configurations carry, is left out there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval.benchmarks.fields import BadRow
from eval.benchmarks.model import Benchmark, Sample
from eval.input_error import InputError
from eval.sampling.response_file import read_lines

# Our own few items in each format stand here, so that every configuration runs at once.
SAMPLES = Path(__file__).resolve().parents[1] / "data" / "benchmarks"


def find_file(test_path: str, data_dir: Path) -> Path:
    """The file; InputError says where it was looked for."""
    as_given = Path(test_path)
    places = [as_given, data_dir / as_given]
    if as_given.parts[:1] == ("datasets",):
        places.append(data_dir / Path(*as_given.parts[1:]))
    for place in places:
        if place.is_file():
            return place
    looked = ", ".join(str(p) for p in places)
    raise InputError(
        f"no file {test_path}; looked for {looked}; put it there or give --data-dir "
        "(docs/benchmarks-by-configuration.md says where each file comes from)"
    )


def is_sample(path: Path) -> bool:
    """Whether these are our few items and not the benchmark."""
    return SAMPLES in path.resolve().parents


def read_samples(benchmark: Benchmark, path: Path, limit: int | None = None) -> list[Sample]:
    """The questions of a file, each with an id of its own.

    Raises InputError for a row without the fields its process function needs, an id given
    twice, or a file without a question.
    """
    samples: list[Sample] = []
    seen: dict[str, int] = {}
    for number, row in enumerate(_rows(path), 1):
        if limit is not None and len(samples) >= limit:
            break
        try:
            sample = benchmark.process(row)
        except BadRow as error:
            raise InputError(f"{benchmark.name}: {path} row {number}: {error}") from None
        name = sample.id or str(number - 1)
        if name in seen:
            raise InputError(
                f"{benchmark.name}: {path} row {number}: id {name!r} was given in row "
                f"{seen[name]} as well; ids must differ"
            )
        seen[name] = number
        samples.append(replace(sample, id=name))
    if not samples:
        raise InputError(f"{benchmark.name}: no question in {path}")
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
        with path.open("rb") as file:
            return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None

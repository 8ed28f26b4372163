"""The data of a benchmark run, and the questions of a test file (JSON lines or a JSON list).

Benchmark   an entry of a configuration
Sample      a question, whatever the format of its file
Prompt      how a question is put to a model
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.common.files import DATA
from gradebox.eval.models.answers.equality import MathEquality
from gradebox.eval.models.response_file import read_lines
from gradebox.sandbox.input_file import check_input_file

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# A few questions of our own in the format of each benchmark, so that all configurations run.
EXAMPLE_DATA = DATA / "benchmarks"

Task = Literal["cot", "pal", "sft"]
Language = Literal["en", "zh"]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Sample:
    """A question.

    id         unique in its file; "" takes the number of the row
    question   the text for the model, including the options of a choice
    answers    the right answer, or several that belong together
    options    the options of a choice, in the order of their letters
    reference  a worked solution, when the file has one
    extra      what an eval function needs beside the answers (tolerance, exponent, …)
    """

    dataset: str
    id: str
    question: str
    answers: tuple[str, ...]
    options: tuple[str, ...] = ()
    reference: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def answer(self) -> str:
        """Return the first right answer."""
        return self.answers[0]


Process = Callable[[Row], Sample]
Extract = Callable[[str, Sample], "list[str]"]
Evaluate = Callable[["list[str]", Sample, MathEquality], bool]


@dataclass(frozen=True)
class Prompt:
    """How a question is put to a model.

    frame   the question's frame; `{question}` is filled in
    shots   worked examples before it
    stop    texts that end an answer
    intro   text before everything else
    own     the examples are the user's. Figures made with gradebox's examples can't be compared
            with a paper's.
    """

    name: str
    frame: str
    shots: str = ""
    stop: tuple[str, ...] = ()
    intro: str = ""
    own: bool = False

    def format(self, question: str) -> str:
        """Return the whole text. `{question}` inside examples is not filled in."""
        parts = (self.intro, self.shots, self.frame.replace("{question}", question.strip()))
        return "\n\n\n".join(part for part in parts if part)


@dataclass(frozen=True)
class Benchmark:
    """An entry of a configuration with its functions and its prompt."""

    name: str
    test_path: str
    language: Language
    tasks: tuple[Task, ...]
    process: Process
    extract: Extract
    evaluate: Evaluate
    prompt: Prompt


def places_of(test_path: str, data_dir: Path) -> list[Path]:
    """Return where a test file may be: the path itself, and the one under `data_dir`.

    A leading `datasets/`, which many configurations have, may be missing there.
    """
    path = Path(test_path)
    places = [path, data_dir / path]
    return [*places, data_dir.joinpath(*path.parts[1:])] if path.parts[0] == "datasets" else places


def find_file(test_path: str, data_dir: Path) -> Path | None:
    """Return the test file, None when it is in none of its places."""
    return next((place for place in places_of(test_path, data_dir) if place.is_file()), None)


def missing_files_message(test_paths: Sequence[str], data_dir: Path) -> str:
    """Return the message about missing test files: all of them, the places, the remedies."""
    if len(test_paths) == 1:
        places = ", ".join(map(str, places_of(test_paths[0], data_dir)))
        missing = f"no file {test_paths[0]}; looked for {places}; put it there"
    else:
        missing = f"{len(test_paths)} files are missing: {', '.join(test_paths)}; put them there"
    return (
        f"{missing}, give --data-dir (now {data_dir}), or leave these benchmarks out with "
        "--skip-missing (docs/benchmarks-by-configuration.md has the source of each file)"
    )


def read_samples(benchmark: Benchmark, path: Path, limit: int | None = None) -> list[Sample]:
    """Return the questions of a file.

    Raises InputError for a row that the process function can't use, a duplicate id, or a file
    without questions.
    """
    samples: dict[str, Sample] = {}
    row_of_id: dict[str, int] = {}
    for number, row in enumerate(_rows(path), 1):
        if len(samples) == limit:
            break
        where = f"{benchmark.name}: {path} row {number}"
        try:
            sample = benchmark.process(row)
        except RowError as error:
            raise InputError(f"{where}: {error}") from None
        name = sample.id or str(number - 1)
        if name in samples:
            raise InputError(
                f"{where}: row {row_of_id[name]} has the same id {name!r}; ids must be unique"
            )
        row_of_id[name] = number
        samples[name] = replace(sample, id=name)
    if not samples:
        raise InputError(f"{benchmark.name}: {path} has no questions")
    return list(samples.values())


def _rows(path: Path) -> Iterator[Row]:
    try:
        check_input_file(path)
        with path.open("rb") as file:
            is_list = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["
        rows = json.loads(path.read_bytes()) if is_list else read_lines(path)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: {error}") from None
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise InputError(f"{path} row {number}: not a JSON object")
        yield row

"""Process functions: a row of a test file ─▶ Sample, or RowError.

They are made from the table eval/models/data/rows.json, an entry for each name in configurations:

    "question"   a template of fields, "{body} {question}", or "=function" of `row_parts`
    "answers"    a template or "=function", which may return several answers; "*field": all texts
                 of a list, at least one. "numeric": thousands separators are removed
    "options"    the options of a choice: the field of their list, a list of fields, or "=function"
    "choices"    the options themselves, where all questions have the same options
    "right"      the right option of a choice: "letter field", "number field", "same_text field",
                 "capitalised field" or "=function"
    "inside"     the field with a list of one object, whose fields are added to the row's
    "ask"        text between the question and its options, for a base model. A tuned model is
                 asked by its prompt: "sft" makes a second function, `…_sft`, without it
    "ids"        fields that may have the id; the first of them that a row has is taken
    "reference"  the field of the worked solution, or "=function"
    "extra"      fields that an eval function needs beside the answers
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from gradebox.eval.common.errors import RowError
from gradebox.eval.common.files import DATA
from gradebox.eval.models.benchmarks import row_parts
from gradebox.eval.models.benchmarks.row_parts import BenchmarkRow, Options
from gradebox.eval.models.benchmarks.sample import LETTERS, Process, Row, Sample

OF_ANOTHER_SHAPE = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError),
)


class RowSpec(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An entry of the table; see the top of this file."""

    dataset: str
    question: str
    answers: str = ""
    numeric: bool = False
    options: str | tuple[str, ...] = ""
    choices: tuple[str, ...] = ()
    inside: str = ""
    right: str = ""
    ask: str = ""
    separator: str = "\n"
    label: str = "({letter}) {option}"
    sft: bool = False
    ids: tuple[str, ...] = ("id",)
    reference: str = ""
    extra: tuple[str, ...] = ()

    def process(self, fields: Row) -> Sample:
        """Return the sample of a row; raise RowError for a row of another shape."""
        row = BenchmarkRow(fields)
        try:
            if self.inside:
                row = BenchmarkRow({**fields, **row.value(self.inside)[0]})
            return self._sample(row)
        except RowError:
            raise
        except OF_ANOTHER_SHAPE as error:
            why = f"{type(error).__name__}: {error!s:.80}"
            raise RowError(f"it can't be read ({why}); {row}") from None

    def _sample(self, row: BenchmarkRow) -> Sample:
        options = self._options(row)
        question = _part(row, self.question)
        if self.right:
            listed = self.separator.join(
                self.label.format(letter=letter, option=option)
                for letter, option in zip(LETTERS, options, strict=False)
            )
            question = "\n".join(part for part in (question, self.ask, listed) if part)
            answers: Any = tuple(self._right(row, options))
        elif self.answers.startswith("*"):
            answers = row.texts(self.answers[1:])
            if not answers:
                raise RowError(f"field {self.answers[1:]!r} is empty: there is nothing to compare")
        else:
            answers = _part(row, self.answers)
            if isinstance(answers, str):
                answers = (answers.replace(",", "") if self.numeric else answers,)
        return Sample(
            dataset=self.dataset,
            id=next((row[name] for name in self.ids if row.fields.get(name) is not None), ""),
            question=question,
            answers=answers,
            options=options,
            reference=_part(row, self.reference)
            if "=" in self.reference
            else row.get(self.reference),
            extra={name: row.fields.get(name) for name in self.extra},
        )

    def _options(self, row: BenchmarkRow) -> Options:
        if isinstance(self.options, tuple):
            return tuple(row[name] for name in self.options)
        if self.options.startswith("="):
            found: Options = _part(row, self.options)
            return found
        return row.texts(self.options) if self.options else self.choices

    def _right(self, row: BenchmarkRow, options: Options) -> str:
        name, _, field = self.right.removeprefix("=").partition(" ")
        found: str = getattr(row_parts, name)(row, options, *([field] if field else []))
        return found


def _part(row: BenchmarkRow, part: str) -> Any:
    """Return what a function makes of the row, or a template with the row's fields."""
    if part.startswith("="):
        made: Callable[[BenchmarkRow], Any] = getattr(row_parts, part[1:])
        return made(row)
    return part.format_map(row)


def _read_table() -> dict[str, Process]:
    table = msgspec.json.decode((DATA / "rows.json").read_bytes(), type=dict[str, RowSpec])
    found: dict[str, Process] = {}
    for name, spec in table.items():
        found[f"process_{name}"] = spec.process
        if spec.sft:
            found[f"process_{name}_sft"] = msgspec.structs.replace(spec, ask="").process
    return found


PROCESS_FUNCTIONS = _read_table()

"""Parts of rows that are more than a field: the functions that eval/models/data/rows.json names.

Each takes a `BenchmarkRow`; those that say which option is right take the options too. What they
raise on a row of another shape becomes a RowError in `rows`.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Sequence
from typing import Any

from gradebox.eval.common.errors import RowError
from gradebox.eval.models.answers.equality import all_boxed
from gradebox.eval.models.benchmarks.sample import LETTERS, Row
from gradebox.eval.models.benchmarks.texts import (
    announced_answer,
    split_answers,
    split_power_of_ten,
)

Options = tuple[str, ...]


class BenchmarkRow:
    """A row: `row["x"]` is a required field as stripped text, `row.get("x")` an optional one."""

    def __init__(self, fields: Row) -> None:
        self.fields = fields

    def __str__(self) -> str:
        return f"its fields are {', '.join(map(str, list(self.fields)[:12])) or 'none'}"

    def value(self, name: str) -> Any:
        """Return a required field."""
        if self.fields.get(name) is None:
            raise RowError(f"no field {name!r}; {self}")
        return self.fields[name]

    def __getitem__(self, name: str) -> str:
        return as_text(self.value(name), name)

    def get(self, name: str) -> str:
        """Return a field as text, "" when it is missing."""
        return "" if self.fields.get(name) is None else self[name]

    def texts(self, name: str) -> Options:
        """Return a required field that is a list of texts."""
        found = self.value(name)
        if not isinstance(found, list):
            raise RowError(f"field {name!r} is a {type(found).__name__}, not a list")
        return tuple(as_text(item, name) for item in found)


def as_text(found: Any, name: str) -> str:
    """Return the value of field `name` as stripped text, 27.0 as "27"."""
    if isinstance(found, str):
        return found.strip()
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise RowError(f"field {name!r} is a {type(found).__name__}, not a text")
    return str(int(found)) if isinstance(found, float) and found.is_integer() else str(found)


# ---- numbers, expressions and names ----

_CALCULATION = re.compile(r"<<[^<>]*>>")
_UNIT_IN_BRACKETS = re.compile(r"\([^()]*\)")


def gsm_answer(row: BenchmarkRow) -> str:
    """Return 18 of "18", or of a solution whose last line is "#### 18"."""
    return row["answer"].rpartition("####")[2].strip()


def gsm_solution(row: BenchmarkRow) -> str:
    solution, mark, _ = row["answer"].rpartition("####")
    return _CALCULATION.sub("", solution.strip() if mark else row.get("cot"))


def boxed_answers(row: BenchmarkRow) -> Options:
    boxed = all_boxed(row["solution"]) or announced_answer(row["solution"])
    if not boxed:
        raise RowError("field 'solution' has no \\boxed{…} answer")
    return tuple(split_answers(row["problem"], boxed))


def body_and_question(row: BenchmarkRow) -> str:
    body = row["Body"]
    return f"{body if body.endswith(('.', '!', '?')) else body + '.'} {row['Question']}"


def without_unit(row: BenchmarkRow) -> str:
    """Return the 9 of "9 (apples)"."""
    return _UNIT_IN_BRACKETS.sub("", row["answer"]).strip()


def table_options(row: BenchmarkRow) -> Options:
    return row.texts("choices") if row.fields.get("choices") else ()


def table_question(row: BenchmarkRow) -> str:
    regarding = f' regarding "{row.get("table_title")}"' if row.get("table_title") else ""
    options = ", ".join(table_options(row))
    select = f" Please select from the following options: {options}" if options else ""
    table = f"{row['table']}\n{row['question']}"
    return f"Read the following table{regarding} and answer a question:\n{table}{select}"


def table_answer(row: BenchmarkRow) -> str:
    return row["answer"] if table_options(row) else row["answer"].replace(",", "")


def question_or_message(row: BenchmarkRow) -> str:
    return row.get("question") or BenchmarkRow(row.value("messages")[0])["content"]


def blanks(row: BenchmarkRow) -> Options:
    """Return the answers of "$5$;$10$", one for each blank."""
    return tuple(part.strip().strip("$").strip() for part in row["answer"].split(";"))


def unit_question(row: BenchmarkRow) -> str:
    """Return a question of SciBench with its unit."""
    return _with_unit(row, row.get("unit"))


def split_unit_question(row: BenchmarkRow) -> str:
    r"""Return the same without the power of ten in a unit such as "$10^{-3}$ m".

    It then belongs to the number: `eval_scibench` multiplies the reference by it.
    """
    return _with_unit(row, split_power_of_ten(row.get("unit"))[0])


def _with_unit(row: BenchmarkRow, unit: str) -> str:
    return row["problem_text"] + (f" The unit of the answer is {unit}." if unit else "")


def unsigned_number(row: BenchmarkRow) -> str:
    return row["answer_number"].lstrip("+")


# ---- multiple choice ----

DECISIONS = ("Yes", "No", "Maybe")
_INLINE_OPTION = re.compile(r"(?:^|[\s,])\(?([A-Ga-g])(?:\s*\)|\.\s)\s*")
_BRACKETED_OPTION = re.compile(r"^\(([A-D])\)\s*")


def letter(row: BenchmarkRow, options: Options, name: str) -> str:
    """Return the letter in a field."""
    return _option_letter(row[name], options, name)


def number(row: BenchmarkRow, options: Options, name: str) -> str:
    """Return the letter of the 0-based number in a field."""
    return _numbered(row.value(name), options, name)


def same_text(row: BenchmarkRow, options: Options, name: str) -> str:
    """Return the letter of the option whose text a field has."""
    if row[name] not in options:
        raise RowError(f"field {name!r} is {row[name][:60]!r}, which is not one of the options")
    return LETTERS[options.index(row[name])]


def _option_letter(found: str, options: Options, name: str) -> str:
    upper = found.strip().strip("()").upper()
    if len(upper) != 1 or upper not in LETTERS[: len(options)]:
        last = LETTERS[len(options) - 1]
        raise RowError(f"field {name!r} is {found!r}; use a letter from A to {last}")
    return upper


def _numbered(index: Any, options: Options, name: str) -> str:
    if type(index) is not int or not 0 <= index < len(options):
        last = len(options) - 1
        raise RowError(f"field {name!r} is {index!r}; use a whole number from 0 to {last}")
    return LETTERS[index]


def split_inline(options: str) -> Options:
    """Return the options of "A) 1 B) 2", "A. 1 B. 2" or "a ) 1 , b ) 2"; letters are in order."""
    if options.startswith("['") and options.endswith("']"):
        # Some rows of MathQA have a Python list as text.
        options = options[2:-2].replace("', '", " , ")
    found: list[tuple[int, int]] = []
    for match in _INLINE_OPTION.finditer(options):
        if match[1].upper() == LETTERS[len(found)]:
            found.append(match.span())
    if len(found) < 2:
        raise RowError(f"field 'options' is {options[:60]!r}; write it as A) … B) …")
    ends = [start for start, _ in found[1:]] + [len(options)]
    return tuple(
        options[begin:end].strip().rstrip(",").strip()
        for (_, begin), end in zip(found, ends, strict=True)
    )


def inline_options(row: BenchmarkRow) -> Options:
    return split_inline(row["options"])


def shuffle_by_key(options: Sequence[str], key: str) -> Options:
    """Return the options in an order that depends only on `key`.

    The files have the right option first. One seed for all questions would give it the same
    letter everywhere, so that a model that always answers this letter would always be right.
    """
    seed = int.from_bytes(hashlib.sha256(key.encode("utf-8", "replace")).digest()[:8], "big")
    result = list(options)
    random.Random(seed).shuffle(result)
    return tuple(result)


def shuffled_options(row: BenchmarkRow) -> Options:
    wrong = [row[f"Incorrect Answer {i}"] for i in (1, 2, 3)]
    return shuffle_by_key([row["Correct Answer"], *wrong], row["Question"])


def capitalised_problem(row: BenchmarkRow) -> str:
    return row["problem"][:1].upper() + row["problem"][1:]


def mmlu_options(row: BenchmarkRow) -> Options:
    """Return the choices of a row; some copies have options, and a letter instead of a number."""
    return row.texts("options" if row.fields.get("choices") is None else "choices")


def mmlu_right(row: BenchmarkRow, options: Options) -> str:
    return (letter if row.fields.get("choices") is None else number)(row, options, "answer")


def lettered_options(row: BenchmarkRow) -> Options:
    options = row.value("options")
    if not isinstance(options, dict) or list(options) != list(LETTERS[: len(options)]):
        raise RowError("field 'options' is not an object with the letters A, B, … in order")
    return tuple(as_text(option, "options") for option in options.values())


def _scores(row: BenchmarkRow) -> dict[str, Any]:
    """Return the score of each option; the field may be JSON inside a text."""
    found = row.value("target_scores")
    return dict((json.loads(found) if isinstance(found, str) else found).items())


def scored_options(row: BenchmarkRow) -> Options:
    return tuple(_scores(row))


def with_score_1(row: BenchmarkRow, options: Options) -> str:
    """Return the letters of all right options: the model is asked for one, and any is accepted."""
    right = [LETTERS[i] for i, score in enumerate(_scores(row).values()) if score == 1]
    if not right:
        raise RowError("field 'target_scores' has no right option with score 1")
    return "".join(right)


def capitalised(row: BenchmarkRow, options: Options, name: str) -> str:
    """Return the letter of the option whose text a field has, in any case."""
    return same_text(BenchmarkRow({name: row[name].capitalize()}), options, name)


def majority(row: BenchmarkRow, options: Options) -> str:
    return _numbered(int(float(row.value("result_majority"))) - 1, options, "result_majority - 1")


def newton_options(row: BenchmarkRow) -> Options:
    count = 2 if row.fields.get("q_type") == "boolean" else 4
    return tuple(row[f"choice_{n + 1}"] for n in range(count))


def unbracketed_options(row: BenchmarkRow) -> Options:
    return tuple(_BRACKETED_OPTION.sub("", option) for option in row.texts("options"))


def without_backslash(row: BenchmarkRow) -> str:
    return row["question"].rstrip("\\").rstrip()


def labels(row: BenchmarkRow, options: Options) -> str:
    """Return "AD" for a question with two right options, of which the answer must name both."""
    right = [_option_letter(c, options, "label") for c in row["label"] if c not in " ,、"]
    if not right:
        raise RowError("field 'label' is empty; use letters from A to D")
    return "".join(right)


def abstract_and_question(row: BenchmarkRow) -> str:
    found = row.value("context")
    texts = (
        row.texts("context") if isinstance(found, list) else BenchmarkRow(found).texts("contexts")
    )
    listed = "\n".join(f"- {text}" for text in texts)
    return f"Information:\n{listed}\n\nQuestion:\n{row['question']}"


# A base model answers PubMedQA with the word itself, in brackets.
def abstract_and_words(row: BenchmarkRow) -> str:
    return f"{abstract_and_question(row)}\nAnswer with one of (yes), (no) and (maybe)."


def decision_word(row: BenchmarkRow) -> str:
    letter = capitalised(row, DECISIONS, "final_decision")
    return DECISIONS[LETTERS.index(letter)].lower()

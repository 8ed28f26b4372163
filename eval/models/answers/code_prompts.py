"""Prompts that ask for solutions of a code dataset's problems.

dataset row ─▶ statement columns ─(template with {{placeholders}})─▶ prompt

Rows of other data sets than Codeforces' become {"id", "description", "language"}, for a template
that has only the description. Tests and checkers are never read, so they can't get into a prompt,
except for MBPP's asserts, which are part of its prompts.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.common.files import DATA
from gradebox.eval.models.response_file import read_prompt_file
from gradebox.eval.problems.dataset_library import is_saved_dataset
from gradebox.eval.problems.formats import OWN, Judge, Reading, RowFormat, recognising
from gradebox.eval.problems.formats.ioi import IOI, names_of
from gradebox.eval.problems.formats.other_languages import LANGUAGES
from gradebox.eval.problems.opening import open_file, open_sources
from gradebox.eval.problems.row import problem_id
from gradebox.eval.problems.rows import Rows
from gradebox.eval.problems.several_files import ioi_files

Row = Mapping[str, Any]


@dataclass(frozen=True)
class StatementField:
    """Where a row has its statement.

    text     fields, of which the first that is not empty counts
    code     the field of the code to start from, which makes the answer a function
    asserts  the field of asserts that are shown
    begun    the statement itself is code, to be completed: a function, a class
    inputs   the field that describes the input; `outputs`: the output
    """

    text: tuple[str, ...]
    code: str = ""
    asserts: str = ""
    begun: str = ""
    inputs: str = ""
    outputs: str = ""


STATEMENTS = {
    "humaneval": StatementField(("prompt",), begun="function"),
    **dict.fromkeys(("evalplus", "enamel"), StatementField(("prompt",), begun="function")),
    "humaneval-x": StatementField(("prompt",), begun="function"),
    "classeval": StatementField(("skeleton",), begun="class"),
    "bigcodebench": StatementField(("instruct_prompt",)),
    "deepseek-leetcode": StatementField(("prompt_sft",)),
    "xcodeeval": StatementField(
        ("prob_desc_description",),
        inputs="prob_desc_input_spec",
        outputs="prob_desc_output_spec",
    ),
    "icpc-eval": StatementField(("description",), inputs="input", outputs="output"),
    "usaco": StatementField(("description",)),
    "mbpp": StatementField(("text", "prompt"), asserts="test_list"),
    "acecode": StatementField(("question",)),
    "leetcode": StatementField(("problem_description",), code="starter_code"),
    "livecodebench": StatementField(("question_content",), code="starter_code"),
    "multipl-e": StatementField(("prompt",), begun="function"),
    "kodcode": StatementField(("question",)),
    "apps": StatementField(("question",), code="starter_code"),
    "taco": StatementField(("question",), code="starter_code"),
    "code-contests": StatementField(("description",)),
    "code-contests-plus": StatementField(("description",)),
    "deepcoder": StatementField(("problem",), code="starter_code"),
    "verl": StatementField(("prompt",)),
    "prime": StatementField(("prompt", "problem_statement")),
    "nemo-gym": StatementField(("responses_create_params",)),
    "rstar-coder": StatementField(("question",), code="starter_code"),
    "sandboxfusion": StatementField(("content",)),
    "ioi": StatementField(("problem",), code="starting_code"),
}
# Data sets whose statements say themselves whether a function or a program is wanted.
_WHOLE = (
    *("acecode", "kodcode", "nemo-gym", "prime", "verl", "bigcodebench", "deepseek-leetcode"),
)
_COMPLETE = "Complete this {}, and give it whole, with its imports."
_PROGRAM = "Write a program that reads standard input and writes standard output."


OWN_COLUMNS = (
    *("id", "contest_id", "index", "title", "description", "input_format", "output_format"),
    *("interaction_format", "note", "examples", "time_limit", "memory_limit", "input_mode"),
)


def reading_of(rows: Iterable[Row], _where: str) -> Reading:
    """Return how a data set with these first rows becomes statements."""
    found = recognising(rows)
    kind = found if found is not None and found.name in STATEMENTS else OWN
    uses: tuple[str, ...] = OWN_COLUMNS
    if kind is not OWN:
        where = STATEMENTS[kind.name]
        others = (where.code, where.asserts, where.inputs, where.outputs)
        uses = (*where.text, *filter(None, others))

    def convert(row: Row, _judge: Judge) -> dict[str, Any]:
        if kind is not OWN:
            return _described(row, kind)
        if not plain_statement(row):
            raise RowError("no statement: title, description, input_format … are empty")
        return {name: row.get(name) for name in OWN_COLUMNS}

    return Reading(replace(kind, uses=uses, convert=convert))


def _described(row: Row, kind: RowFormat) -> dict[str, Any]:
    """Return the id, the statement and the language of a row."""
    where, given = STATEMENTS[kind.name], row.get("language")
    tests_in = LANGUAGES.get(given, "") if isinstance(given, str) else ""
    names = names_of(row) if kind is IOI else kind.ids_of(row)
    text = next((found for name in where.text if (found := _statement_text(row.get(name)))), "")
    if not text:
        raise RowError(f"no statement: {' and '.join(where.text)} have no text")
    for title, field in (("Input", where.inputs), ("Output", where.outputs)):
        if field and (part := _statement_text(row.get(field))):
            text += f"\n\n{title}\n\n{part}"
    fence = "cpp" if tests_in.startswith("c++") else tests_in or "python"
    if where.begun:
        parts = [_COMPLETE.format(where.begun), _block(fence, text)]
    elif code := _statement_text(row.get(where.code)) if where.code else "":
        fence = "cpp" if kind is IOI else fence
        parts = [text, "Start from this code, and keep its names:", _block(fence, code)]
    elif asserts := row.get(where.asserts) if where.asserts else None:
        shown = "\n".join(map(str, asserts)) if isinstance(asserts, (list, tuple)) else ""
        parts = [text, "It must pass these tests:", _block(fence, shown)]
    else:
        parts = [text] if kind.name in _WHOLE else [text, _PROGRAM]
    return {"id": names.get("id"), "description": "\n\n".join(parts), "language": tests_in}


def _block(fence: str, code: str) -> str:
    return f"```{fence}\n{code.rstrip()}\n```"


def _statement_text(value: Any) -> str:
    """Return a text, or the last message of a request or of messages."""
    messages = value.get("input") if isinstance(value, dict) else value
    if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
        value = messages[-1].get("content")
    return value if isinstance(value, str) and value.strip() else ""


log = logging.getLogger("gradebox.sampling")


STATEMENT_COLUMNS = OWN_COLUMNS[3:]
PROMPT, TEMPLATE = DATA / "code" / "prompt.txt", DATA / "code" / "dataset.txt"
PLACEHOLDERS = {*STATEMENT_COLUMNS, "language", "fence", "input", "output", "interaction"}
_PLACEHOLDER = re.compile(r"\{\{ ?([a-z_]+) ?\}\}")


def statement_sources(dataset: str, split: str, subsets: Sequence[str]) -> tuple[list[Rows], bool]:
    """Return the rows of a dataset, with statements only, and whether they are IOI's subtasks.

    Raises InputError when the dataset can't be read.
    """
    path = Path(dataset).expanduser()
    subtasks = ioi_files(path) if path.is_dir() and not is_saved_dataset(path) else {}
    sources = [open_file(file, reading_of) for file, kind in subtasks.items() if kind is IOI]
    if not sources:
        _, _, sources = open_sources(dataset, split, subsets, reading_of)
    return sources, bool(subtasks)


def plain_statement(row: Row) -> str:
    """Return the statement of a row as text: its title, its parts under their names, examples."""
    parts = [_text(row, "title"), _text(row, "description")]
    for name in ("input_format", "output_format", "interaction_format", "note"):
        if text := _text(row, name):
            parts.append(f"{name.partition('_')[0].capitalize()}\n\n{text}")
    if row.get("examples"):
        parts.append(f"Examples\n\n{_format_examples(row['examples'])}")
    return "\n\n".join(part for part in parts if part)


def read_rows(dataset: str, split: str, subsets: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a dataset in its order, with ids and statement columns only.

    Raises InputError when the dataset can't be read.
    """
    sources, subtasks = statement_sources(dataset, split, subsets)
    known: set[str] = set()  # ids of earlier files or subsets; for IOI also of earlier subtasks
    with contextlib.ExitStack() as stack:
        for source in sources:
            stack.callback(source.close)
        for source in sources:
            names = known if subtasks else set[str]()
            for number, _ in source.names():
                try:
                    row = source.row(number)
                except RowError as error:
                    raise InputError(f"--dataset {dataset} row {number + 1}: {error}") from None
                with contextlib.suppress(RowError):  # a row without an id is yielded
                    name = problem_id(row)
                    if name in known:
                        continue
                    names.add(name)
                yield row
            known |= names
            for message in source.diagnostics.messages():
                log.warning("%s", message)


def read_template(path: Path) -> str:
    """Return a prompt template; raise InputError for an unknown or missing placeholder."""
    template = read_prompt_file(path)
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


def prompts(
    dataset: str,
    split: str,
    language: str,
    prompt_file: str | Path | None = None,
    subsets: Sequence[str] = ("verifiable", "default"),
) -> Iterator[tuple[str, str, str]]:
    """Yield (id, language, prompt) of each problem of a dataset.

    language     of rows that leave it open
    prompt_file  a template; None: `PROMPT`, and `TEMPLATE` for the rows of other data sets

    Raises InputError when the dataset or the template can't be read.
    """
    chosen = Path(prompt_file or PROMPT)
    template = read_template(chosen)
    other = read_template(TEMPLATE) if chosen == PROMPT else template
    for number, row in enumerate(read_rows(dataset, split, subsets), 1):
        used = other if "language" in row else template
        of_row = str(row.get("language") or language)
        try:
            name = problem_id(row)
        except RowError as error:
            raise InputError(f"--dataset {dataset} row {number}: {error}") from None
        yield name, of_row, render(used, row, of_row)


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

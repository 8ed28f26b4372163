"""Multiple choice: each source's fields, as a table.

The few-shot form asks which option is right and wants "(X)" in the answer; the sft form
leaves that to the prompt. The options' texts go into the sample either way.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval.benchmarks.fields import (
    LETTERS,
    BadRow,
    as_text,
    checked_letter,
    letter,
    letter_of,
    parsed,
    row_id,
    text,
    texts,
    value,
)
from eval.benchmarks.model import Row, Sample
from eval.benchmarks.process.science import first_example
from eval.benchmarks.registry import register

ASK = "Which of these is the right choice? Explain your answer."
ASK_ASSERTION = "Is the statement correct? Which of these is the right choice? Explain your answer."
ASK_ZH = "以下哪个选项是正确的？请简单说明理由。"

_INLINE_OPTION = re.compile(r"(?:^|[\s,])\(?([A-Ga-g])(?:\s*\)|\.\s)\s*")
_BRACKETED_OPTION = re.compile(r"^\(([A-D])\)\s*")


@dataclass(frozen=True)
class Choice:
    """What a row holds, before it is put into words."""

    question: str
    options: tuple[str, ...]
    right: str  # one letter, or several
    id: str = ""


@dataclass(frozen=True)
class Source:
    """One benchmark's files.

    names    process functions for base models, which ask for the choice in the question
    sft      process functions for tuned models, whose prompt asks for it
    style    "(A) …" on lines of their own, or ", " between them
    """

    dataset: str
    read: Callable[[Row], Choice]
    names: tuple[str, ...] = ()
    sft: tuple[str, ...] = ()
    ask: str = ASK
    separator: str = "\n"
    label: str = "({letter}) {option}"


def split_inline(options: str) -> tuple[str, ...]:
    """The texts of "A) 1 B) 2", "A. 1 B. 2" or "a ) 1 , b ) 2", the letters in order."""
    if options.startswith("['") and options.endswith("']"):
        # Some rows of MathQA hold a list that was written as text.
        options = options[2:-2].replace("', '", " , ")
    found: list[tuple[int, int]] = []
    for match in _INLINE_OPTION.finditer(options):
        if match[1].upper() == LETTERS[len(found)]:
            found.append((match.start(), match.end()))
    if len(found) < 2:
        raise BadRow(f"field 'options' is {options[:60]!r}; write it as A) … B) …")
    ends = [start for start, _ in found[1:]] + [len(options)]
    return tuple(
        options[begin:end].strip().rstrip(",").strip()
        for (_, begin), end in zip(found, ends, strict=True)
    )


def shuffled(options: Sequence[str], key: str) -> tuple[str, ...]:
    """The options in an order that depends on `key` alone.

    A fixed seed for every question would put the right one, always first in the file, under
    one letter: a model that says that letter every time would be right every time.
    """
    seed = int.from_bytes(hashlib.sha256(key.encode("utf-8", "replace")).digest()[:8], "big")
    mixed = list(options)
    random.Random(seed).shuffle(mixed)
    return tuple(mixed)


def _sat(row: Row) -> Choice:
    options = split_inline(text(row, "options"))
    right = checked_letter(text(row, "Answer"), len(options), "Answer")
    return Choice(text(row, "question"), options, right, row_id(row))


def _mathqa(row: Row) -> Choice:
    options = split_inline(text(row, "options"))
    right = checked_letter(text(row, "correct"), len(options), "correct")
    question = text(row, "problem")
    return Choice(question[:1].upper() + question[1:], options, right, row_id(row))


def _lettered(question: str, options: str, answer: str, *ids: str) -> Callable[[Row], Choice]:
    """A list of options and the letter of the right one."""

    def read(row: Row) -> Choice:
        found = texts(row, options)
        right = checked_letter(text(row, answer), len(found), answer)
        return Choice(text(row, question), found, right, row_id(row, *(ids or ("id",))))

    return read


def _named_columns(
    question: str, columns: Sequence[str], answer: str, *, numbered: bool
) -> Callable[[Row], Choice]:
    """A column an option; the right one as a 0-based number or as a letter."""

    def read(row: Row) -> Choice:
        found = tuple(text(row, c) for c in columns)
        if numbered:
            right = letter(value(row, answer), len(found), answer)
        else:
            right = checked_letter(text(row, answer), len(found), answer)
        return Choice(text(row, question), found, right, row_id(row))

    return read


def _mmlu(row: Row) -> Choice:
    """choices and a 0-based answer; or options and a letter, as some copies have it."""
    if row.get("choices") is None:
        return _lettered("question", "options", "answer")(row)
    options = texts(row, "choices")
    right = letter(value(row, "answer"), len(options), "answer")
    return Choice(text(row, "question"), options, right, row_id(row))


def _gpqa(row: Row) -> Choice:
    right = text(row, "Correct Answer")
    wrong = [text(row, f"Incorrect Answer {i}") for i in (1, 2, 3)]
    question = text(row, "Question")
    options = shuffled([right, *wrong], question)
    name = row_id(row, "id", "Record ID")
    return Choice(question, options, letter_of(right, options, "Correct Answer"), name)


def _medqa(row: Row) -> Choice:
    options = value(row, "options")
    if not isinstance(options, dict) or list(options) != list(LETTERS[: len(options)]):
        raise BadRow("field 'options' is no object with the letters A, B, … in order")
    found = tuple(as_text(o, "options") for o in options.values())
    right = checked_letter(text(row, "answer_idx"), len(found), "answer_idx")
    return Choice(text(row, "question"), found, right, row_id(row))


def _chembench(row: Row) -> Choice:
    example = first_example(row)
    scores = parsed(example, "target_scores")
    if not isinstance(scores, dict):
        raise BadRow("field 'target_scores' is no object with a score an option")
    right = [o for o, score in scores.items() if score == 1]
    if not right:
        raise BadRow("field 'target_scores' has no right option; at least 1 is needed")
    options = tuple(scores)
    # Of several right ones any may be chosen, as one letter is asked for.
    letters = "".join(letter_of(option, options, "target_scores") for option in right)
    return Choice(text(example, "input"), options, letters, row_id(row))


def _assertion(row: Row) -> Choice:
    said = text(row, "Answer").lower()
    if said not in ("true", "false"):
        raise BadRow(f"field 'Answer' is {said!r}; True or False is needed")
    right = "A" if said == "true" else "B"
    return Choice(text(row, "Question"), ("True", "False"), right, row_id(row, "id", "ID"))


def _newton_confident(row: Row) -> Choice:
    options = tuple(text(row, f"option_{i}") for i in (1, 2, 3))
    majority = value(row, "result_majority")
    try:
        index = int(float(majority)) - 1
    except (TypeError, ValueError, OverflowError):
        raise BadRow(f"field 'result_majority' is {majority!r}; 1, 2 or 3 is needed") from None
    return Choice(text(row, "question"), options, letter(index, 3, "result_majority"), row_id(row))


def _newton(count: int | None, context: bool = False) -> Callable[[Row], Choice]:
    """choice_1 …, gt is the text of the right one; two of them when q_type is boolean."""

    def read(row: Row) -> Choice:
        many = count or (2 if row.get("q_type") == "boolean" else 4)
        options = tuple(text(row, f"choice_{i}") for i in range(1, many + 1))
        right = letter_of(text(row, "gt"), options, "gt")
        question = text(row, "question")
        return Choice(
            f"{text(row, 'context')} {question}" if context else question,
            options,
            right,
            row_id(row),
        )

    return read


def _gaokao(row: Row) -> Choice:
    options = tuple(_BRACKETED_OPTION.sub("", option) for option in texts(row, "options"))
    # A few questions have several right options, all of which must be named: "AD".
    label = "".join(c for c in text(row, "label") if c not in " ,、")
    right = "".join(checked_letter(c, len(options), "label") for c in label)
    if not right:
        raise BadRow("field 'label' is empty; a letter from A to D is needed")
    question = text(row, "question").rstrip("\\").rstrip()
    return Choice(question, options, right, row_id(row))


YES_NO_MAYBE = ("Yes", "No", "Maybe")


def _pubmed_context(row: Row) -> str:
    contexts = value(row, "context")
    if isinstance(contexts, dict):
        contexts = value(contexts, "contexts")
    if not isinstance(contexts, list):
        raise BadRow("field 'context' is no list of texts")
    return "\n".join(f"- {as_text(c, 'context')}" for c in contexts)


def _pubmed(row: Row) -> Choice:
    said = text(row, "final_decision").capitalize()
    right = letter_of(said, YES_NO_MAYBE, "final_decision")
    question = f"Information:\n{_pubmed_context(row)}\n\nQuestion:\n{text(row, 'question')}"
    return Choice(question, YES_NO_MAYBE, right, row_id(row, "id", "pubid"))


def pubmed_word(row: Row) -> Sample:
    """The form for base models: the answer is the word itself, in brackets."""
    choice = _pubmed(row)
    question = f"{choice.question}\nAnswer with one of (yes), (no) and (maybe)."
    right = YES_NO_MAYBE[LETTERS.index(choice.right)].lower()
    return Sample("pubmedqa", choice.id, question, (right,), tuple(w.lower() for w in YES_NO_MAYBE))


SOURCES = (
    Source("math_sat", _sat, ("process_math_sat",)),
    Source("mathqa", _mathqa, ("process_mathqa",)),
    Source(
        "mmlu_stem",
        _lettered("question", "options", "answer"),
        ("process_mmlu_stem",),
        separator=", ",
    ),
    Source(
        "mmmlu_zh",
        _lettered("question", "options", "answer"),
        ("process_mmmlu_zh_math",),
        ask=ASK_ZH,
        separator=", ",
    ),
    Source("mmlu", _mmlu, ("process_mmlu",), ("process_mmlu_sft",)),
    Source(
        "mmlu_pro",
        _lettered("question", "options", "answer", "question_id", "id"),
        sft=("process_mmlu_pro",),
    ),
    Source(
        "super_gpqa",
        _lettered("question", "options", "answer_letter", "uuid", "id"),
        sft=("process_super_gpqa",),
    ),
    Source("gpqa", _gpqa, ("process_gpqa",), ("process_gpqa_sft",)),
    Source("medqa", _medqa, ("process_medqa",), ("process_medqa_sft",)),
    Source(
        "medmcqa",
        _named_columns("question", ("opa", "opb", "opc", "opd"), "cop", numbered=True),
        ("process_medmcqa",),
        ("process_medmcqa_sft",),
    ),
    Source(
        "ChemBench",
        _chembench,
        ("process_ChemBench_multi_choise",),
        ("process_ChemBench_multi_choise_sft",),
    ),
    Source(
        "cs_bench",
        _named_columns("Question", "ABCD", "Answer", numbered=False),
        ("process_cs_bench_multiple_choice",),
        ("process_cs_bench_multiple_choice_sft",),
    ),
    Source(
        "cs_bench_assertion",
        _assertion,
        ("process_cs_bench_assertion",),
        ("process_cs_bench_assertion_sft",),
        ask=ASK_ASSERTION,
    ),
    Source(
        "newton_confident",
        _newton_confident,
        ("process_newton_confident_questions",),
        ("process_newton_confident_questions_sft",),
    ),
    Source("newton_explicit", _newton(None), ("process_newton_explicit_questions",)),
    Source("newton_explicit", _newton(2), sft=("process_newton_explicit_questions_bool_sft",)),
    Source("newton_explicit", _newton(4), sft=("process_newton_explicit_questions_mc_sft",)),
    Source(
        "newton_implicit",
        _newton(4, context=True),
        ("process_newton_implicit_questions",),
        ("process_newton_implicit_questions_sft",),
    ),
    Source(
        "piqa",
        _named_columns("goal", ("sol1", "sol2"), "label", numbered=True),
        ("process_piqa",),
        ("process_piqa_sft",),
    ),
    Source("pubmedqa", _pubmed, sft=("process_pubmedqa_sft",)),
    Source(
        "agieval-gaokao-mathqa",
        _gaokao,
        ("process_agieval_gaokao_mathqa", "process_agieval_gaokao_mathqa_few_shot_cot_test"),
        ask="从以下选项中选择：",
        separator=" ",
        label="({letter}){option}",
    ),
)


def to_sample(source: Source, row: Row, ask: str) -> Sample:
    """The row in words."""
    choice = source.read(row)
    listed = source.separator.join(
        source.label.format(letter=name, option=option)
        for name, option in zip(LETTERS, choice.options, strict=False)
    )
    question = "\n".join(part for part in (choice.question, ask, listed) if part)
    return Sample(source.dataset, choice.id, question, tuple(choice.right), choice.options)


def _register_all() -> None:
    register("process_fn", "process_pubmedqa", pubmed_word)
    for source in SOURCES:
        for names, ask in ((source.names, source.ask), (source.sft, "")):
            for name in names:

                def process(row: Row, source: Source = source, ask: str = ask) -> Sample:
                    return to_sample(source, row, ask)

                register("process_fn", name, process)


_register_all()

"""Process functions of multiple-choice benchmarks: a row of a test file → a Sample.

The question for a base model asks which option is right. A tuned model is asked by its prompt,
so its question has the options only. `PROCESS_FUNCTIONS` is the table of the names in
configurations.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from gradebox.eval.common.errors import RowError
from gradebox.eval.models.benchmarks.rows import (
    Field,
    as_text,
    first_example,
    letter_at,
    letter_of,
    option_letter,
    parsed_json,
    read,
    row_id,
    text,
    texts,
    value,
)
from gradebox.eval.models.benchmarks.sample import LETTERS, Process, Row, Sample

ASK = "Which of these is the right choice? Explain your answer."
ASK_ASSERTION = "Is the statement correct? Which of these is the right choice? Explain your answer."
ASK_ZH = "以下哪个选项是正确的？请简单说明理由。"
ASK_FROM_ZH = "从以下选项中选择："
YES_NO_MAYBE = ("Yes", "No", "Maybe")

_INLINE_OPTION = re.compile(r"(?:^|[\s,])\(?([A-Ga-g])(?:\s*\)|\.\s)\s*")
_BRACKETED_OPTION = re.compile(r"^\(([A-D])\)\s*")

Options = tuple[str, ...]
# Where a row has its question, its options and the letter of the right one.
Parts = tuple[Field, Callable[[Row], Options], Callable[[Row, Options], str]]


def _column(name: str) -> Callable[[Row], Options]:
    return lambda row: texts(row, name)


def _columns(*names: str) -> Callable[[Row], Options]:
    return lambda row: tuple(text(row, name) for name in names)


def _letter(name: str) -> Callable[[Row, Options], str]:
    return lambda row, options: option_letter(text(row, name), len(options), name)


def _number(name: str) -> Callable[[Row, Options], str]:
    return lambda row, options: letter_at(value(row, name), len(options), name)


def _same_text(name: str) -> Callable[[Row, Options], str]:
    return lambda row, options: letter_of(text(row, name), options, name)


def split_inline(options: str) -> Options:
    """Return the options of "A) 1 B) 2", "A. 1 B. 2" or "a ) 1 , b ) 2"; letters are in order."""
    if options.startswith("['") and options.endswith("']"):
        # Some rows of MathQA have a Python list as text.
        options = options[2:-2].replace("', '", " , ")
    found: list[tuple[int, int]] = []
    for match in _INLINE_OPTION.finditer(options):
        if match[1].upper() == LETTERS[len(found)]:
            found.append((match.start(), match.end()))
    if len(found) < 2:
        raise RowError(f"field 'options' is {options[:60]!r}; write it as A) … B) …")
    ends = [start for start, _ in found[1:]] + [len(options)]
    return tuple(
        options[begin:end].strip().rstrip(",").strip()
        for (_, begin), end in zip(found, ends, strict=True)
    )


def _inline(row: Row) -> Options:
    return split_inline(text(row, "options"))


def shuffle_by_key(options: Sequence[str], key: str) -> Options:
    """Return the options in an order that depends only on `key`.

    The files have the right option first. One seed for all questions would give it the same
    letter everywhere, so that a model that always answers this letter would always be right.
    """
    seed = int.from_bytes(hashlib.sha256(key.encode("utf-8", "replace")).digest()[:8], "big")
    result = list(options)
    random.Random(seed).shuffle(result)
    return tuple(result)


def _shuffled(row: Row) -> Options:
    right = text(row, "Correct Answer")
    wrong = [text(row, f"Incorrect Answer {i}") for i in (1, 2, 3)]
    return shuffle_by_key([right, *wrong], text(row, "Question"))


def _capitalised(row: Row) -> str:
    question = text(row, "problem")
    return question[:1].upper() + question[1:]


def _mmlu_options(row: Row) -> Options:
    """Return the choices of a row; some copies have options, and a letter instead of a number."""
    return texts(row, "options" if row.get("choices") is None else "choices")


def _mmlu_right(row: Row, options: Options) -> str:
    return (_letter if row.get("choices") is None else _number)("answer")(row, options)


def _lettered_options(row: Row) -> Options:
    options = value(row, "options")
    if not isinstance(options, dict) or list(options) != list(LETTERS[: len(options)]):
        raise RowError("field 'options' is not an object with the letters A, B, … in order")
    return tuple(as_text(o, "options") for o in options.values())


def _chembench(row: Row) -> str:
    return text(first_example(row), "input")


def _scored_options(row: Row) -> Options:
    scores = parsed_json(first_example(row), "target_scores")
    if not isinstance(scores, dict):
        raise RowError("field 'target_scores' is not an object with a score for each option")
    return tuple(scores)


def _with_score_1(row: Row, options: Options) -> str:
    """Return the letters of all right options: the model is asked for one, and any is accepted."""
    scores = parsed_json(first_example(row), "target_scores")
    right = [option for option in options if scores[option] == 1]
    if not right:
        raise RowError("field 'target_scores' has no right option with score 1")
    return "".join(letter_of(option, options, "target_scores") for option in right)


def _booleans(row: Row) -> Options:
    return ("True", "False")


def _boolean(row: Row, options: Options) -> str:
    answer = text(row, "Answer").lower()
    if answer not in ("true", "false"):
        raise RowError(f"field 'Answer' is {answer!r}; use True or False")
    return "A" if answer == "true" else "B"


def _majority(row: Row, options: Options) -> str:
    majority = value(row, "result_majority")
    try:
        index = int(float(majority)) - 1
    except (TypeError, ValueError, OverflowError):
        raise RowError(f"field 'result_majority' is {majority!r}; use 1, 2 or 3") from None
    return letter_at(index, len(options), "result_majority")


_of_two = _columns("choice_1", "choice_2")
_of_four = _columns("choice_1", "choice_2", "choice_3", "choice_4")
_confident = _columns("option_1", "option_2", "option_3")


def _newton_options(row: Row) -> Options:
    return (_of_two if row.get("q_type") == "boolean" else _of_four)(row)


def _in_context(row: Row) -> str:
    question = text(row, "question")
    return f"{text(row, 'context')} {question}"


def _without_backslash(row: Row) -> str:
    return text(row, "question").rstrip("\\").rstrip()


def _unbracketed(row: Row) -> Options:
    return tuple(_BRACKETED_OPTION.sub("", option) for option in texts(row, "options"))


def _labels(row: Row, options: Options) -> str:
    """Return "AD" for a question with two right options, of which the answer must name both."""
    label = "".join(c for c in text(row, "label") if c not in " ,、")
    right = "".join(option_letter(c, len(options), "label") for c in label)
    if not right:
        raise RowError("field 'label' is empty; use letters from A to D")
    return right


def _abstract_and_question(row: Row) -> str:
    contexts = value(row, "context")
    if isinstance(contexts, dict):
        contexts = value(contexts, "contexts")
    if not isinstance(contexts, list):
        raise RowError("field 'context' is not a list of texts")
    listed = "\n".join(f"- {as_text(c, 'context')}" for c in contexts)
    return f"Information:\n{listed}\n\nQuestion:\n{text(row, 'question')}"


def _decision(row: Row, options: Options) -> str:
    return letter_of(text(row, "final_decision").capitalize(), options, "final_decision")


def _choice(
    dataset: str,
    parts: Parts,
    ask: str = "",
    separator: str = "\n",
    label: str = "({letter}) {option}",
    ids: Sequence[str] = ("id",),
) -> Process:
    """Return a process function.

    parts      where a row has its question, its options, and the letter of the right option or
               several letters
    ask        text between the question and its options
    separator  text between two options
    label      format of an option
    ids        fields of the id, the first one present is taken
    """
    question_of, options_of, right_of = parts

    def process(row: Row) -> Sample:
        options = options_of(row)
        right = right_of(row, options)
        question, name = read(row, question_of), row_id(row, *ids)
        listed = separator.join(
            label.format(letter=letter, option=option)
            for letter, option in zip(LETTERS, options, strict=False)
        )
        asked = "\n".join(part for part in (question, ask, listed) if part)
        return Sample(dataset, name, asked, tuple(right), options)

    return process


LETTERED: Parts = ("question", _column("options"), _letter("answer"))

# Parts that base and tuned models are asked: the name between `process_` and `_sft`, the data set,
# where the parts are, other fields of the id.
BOTH: tuple[tuple[str, str, Parts, tuple[str, ...]], ...] = (
    ("mmlu", "mmlu", ("question", _mmlu_options, _mmlu_right), ()),
    ("gpqa", "gpqa", ("Question", _shuffled, _same_text("Correct Answer")), ("Record ID",)),
    ("medqa", "medqa", ("question", _lettered_options, _letter("answer_idx")), ()),
    ("medmcqa", "medmcqa", ("question", _columns("opa", "opb", "opc", "opd"), _number("cop")), ()),
    ("ChemBench_multi_choise", "ChemBench", (_chembench, _scored_options, _with_score_1), ()),
    (
        "cs_bench_multiple_choice",
        "cs_bench",
        ("Question", _columns(*"ABCD"), _letter("Answer")),
        (),
    ),
    ("cs_bench_assertion", "cs_bench_assertion", ("Question", _booleans, _boolean), ("ID",)),
    ("newton_confident_questions", "newton_confident", ("question", _confident, _majority), ()),
    ("newton_implicit_questions", "newton_implicit", (_in_context, _of_four, _same_text("gt")), ()),
    ("piqa", "piqa", ("goal", _columns("sol1", "sol2"), _number("label")), ()),
)
PUBMED: Parts = (_abstract_and_question, lambda row: YES_NO_MAYBE, _decision)
GAOKAO: Parts = (_without_backslash, _unbracketed, _labels)


def pubmed_word(row: Row) -> Sample:
    """Return the sample for base models, whose answer is the word itself, in brackets."""
    choice = PROCESS_FUNCTIONS["process_pubmedqa_sft"](row)
    words = tuple(word.lower() for word in YES_NO_MAYBE)
    question = f"{_abstract_and_question(row)}\nAnswer with one of (yes), (no) and (maybe)."
    right = words[LETTERS.index(choice.answer)]
    return replace(choice, question=question, answers=(right,), options=words)


def _newton(options: Callable[[Row], Options], ask: str = "") -> Process:
    return _choice("newton_explicit", ("question", options, _same_text("gt")), ask)


_gaokao = _choice("agieval-gaokao-mathqa", GAOKAO, ASK_FROM_ZH, " ", "({letter}){option}")

PROCESS_FUNCTIONS: dict[str, Process] = {
    **{
        f"process_{name}{end}": _choice(dataset, parts, ask, ids=("id", *ids))
        for name, dataset, parts, ids in BOTH
        for end, ask in (("", ASK_ASSERTION if "assertion" in name else ASK), ("_sft", ""))
    },
    # For base models only
    "process_math_sat": _choice("math_sat", ("question", _inline, _letter("Answer")), ASK),
    "process_mathqa": _choice("mathqa", (_capitalised, _inline, _letter("correct")), ASK),
    "process_mmlu_stem": _choice("mmlu_stem", LETTERED, ASK, ", "),
    "process_mmmlu_zh_math": _choice("mmmlu_zh", LETTERED, ASK_ZH, ", "),
    "process_newton_explicit_questions": _newton(_newton_options, ASK),
    "process_pubmedqa": pubmed_word,
    "process_agieval_gaokao_mathqa": _gaokao,
    "process_agieval_gaokao_mathqa_few_shot_cot_test": _gaokao,
    # For tuned models only
    "process_mmlu_pro": _choice("mmlu_pro", LETTERED, ids=("question_id", "id")),
    "process_super_gpqa": _choice(
        "super_gpqa", (*LETTERED[:2], _letter("answer_letter")), ids=("uuid", "id")
    ),
    "process_newton_explicit_questions_bool_sft": _newton(_of_two),
    "process_newton_explicit_questions_mc_sft": _newton(_of_four),
    "process_pubmedqa_sft": _choice("pubmedqa", PUBMED, ids=("id", "pubid")),
}

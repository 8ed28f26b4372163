"""Eval functions: the answers in a response → right or wrong.

letters        the same letter or word, in any case
one answer     numbers within 1e-3, else math equality (`gradebox.checkers.math`)
several        each answer has an equal prediction and the other way round, in any order
blanks         equal answers in the same order
with units     numbers within 5 per cent (SciBench)

`EVAL_FUNCTIONS` is the table of the names in configurations.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradebox.eval.models.answers.equality import MathEquality
from gradebox.eval.models.benchmarks.sample import LETTERS, Evaluate, Sample
from gradebox.eval.models.benchmarks.texts import (
    parse_leading_number,
    parse_number,
    split_commas,
    split_power_of_ten,
)

ABSOLUTE_TOLERANCE = 1e-3
OCW_RELATIVE_TOLERANCE = 0.01
SCIBENCH_RELATIVE_TOLERANCE = 0.05


def _is_close(a: float, b: float, *, relative: float = 0.0, absolute: float = 0.0) -> bool:
    """Return whether |a - b| is at most `absolute` or `relative` times the reference `a`."""
    return abs(a - b) <= max(absolute, relative * abs(a))


def _is_equal(reference: str, answer: str, equality: MathEquality) -> bool:
    """Return whether two answers are the same text, numbers within 1e-3, or equal as math."""
    if not answer.strip():
        return False
    if reference.strip() == answer.strip():
        return True
    a, b = parse_number(reference), parse_number(answer)
    if a is not None and b is not None:
        return _is_close(a, b, absolute=ABSOLUTE_TOLERANCE)
    return equality.equal(reference, answer)


def _same_answers(answers: Sequence[str], found: Sequence[str], equality: MathEquality) -> bool:
    """Return whether both lists have the same answers; order and repetitions are ignored."""
    if not answers or not found:
        return False
    return all(any(_is_equal(a, f, equality) for f in found) for a in answers) and all(
        any(_is_equal(a, f, equality) for a in answers) for f in found
    )


def same_letter(prediction: list[str], sample: Sample, equality: MathEquality) -> bool:
    """Return whether the last prediction is a right letter or word."""
    right = [answer.lower() for answer in sample.answers]
    return bool(prediction) and prediction[-1].strip().lower() in right


def gaokao_letters(prediction: list[str], sample: Sample, equality: MathEquality) -> bool:
    """Return whether the last prediction names all right letters and no other."""
    letters = {c for p in prediction[-1:] for c in p if c in LETTERS[:4]}
    return letters == set(sample.answers)


def last_answer(prediction: list[str], sample: Sample, equality: MathEquality) -> bool:
    """Return whether the last prediction equals the answer."""
    return bool(prediction) and _is_equal(sample.answer, prediction[-1], equality)


def several_answers(prediction: list[str], sample: Sample, equality: MathEquality) -> bool:
    """Return whether the last predictions, as many as there are answers, equal the answers.

    Order and repetitions are ignored.
    """
    answers = list(dict.fromkeys(sample.answers))
    if len(answers) == 1 and len(prediction) > 1:
        # Some files have several answers in one text.
        answers = split_commas(answers[0])
    return _same_answers(answers, list(dict.fromkeys(prediction))[-len(answers) :], equality)


def blanks_in_order(prediction: list[str], sample: Sample, equality: MathEquality) -> bool:
    """Return whether the last predictions are the answers in their order."""
    last = prediction[-len(sample.answers) :]
    return len(last) == len(sample.answers) and all(
        _is_equal(a, p, equality) for a, p in zip(sample.answers, last, strict=True)
    )


def within_tolerance(prediction: list[str], sample: Sample, equality: MathEquality) -> bool:
    """Return whether numbers are within the question's tolerances, else math equality."""
    answers, found = list(sample.answers), list(prediction)
    if sample.extra.get("is_multiple_answer") is True:
        answers = [part for a in answers for part in split_commas(a)]
        found = [part for p in found for part in split_commas(p)]
    tolerances = [parse_number(e) for e in split_commas(str(sample.extra.get("error") or ""))]
    if len(tolerances) == len(answers) == len(found) and None not in tolerances:
        rows = zip(map(parse_number, answers), map(parse_number, found), tolerances, strict=True)
        return all(
            a is not None and f is not None and t is not None and _is_close(a, f, absolute=t)
            for a, f, t in rows
        )
    return _same_answers(answers, found[-len(answers) :], equality)


def ocw(prediction: list[str], sample: Sample, equality: MathEquality) -> bool:
    """Return whether numbers are within 1 per cent, else math equality."""
    if not prediction:
        return False
    reference, answer = parse_number(sample.answer), parse_leading_number(prediction[-1])
    if reference is not None:
        return answer is not None and _is_close(reference, answer, relative=OCW_RELATIVE_TOLERANCE)
    return _is_equal(sample.answer, prediction[-1], equality)


def table_question(prediction: list[str], sample: Sample, equality: MathEquality) -> bool:
    """Return whether the last prediction is the right option, or equals the answer of a question
    without options.
    """
    judge = same_letter if sample.options else last_answer
    return judge(prediction, sample, equality)


def scibench(prediction: list[str], sample: Sample, equality: MathEquality) -> bool:
    """Return whether numbers are within 5 per cent, else math equality.

    The reference is multiplied by its unit's power of ten, which the question leaves out.
    """
    if not prediction:
        return False
    reference, answer = parse_number(sample.answer), parse_leading_number(prediction[-1])
    if reference is None or answer is None:
        return _is_equal(sample.answer, prediction[-1], equality)
    _, exponent = split_power_of_ten(str(sample.extra.get("unit") or ""))
    return _is_close(reference * 10.0**exponent, answer, relative=SCIBENCH_RELATIVE_TOLERANCE)


def olympic_arena(prediction: list[str], sample: Sample, equality: MathEquality) -> bool:
    """Return whether choices have the same set of letters; math equality for other answers."""
    kinds = sample.extra.get("type_sequence")
    if isinstance(kinds, list) and kinds and all(kind in ("SC", "MC", "TF") for kind in kinds):
        return _sorted_letters(prediction) == _sorted_letters(sample.answers)
    if len(sample.answers) == 1:
        return last_answer(prediction, sample, equality)
    return blanks_in_order(prediction, sample, equality)


def _sorted_letters(answers: Sequence[str]) -> list[str]:
    return sorted("".join(answers).replace(" ", "").replace(",", "").lower())


EVAL_FUNCTIONS: dict[str, Evaluate] = {
    "eval_math_sat": same_letter,
    "eval_mmlu_stem": same_letter,
    "eval_pubmedqa": same_letter,
    "eval_mathqa": same_letter,
    "eval_agieval_gaokao_mathqa": gaokao_letters,
    "eval_last_single_answer": last_answer,
    "eval_math": several_answers,
    "eval_agieval_gaokao_math_cloze": blanks_in_order,
    "eval_olympiad_math": within_tolerance,
    "eval_ocwcourses": ocw,
    "eval_tabmwp": table_question,
    "eval_scibench": scibench,
    "eval_olympic_arena": olympic_arena,
}

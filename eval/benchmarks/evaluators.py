"""Predictions → right or wrong. Filled into the registry under the names of the eval functions.

letters        the same letter or word, in any case
one answer     math equality at 1e-3 (`checkers.math`, policy lm-open-science)
several        each prediction has its answer and the other way round, in any order
blanks         the same answers in the same order
with units     numbers within 5 per cent (SciBench)
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.benchmarks.extraction.split import split_commas
from eval.benchmarks.extraction.units import leading_number, number
from eval.benchmarks.fields import LETTERS
from eval.benchmarks.model import Equality, Sample
from eval.benchmarks.registry import named

PRECISION = 1e-3
OCW_RELATIVE = 0.01
SCIBENCH_RELATIVE = 0.05


def close(a: float, b: float, *, relative: float = 0.0, absolute: float = 0.0) -> bool:
    """|a - b| within `absolute`, or within `relative` of the reference `a`."""
    return abs(a - b) <= max(absolute, relative * abs(a))


def same_math(reference: str, answer: str, equality: Equality) -> bool:
    """Numbers within 1e-3, else equal as math."""
    if not answer.strip():
        return False
    if reference.strip() == answer.strip():
        return True
    a, b = number(reference), number(answer)
    if a is not None and b is not None:
        return close(a, b, absolute=PRECISION)
    return equality.equal(reference, answer)


def all_matched(answers: Sequence[str], found: Sequence[str], equality: Equality) -> bool:
    """Every answer is among those found and every one found is an answer; repeats count once."""
    if not answers or not found:
        return False
    return all(any(same_math(a, f, equality) for f in found) for a in answers) and all(
        any(same_math(a, f, equality) for a in answers) for f in found
    )


@named("eval_fn", "eval_math_sat", "eval_mmlu_stem", "eval_pubmedqa", "eval_mathqa")
def same_letter(prediction: list[str], sample: Sample, equality: Equality) -> bool:
    """The last prediction is the letter (or the word), or one of several right letters."""
    right = [answer.lower() for answer in sample.answers]
    return bool(prediction) and prediction[-1].strip().lower() in right


@named("eval_fn", "eval_agieval_gaokao_mathqa")
def gaokao_letter(prediction: list[str], sample: Sample, equality: Equality) -> bool:
    """The last prediction names the right letter or letters, and no other."""
    letters = {c for p in prediction[-1:] for c in p if c in LETTERS[:4]}
    return letters == set(sample.answers)


@named("eval_fn", "eval_last_single_answer")
def last_answer(prediction: list[str], sample: Sample, equality: Equality) -> bool:
    """The last prediction equals the answer."""
    return bool(prediction) and same_math(sample.answer, prediction[-1], equality)


@named("eval_fn", "eval_math")
def several_answers(prediction: list[str], sample: Sample, equality: Equality) -> bool:
    """The answers in any order. Of too many boxes the last ones count, one for each answer."""
    answers = list(dict.fromkeys(sample.answers))
    if len(answers) == 1 and len(prediction) > 1:
        # Some files hold several answers in one text, as the model's were before they were split.
        answers = split_commas(answers[0])
    return all_matched(answers, list(dict.fromkeys(prediction))[-len(answers) :], equality)


@named("eval_fn", "eval_agieval_gaokao_math_cloze")
def blanks_in_order(prediction: list[str], sample: Sample, equality: Equality) -> bool:
    """One prediction a blank, in the order of the blanks."""
    last = prediction[-len(sample.answers) :]
    return len(last) == len(sample.answers) and all(
        same_math(a, p, equality) for a, p in zip(sample.answers, last, strict=True)
    )


@named("eval_fn", "eval_olympiad_math")
def within_error_range(prediction: list[str], sample: Sample, equality: Equality) -> bool:
    """Equal as math; numbers may be off by the error range that comes with the question."""
    answers, found = list(sample.answers), list(prediction)
    if sample.extra.get("is_multiple_answer"):
        answers = [part for a in answers for part in split_commas(a)]
        found = [part for p in found for part in split_commas(p)]
    errors = [number(e) for e in split_commas(str(sample.extra.get("error") or ""))]
    if len(errors) == len(answers) == len(found) and all(e is not None for e in errors):
        values = [(number(a), number(f)) for a, f in zip(answers, found, strict=True)]
        return all(
            a is not None and f is not None and e is not None and close(a, f, absolute=e)
            for (a, f), e in zip(values, errors, strict=True)
        )
    return all_matched(answers, found[-len(answers) :], equality)


@named("eval_fn", "eval_ocwcourses")
def ocw(prediction: list[str], sample: Sample, equality: Equality) -> bool:
    """Numbers within 1 per cent; equations and expressions equal as math."""
    if not prediction:
        return False
    reference, answer = number(sample.answer), leading_number(prediction[-1])
    if reference is not None:
        return answer is not None and close(reference, answer, relative=OCW_RELATIVE)
    return same_math(sample.answer, prediction[-1], equality)


@named("eval_fn", "eval_tabmwp")
def table_question(prediction: list[str], sample: Sample, equality: Equality) -> bool:
    """The option, or the number."""
    judge = same_letter if sample.extra.get("type") == "multiple-choice" else last_answer
    return judge(prediction, sample, equality)


@named("eval_fn", "eval_scibench")
def scibench(prediction: list[str], sample: Sample, equality: Equality) -> bool:
    """Within 5 per cent. A unit's power of ten was left out of the question and counts here."""
    if not prediction:
        return False
    reference, answer = number(sample.answer), leading_number(prediction[-1])
    if reference is None or answer is None:
        return same_math(sample.answer, prediction[-1], equality)
    exponent = int(sample.extra.get("exponent", 0))
    return close(reference * 10.0**exponent, answer, relative=SCIBENCH_RELATIVE)


@named("eval_fn", "eval_olympic_arena")
def olympic_arena(prediction: list[str], sample: Sample, equality: Equality) -> bool:
    """Letters for choices (several: the same set), math equality for everything else."""
    kinds = sample.extra.get("kinds") or ()
    if kinds and all(kind in ("SC", "MC", "TF") for kind in kinds):
        said = sorted("".join(prediction).replace(" ", "").replace(",", "").lower())
        return said == sorted("".join(sample.answers).replace(" ", "").replace(",", "").lower())
    if len(sample.answers) == 1:
        return bool(prediction) and same_math(sample.answer, prediction[-1], equality)
    return blanks_in_order(prediction, sample, equality)

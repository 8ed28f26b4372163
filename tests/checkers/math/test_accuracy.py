"""Verdicts of the policies: `strict` rejects near misses and accepts other spellings.

data/negatives.jsonl has near misses, data/positives.jsonl other spellings of one answer,
data/cases.jsonl both, and whole responses, by kind.
docs/math-answers.md describes their origin.
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from gradebox.checkers.math import extract_answer, grade, grade_many
from testing.rows import rows

DATA = Path(__file__).parent / "data"


def read_pairs(name):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


NEGATIVES = read_pairs("negatives.jsonl")
POSITIVES = read_pairs("positives.jsonl")
SOLUTION = (
    "We simplify step by step; there are 3 cases and $x=7$ in the second.\n\n"
    "Therefore the final answer is $\\boxed{%s}$. I hope it is correct."
)


@pytest.fixture(scope="module")
def grades():
    """Return the grades of all rows, negatives first."""
    return list(grade_many([(row["gold"], row["answer"]) for row in NEGATIVES + POSITIVES]))


def wrongly_graded(pairs, expected, grades=None):
    grades = grades or grade_many([(gold, answer) for _, gold, answer in pairs])
    return [
        (name, gold, answer, found.reason)
        for (name, gold, answer), found in zip(pairs, grades, strict=True)
        if found.equal is not expected
    ]


def test_negatives_cover_every_kind():
    kinds = Counter(row["kind"] for row in NEGATIVES)
    assert len({(row["gold"], row["answer"]) for row in NEGATIVES}) >= 200
    assert {"sign", "bracket", "unit", "digit", "missing", "variable"} <= set(kinds)
    assert min(kinds.values()) >= 5


@pytest.mark.slow
def test_near_misses_are_rejected(grades):
    pairs = [(r["id"], r["gold"], r["answer"]) for r in NEGATIVES]
    assert wrongly_graded(pairs, False, grades[: len(NEGATIVES)]) == []


@pytest.mark.slow
def test_near_misses_are_rejected_with_gold_and_answer_swapped():
    assert wrongly_graded([(r["id"], r["answer"], r["gold"]) for r in NEGATIVES], False) == []


@pytest.mark.slow
def test_other_spellings_are_accepted(grades):
    pairs = [(r["id"], r["gold"], r["answer"]) for r in POSITIVES]
    assert wrongly_graded(pairs, True, grades[len(NEGATIVES) :]) == []


CASES = read_pairs("cases.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted({row["kind"] for row in CASES}))
def test_equal_answers_are_accepted_and_near_misses_rejected(kind):
    rows = [row for row in CASES if row["kind"] == kind]
    assert {row["equal"] for row in rows} == {True, False}
    grades = grade_many([(row["gold"], row["response"]) for row in rows])
    wrong = [
        (r, g.answer, g.reason) for r, g in zip(rows, grades, strict=True) if g.equal != r["equal"]
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    rows(__file__, "tolerance_of_lm"),
)
def test_the_tolerance_of_lm_open_science_is_absolute(gold, answer, equal):
    assert grade(gold, answer, "lm-open-science").equal is equal
    assert grade(answer, gold, "lm-open-science").equal is equal


@pytest.mark.slow
@pytest.mark.parametrize(("gold", "answer"), [(r"\sqrt{1+10^{-3000}}", "1"), ("1-e^{-10000}", "1")])
def test_numbers_that_1000_digits_do_not_tell_apart_are_undecided(gold, answer):
    found = grade(gold, answer)
    assert (found.equal, found.reason) == (False, "undecided")


def test_a_boxed_answer_in_a_solution_is_found_unchanged():
    rows = [r for r in NEGATIVES + POSITIVES if "$" not in r["answer"].replace("\\$", "")]
    rewritten = re.compile(r"[A-E]: |\\boxed")  # the letter of a choice, a box in the box
    plain = [r["answer"] for r in rows if not rewritten.match(r["answer"])]
    assert [answer for answer in plain if extract_answer(SOLUTION % answer) != answer] == []
    assert len(plain) > 400


@pytest.mark.slow
def test_verdicts_are_the_same_for_a_boxed_answer_in_a_solution():
    for pairs, equal in ((NEGATIVES, False), (POSITIVES, True)):
        pairs = [r for r in pairs if "$" not in r["answer"].replace("\\$", "")][::4]
        boxed = [(r["id"], r["gold"], SOLUTION % r["answer"]) for r in pairs]
        assert wrongly_graded(boxed, equal) == []


@pytest.mark.parametrize(
    ("gold", "answer", "policies"),
    rows(__file__, "policies"),
)
def test_which_policies_accept_a_pair(gold, answer, policies):
    names = ("strict", "dart", "lm-open-science", "harness")
    assert [n for n in names if grade(gold, answer, n).equal] == policies


def test_error_for_an_unknown_policy_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"lax.*strict, dart, harness"):
        grade("1", "1", "lax")


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_timeout_must_be_positive(timeout):
    with pytest.raises(ValueError, match=f"{timeout}.*more than 0 seconds"):
        grade("x", "y", timeout=timeout)


def test_empty_response_has_no_answer():
    found = grade("5", "")
    assert (found.equal, found.reason, found.tier) == (False, "no answer", 1)
    assert grade("", "").equal is False


@pytest.mark.slow
def test_every_reason_is_documented(grades):
    page = Path(__file__).parents[3] / "docs" / "math-answers.md"
    documented = set(re.findall(r"^\| `([a-z ]+)(?:: …)?` \|", page.read_text(), re.M))
    assert {re.split(r" \(|:", g.reason)[0] for g in grades} <= documented

"""Near misses are never accepted, other spellings always, in the policy `strict`.

data/negatives.jsonl and data/positives.jsonl are our own pairs; docs/math-answers.md tells
how the rules behind them were chosen.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from checkers.math import grade, grade_many

DATA = Path(__file__).parent / "data"


def read(name):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


NEGATIVES = read("negatives.jsonl")
POSITIVES = read("positives.jsonl")
SOLUTION = (
    "We simplify step by step; there are 3 cases and $x=7$ in the second.\n\n"
    "Therefore the final answer is $\\boxed{%s}$. I hope it is correct."
)


def wrong(pairs, expected):
    grades = grade_many([(gold, answer) for _, gold, answer in pairs])
    return [
        (name, gold, answer, found.reason)
        for (name, gold, answer), found in zip(pairs, grades, strict=True)
        if found.equal is not expected
    ]


def test_the_negatives_are_many_and_of_every_kind():
    kinds = Counter(row["kind"] for row in NEGATIVES)
    assert len({(row["gold"], row["answer"]) for row in NEGATIVES}) >= 200
    assert {"sign", "bracket", "unit", "digit", "missing", "variable"} <= set(kinds)
    assert min(kinds.values()) >= 8


@pytest.mark.slow
def test_near_misses_are_rejected():
    assert wrong([(r["id"], r["gold"], r["answer"]) for r in NEGATIVES], False) == []


@pytest.mark.slow
def test_near_misses_are_rejected_the_other_way_round():
    assert wrong([(r["id"], r["answer"], r["gold"]) for r in NEGATIVES], False) == []


@pytest.mark.slow
def test_other_spellings_are_accepted():
    assert wrong([(r["id"], r["gold"], r["answer"]) for r in POSITIVES], True) == []


@pytest.mark.slow
def test_a_box_in_a_solution_changes_nothing():
    rows = [r for r in NEGATIVES if "$" not in r["answer"].replace("\\$", "")]
    boxed = [(r["id"], r["gold"], SOLUTION % r["answer"]) for r in rows]
    assert wrong(boxed, False) == []
    rows = [r for r in POSITIVES if "$" not in r["answer"].replace("\\$", "")]
    boxed = [(r["id"], r["gold"], SOLUTION % r["answer"]) for r in rows if "is" not in r["answer"]]
    assert wrong(boxed, True) == []


@pytest.mark.parametrize(
    ("gold", "answer", "policies"),
    [
        # (gold, answer, policies that accept)
        ("3.04", "0.0304", {"dart", "lm-open-science"}),
        ("2500", "25", set()),
        ("0.5", "50", {"dart", "lm-open-science"}),
        ("50\\%", "50", {"strict", "dart", "lm-open-science", "harness"}),
        ("50\\%", "0.5", {"strict", "dart", "lm-open-science"}),
        ("1.0001", "1.0002", {"lm-open-science"}),
        ("\\frac{1}{3}", "0.3333", {"lm-open-science"}),
        ("\\frac{1}{3}", "0.333333333", {"strict", "dart", "lm-open-science"}),
        ("x+y", "y+x", {"strict", "dart", "lm-open-science"}),
        ("\\frac{1}{2}", "\\dfrac{1}{2}", {"strict", "dart", "lm-open-science", "harness"}),
        ("\\text{North}", "north", {"strict", "dart", "lm-open-science", "harness"}),
        ("(1,2)", "(2,1)", set()),
        ("[0,1)", "(0,1)", set()),
        ("0.1", "0.10000000000000001", {"strict", "dart", "lm-open-science"} - {"strict"}),
    ],
)
def test_policies(gold, answer, policies):
    names = ("strict", "dart", "lm-open-science", "harness")
    assert {n for n in names if grade(gold, answer, n).equal} == policies


def test_an_unknown_policy_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown policy 'lax': use one of strict, dart, harness,"):
        grade("1", "1", "lax")


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_timeout_must_be_positive(timeout):
    with pytest.raises(ValueError, match=f"timeout is {timeout}: it must be more than 0 seconds"):
        grade("x", "y", timeout=timeout)


def test_an_empty_response_has_no_answer():
    found = grade("5", "")
    assert (found.equal, found.reason, found.tier) == (False, "no answer", 1)
    assert grade("", "").equal is False

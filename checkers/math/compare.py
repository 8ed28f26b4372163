"""Compares two structures (checkers.math.read) under a policy."""

# mypy: disable-error-code="import-untyped"
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import sympy
from sympy import Expr

from checkers.math import names, numeric, region
from checkers.math.clean import TEXT_CLOSE, TEXT_OPEN
from checkers.math.latex import parse
from checkers.math.names import is_assignment, same_name
from checkers.math.policy import Policy
from checkers.math.shapes import (
    as_seq,
    brackets_differ,
    decimal_form,
    item_text,
    may_be_ratio,
    relations,
    repeats,
    same_shape,
    same_time,
)
from checkers.math.tables import UNITS
from checkers.math.tokens import ParseError
from checkers.math.units import conversion
from checkers.math.values import Exact, Leaf, Ratio, Region, Relation, Rounded, Seq, Value, Words

_BESIDE_SIGNS = ("", "rad", "unit")  # units that may stand against a percent or degree sign
NEARLY = 0.02  # share by which the sides of a calculation may differ
MOST_MATCHED = 60  # items of a list compared each with each


@lru_cache(maxsize=2048)
def expression(text: str) -> Expr:
    return parse(text)


class Comparer:
    """One comparison under one policy; `equal` raises ParseError for what cannot be read."""

    def __init__(self, policy: Policy):
        self.policy = policy

    def equal(self, gold: Value, answer: Value) -> bool:
        if isinstance(gold, Rounded) or isinstance(answer, Rounded):
            return any(self.equal(g, a) for g in self.meant(gold) for a in self.meant(answer))
        gold, answer = same_shape(gold, answer)
        for one, other in ((gold, answer), (answer, gold)):
            if isinstance(one, Leaf) and isinstance(other, Seq) and other.joined_by_or:
                return all(self.equal(one, item) for item in other.items)  # 1/2 or 50%
        if isinstance(gold, Words) or isinstance(answer, Words):
            return self.words(gold, answer)
        if isinstance(gold, Exact) or isinstance(answer, Exact):
            return self.exact(gold, answer)
        if self.is_regional(gold) or self.is_regional(answer):
            return self.regions(_named_region(gold), _named_region(answer))
        if isinstance(gold, Seq) or isinstance(answer, Seq):
            return self.sequences(gold, answer)
        if isinstance(gold, Relation) or isinstance(answer, Relation):
            return self.relations(gold, answer)
        if isinstance(gold, Ratio) or isinstance(answer, Ratio):
            return self.ratios(gold, answer)
        assert isinstance(gold, Leaf) and isinstance(answer, Leaf)
        return self.leaves(gold, answer)

    def meant(self, value: Value) -> tuple[Value, ...]:
        """A value and its decimal, both of which answer; none when they are far from each other."""
        if not isinstance(value, Rounded):
            return (value,)
        exact, about = _assigned(value.value), value.about
        if not isinstance(exact, Leaf):
            return ()
        share = 100 if about.percent and not exact.percent else 1
        if not numeric.rounds_to(expression(exact.text) * share, about.text):
            return ()
        unit = exact.unit or about.unit
        if isinstance(value.value, Relation) and is_assignment(value.value):
            marked = f"{TEXT_OPEN}{unit}{TEXT_CLOSE}" if unit else "%" * about.percent
            return value.value, Relation((value.value.sides[0], about.text + marked), ("=",))
        return replace(exact, unit=unit), replace(about, unit=unit)

    # -- words, times ----------------------------------------------------------
    def words(self, gold: Value, answer: Value) -> bool:
        if isinstance(gold, Words) and isinstance(answer, Words):
            return gold.text == answer.text
        word, other = (gold, answer) if isinstance(gold, Words) else (answer, gold)
        assert isinstance(word, Words)
        if isinstance(other, Relation) and other.is_equation:
            return Words(other.sides[-1].lower()) == word
        if isinstance(other, Leaf):
            plain = re.sub(r"[^a-z0-9 ]", "", other.text.lower())
            return bool(plain) and plain == word.text
        return False

    def exact(self, gold: Value, answer: Value) -> bool:
        if isinstance(gold, Exact) and isinstance(answer, Exact):
            if gold.kind != answer.kind:
                return False
            return same_time(gold, answer) if gold.kind == "clock" else gold == answer
        for one, other in ((gold, answer), (answer, gold)):
            if isinstance(one, Exact) and one.kind == "clock" and may_be_ratio(other):
                if one.fields[2] or one.fields[3]:
                    return False
                return self.ratios(Ratio((str(one.fields[0]), str(one.fields[1]))), other)
            if isinstance(one, Exact) and isinstance(other, Relation) and other.is_equation:
                from checkers.math.read import read

                return self.equal(one, read(other.sides[-1]))
        return False

    # -- sets of reals -----------------------------------------------------------
    def is_regional(self, value: Value) -> bool:
        """Whether it is written as a set of reals: intervals or inequalities."""
        if isinstance(value, Region):
            return True
        if isinstance(value, Relation):
            return not value.is_equation
        return (
            isinstance(value, Seq) and value.kind == "" and any(map(self.is_regional, value.items))
        )

    def regions(self, gold: Value, answer: Value) -> bool:
        if self.both_inequalities(gold, answer):
            same = region.same_relations(relations(gold), relations(answer))
            if same is not None:
                return same
        left, right = region.to_region(gold), region.to_region(answer)
        if left is None or right is None:
            return False
        return region.equal(left, right, self.policy)

    def both_inequalities(self, gold: Value, answer: Value) -> bool:
        return bool(relations(gold)) and bool(relations(answer))

    # -- lists -------------------------------------------------------------------
    def sequences(self, gold: Value, answer: Value) -> bool:
        matrix = self.as_matrices(gold, answer)
        if matrix is not None:
            return matrix
        if isinstance(gold, Relation) and isinstance(answer, Seq):
            gold = _assigned(gold)
        if isinstance(answer, Relation) and isinstance(gold, Seq):
            answer = _assigned(answer)
        left, right = as_seq(gold), as_seq(answer)
        if left is None or right is None or len(left.items) != len(right.items):
            return self.by_set(left, right)
        different = brackets_differ(left, right) or region.interval_and_list(left, right)
        if different and not self.policy.compare_sets:
            return False
        if self.is_ordered(left, right):
            left, right = names.by_name(left), names.by_name(right)
            pairs = zip(left.items, right.items, strict=True)
            return all(self.equal(*_unwrapped(g, a, both=True)) for g, a in pairs)
        return self.matched(left.items, right.items)

    def by_set(self, left: Seq | None, right: Seq | None) -> bool:
        """Sets and lists of tuples may repeat an element; lists of numbers may not."""
        if left is None or right is None or not {left.kind, right.kind} <= {"", "{}"}:
            return False
        a, b = (self.distinct(s) if repeats(s) else list(s.items) for s in (left, right))
        return len(a) == len(b) and self.matched(a, b)

    def distinct(self, seq: Seq) -> list[Value]:
        out: list[Value] = []
        for item in seq.items[:MOST_MATCHED]:
            if not any(self.equal(item, kept) for kept in out):
                out.append(item)
        return out + list(seq.items[MOST_MATCHED:])

    def is_ordered(self, left: Seq, right: Seq) -> bool:
        return not self.policy.compare_sets and not {left.kind, right.kind} <= {"", "{}"}

    def matched(self, gold: Sequence[Value], answer: Sequence[Value]) -> bool:
        """Whether the items agree in some order; assignments agree by name."""
        unknowns = names.one_unknown(gold), names.one_unknown(answer)
        if all(unknowns) and names.same_unknown(*unknowns):
            gold, answer = [[_assigned(v) for v in side] for side in (gold, answer)]
        if all(isinstance(v, Relation) and v.is_equation for v in (*gold, *answer)):
            return self.one_to_one(gold, answer, both=False)
        return self.one_to_one(gold, answer, both=True)

    def one_to_one(self, gold: Sequence[Value], answer: Sequence[Value], both: bool) -> bool:
        left = list(answer)
        if len(gold) > MOST_MATCHED:
            return sorted(map(item_text, gold)) == sorted(map(item_text, answer))
        for item in gold:
            for i, other in enumerate(left):
                if self.equal(*_unwrapped(item, other, both)):
                    del left[i]
                    break
            else:
                return False
        return True

    def as_matrices(self, gold: Value, answer: Value) -> bool | None:
        """A matrix or vector against a list: the same entries in the same order."""
        texts = [
            v.text if isinstance(v, Leaf) and "\\begin" in v.text else "" for v in (gold, answer)
        ]
        if not any(texts):
            return None
        rows = [
            _rows(expression(t)) if t else _seq_rows(v)
            for t, v in zip(texts, (gold, answer), strict=True)
        ]
        left, right = rows
        if left is None or right is None:
            return False
        if len(left) != len(right) and 1 in (len(left), len(right)):
            left = [[x] for r in left for x in r] if all(len(r) == 1 for r in right) else left
            right = [[x] for r in right for x in r] if all(len(r) == 1 for r in left) else right
        if [len(r) for r in left] != [len(r) for r in right]:
            return False
        return all(
            self.numbers(a, b)
            for x, y in zip(left, right, strict=True)
            for a, b in zip(x, y, strict=True)
        )

    # -- equations -----------------------------------------------------------------
    def relations(self, gold: Value, answer: Value) -> bool:
        if isinstance(gold, Relation) and isinstance(answer, Relation):
            return self.equations(gold, answer)
        one, other = (gold, answer) if isinstance(gold, Relation) else (answer, gold)
        assert isinstance(one, Relation)
        asked = (
            isinstance(gold, Leaf) and names.is_asked_for(one) and expression(gold.text).is_number
        )
        if not asked and not is_assignment(one) and not _is_sum(one):
            return False
        value = _value(one.sides[-1])
        return self.equal(value, other) if one is gold else self.equal(other, value)

    def equations(self, gold: Relation, answer: Relation) -> bool:
        a_name, b_name = is_assignment(gold), is_assignment(answer)
        if a_name and b_name:
            values = _value(gold.sides[-1]), _value(answer.sides[-1])
            if same_name(gold.sides[0], answer.sides[0]):
                return self.equal(*values)
            if len(gold.sides) > 2 or len(answer.sides) > 2:
                return False
        if len(gold.sides) != 2 or len(answer.sides) != 2:
            return gold == answer
        left, right = (expression(r.sides[0]) - expression(r.sides[1]) for r in (gold, answer))
        if isinstance(left, sympy.MatrixBase) or isinstance(right, sympy.MatrixBase):
            return False
        return numeric.proportional(left, right) is True

    # -- ratios ----------------------------------------------------------------------
    def ratios(self, gold: Value, answer: Value) -> bool:
        sides = []
        for value in (gold, answer):
            if isinstance(value, Ratio):
                sides.append([expression(p) for p in value.parts])
            elif isinstance(value, Leaf):
                sides.append([*expression(value.text).as_numer_denom()])
            else:
                return False
        left, right = sides
        if len(left) != len(right):
            return False
        return all(
            self.numbers(left[i] * right[0], right[i] * left[0]) for i in range(1, len(left))
        )

    # -- one expression ----------------------------------------------------------------
    def leaves(self, gold: Leaf, answer: Leaf) -> bool:
        a, b = expression(gold.text), expression(answer.text)
        if gold.unit and answer.unit and gold.unit != answer.unit:
            factor = conversion(gold.unit, answer.unit)
            if factor is None:
                return False
            return self.numbers(a * factor, b)
        if gold.unit != answer.unit and self.trailing_symbol(gold, answer):
            return True
        if (gold.percent and answer.degree) or (gold.degree and answer.percent):
            return False
        if (gold.percent or gold.degree) and answer.unit not in _BESIDE_SIGNS:
            return False
        if (answer.percent or answer.degree) and gold.unit not in _BESIDE_SIGNS:
            return False
        if gold.percent != answer.percent:
            share, plain = (a, b) if gold.percent else (b, a)
            return self.numbers(share, plain) or self.numbers(share / 100, plain)
        if gold.degree != answer.degree:
            if "rad" in (gold.unit, answer.unit):
                a, b = (v * sympy.pi / 180 if x.degree else v for v, x in ((a, gold), (b, answer)))
                return self.numbers(a, b)
            if self.numbers(a, b, gold.text, answer.text):
                return True
            turned, plain = (a, b) if gold.degree else (b, a)
            return bool(plain.has(sympy.pi)) and self.numbers(turned * sympy.pi / 180, plain)
        return self.numbers(a, b, gold.text, answer.text)

    def trailing_symbol(self, gold: Leaf, answer: Leaf) -> bool:
        """`5 m` read as a product is 5 metres when the other side has a length."""
        for one, other in ((gold, answer), (answer, gold)):
            m = re.fullmatch(r"(.*[\d)}])\s*([a-zA-Z])", other.text)
            if one.unit and not other.unit and m and m[2].lower() in UNITS:
                factor = conversion(one.unit, m[2].lower())
                if factor is not None:
                    return self.numbers(expression(one.text) * factor, expression(m[1]))
        return False

    def numbers(self, a: Expr, b: Expr, a_text: str = "", b_text: str = "") -> bool:
        """Equality of two expressions under the policy's tolerances."""
        p = self.policy
        same = numeric.equal(a, b, p.rel_tol, p.abs_tol)
        if same:
            return True
        if isinstance(a, sympy.MatrixBase) or isinstance(b, sympy.MatrixBase):
            return False
        if (
            a_text
            and b_text
            and (
                numeric.rounding_equals(a_text, b, b_text)
                or numeric.rounding_equals(b_text, a, a_text)
            )
        ):
            return True
        if p.percent and a.is_number and b.is_number and decimal_form(a_text, b_text):
            return numeric.percent_close(a, b, p.percent_rel_tol)
        if same is None:
            raise ParseError("evaluation decides nothing")
        return False


def _assigned(value: Value) -> Value:
    """The value of `x = 5` and of `3 + 4 = 7`; every other value as it is."""
    if isinstance(value, Relation) and (is_assignment(value) or _is_sum(value)):
        return _value(value.sides[-1])
    return value


def _is_sum(relation: Relation) -> bool:
    """`3 + 4 = 7`, `x(x+1) = x^2+x`: its value is its last side; `4 = 2\\sqrt5` is none."""
    if not relation.is_equation:
        return False
    last = _value(relation.sides[-1])
    texts = [
        *relation.sides[:-1],
        last.text if isinstance(last, Leaf) and last.unit else relation.sides[-1],
    ]
    sides = [expression(s) for s in texts]
    share = 0.0 if any(e.free_symbols for e in sides) else NEARLY
    return all(numeric.equal(a, b, share, 0) for a, b in pairwise(sides))


def _named_region(value: Value) -> Value:
    """The interval of `x = [2,5)`; every other value as it is."""
    if isinstance(value, Relation) and is_assignment(value):
        if value.sides[0].startswith("("):
            return value
        named = _assigned(value)
        return named if isinstance(named, Seq | Region) else value
    return value


def _unwrapped(gold: Value, answer: Value, both: bool) -> tuple[Value, Value]:
    if both:
        if isinstance(gold, Relation) and not isinstance(answer, Relation):
            gold = _assigned(gold)
        elif isinstance(answer, Relation) and not isinstance(gold, Relation):
            answer = _assigned(answer)
    return gold, answer


def _value(text: str) -> Value:
    from checkers.math.read import read

    return read(text, 1)


def _rows(matrix: Expr) -> list[list[Expr]] | None:
    return matrix.tolist() if isinstance(matrix, sympy.MatrixBase) else None


def _seq_rows(value: Value) -> list[list[Expr]] | None:
    if not isinstance(value, Seq) or value.kind == "{}":
        return None
    if all(isinstance(i, Seq) for i in value.items):
        return [
            [expression(x.text) for x in i.items if isinstance(x, Leaf)]
            for i in value.items
            if isinstance(i, Seq)
        ]
    if all(isinstance(i, Leaf) for i in value.items):
        return [[expression(i.text) for i in value.items if isinstance(i, Leaf)]]
    return None

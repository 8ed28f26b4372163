"""Compare the structures of two answers (read/values.py) under a policy.

Comparer.equal first looks at what both values say together (roundings), then asks
the first row of PAIRS that either value belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import sympy

from gradebox.checkers.math.compare import equations, lists, real_sets
from gradebox.checkers.math.compare.quantities import QuantityComparer
from gradebox.checkers.math.compare.rounding import rounds_to
from gradebox.checkers.math.compare.words import same_words
from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.split import as_interval
from gradebox.checkers.math.read.tables import LETTER, TEXT_CLOSE, TEXT_OPEN
from gradebox.checkers.math.read.values import (
    Quantity,
    RealSet,
    Relation,
    Rounded,
    Seq,
    Value,
    Words,
)

MAX_MATCHED = 60  # items of a list that are compared each with each


class Comparer(QuantityComparer):
    """One comparison under one policy; `equal` raises ParseError for unreadable expressions."""

    def equal(self, gold: Value, answer: Value) -> bool:
        """Return whether two answers are the same. The order of the checks below matters."""
        if isinstance(gold, Rounded) or isinstance(answer, Rounded):
            return any(
                self.equal(g, a) for g in self.alternatives(gold) for a in self.alternatives(answer)
            )
        if isinstance(answer, Relation) and not equations.chain_holds(answer):
            return False
        gold, answer = lists.same_shape(gold, answer)
        for one, other in ((gold, answer), (answer, gold)):
            if isinstance(one, Quantity) and isinstance(other, Seq) and other.joined_by_or:
                return all(self.equal(one, item) for item in other.items)  # 1/2 or 50%
        if real_sets.differ_in_unknown(gold, answer):
            return False
        compare = next(c for belongs, c in PAIRS if belongs(gold) or belongs(answer))
        return compare(self, gold, answer)

    def alternatives(self, value: Value) -> tuple[Value, ...]:
        """Return a rounded value and its decimal; () when the decimal is not its rounding."""
        if not isinstance(value, Rounded):
            return (value,)
        exact, decimal = equations.assigned(value.value), value.decimal
        if not isinstance(exact, Quantity):
            return ()
        scale = 100 if decimal.percent and not exact.percent else 1
        if not rounds_to(parse_expression(exact.text) * scale, decimal.text):
            return ()
        unit = exact.unit or decimal.unit
        if isinstance(value.value, Relation) and equations.is_assignment(value.value):
            tail = f"{TEXT_OPEN}{unit}{TEXT_CLOSE}" if unit else "%" * decimal.percent
            return value.value, Relation((value.value.sides[0], decimal.text + tail), ("=",))
        return replace(exact, unit=unit), replace(decimal, unit=unit)

    # -- words -----------------------------------------------------
    def words(self, gold: Value, answer: Value) -> bool:
        if isinstance(gold, Words) and isinstance(answer, Words):
            return same_words(gold.text, answer.text)
        word, other = (gold, answer) if isinstance(gold, Words) else (answer, gold)
        assert isinstance(word, Words)
        if isinstance(other, Quantity):
            plain = other.text.lower().lstrip("\\").replace("infty", "infinity")
            return plain == word.text or (":" in plain and plain in word.text.split())
        return False

    # -- sets of real numbers ------------------------------------------------------
    def real_sets(self, gold: Value, answer: Value) -> bool:
        relations = _relations_of(gold), _relations_of(answer)
        if all(relations) and (same := real_sets.same_relations(*relations)) is not None:
            return same
        left, right = real_sets.to_set(gold), real_sets.to_set(answer)
        if left is None or right is None:
            return False
        return real_sets.equal(left, right, self.same)

    # -- lists -----------------------------------------------------------------------
    def sequences(self, gold: Value, answer: Value) -> bool:
        if isinstance(gold, Relation) and isinstance(answer, Seq):
            gold = equations.assigned(gold)
        if isinstance(answer, Relation) and isinstance(gold, Seq):
            answer = equations.assigned(answer)
        matrix = self.matrices(gold, answer)
        if matrix is not None:
            return matrix
        left, right = map(lists.as_seq, lists.same_shape(gold, answer))
        if left is None or right is None:
            return False
        if len(left.items) != len(right.items):
            return self.with_repetitions(left, right)
        if lists.brackets_differ(left, right) and not self.policy.compare_sets:
            return False
        kinds = {left.kind, right.kind}
        unordered = kinds <= {"", "{}"} or kinds == {"{}", "[]"}
        unordered |= left.kind == "" and right.kind == "[]"  # as Python prints a list
        if kinds == {""} and equations.names_each_value(right) and not _relations_of(left):
            return any(  # 3, 4 is not `p = 4, q = 3`
                all(self.equal(*pair) for pair in zip(left.items, named.items, strict=True))
                for named in (right, equations.sorted_by_name(right))
            )
        ordered = self.ordered or (left.kind == right.kind == "" and lists.has_order(left))
        if self.policy.compare_sets or (unordered and not ordered):
            return self.in_any_order(left.items, right.items)
        left, right = equations.sorted_by_name(left), equations.sorted_by_name(right)
        pairs = zip(left.items, right.items, strict=True)
        return all(self.equal(g, a) for g, a in pairs)

    def with_repetitions(self, left: Seq, right: Seq) -> bool:
        """Compare two sets or lists. Sets, and lists of tuples, may repeat an item; others not."""
        if not {left.kind, right.kind} <= {"", "{}"}:
            return False
        a, b = (self.distinct(s) if lists.may_repeat(s) else list(s.items) for s in (left, right))
        return len(a) == len(b) and self.in_any_order(a, b)

    def distinct(self, seq: Seq) -> list[Value]:
        out: list[Value] = []
        for item in seq.items[:MAX_MATCHED]:
            if not any(self.equal(item, kept) for kept in out):
                out.append(item)
        return out + list(seq.items[MAX_MATCHED:])

    def in_any_order(self, gold: Sequence[Value], answer: Sequence[Value]) -> bool:
        """Return whether the items agree in some order."""
        if len(gold) > MAX_MATCHED:
            left, right = (sorted(re.sub(r"\s", "", repr(i)) for i in s) for s in (gold, answer))
            return left == right
        return real_sets.equal_in_any_order(gold, answer, self.equal)

    def matrices(self, gold: Value, answer: Value) -> bool | None:
        """Compare a matrix with a list, entry by entry; None when neither is a matrix."""
        if not lists.is_matrix(gold) and not lists.is_matrix(answer):
            return None
        left, right = lists.rows_of(gold), lists.rows_of(answer)
        if left is None or right is None:
            return False
        return self.numbers(sympy.Matrix(left), sympy.Matrix(right))

    # -- equations ---------------------------------------------------------------------
    def relations(self, gold: Value, answer: Value) -> bool:
        if isinstance(gold, Relation) and isinstance(answer, Relation):
            return self.equations(gold, answer)
        relation, other = (gold, answer) if isinstance(gold, Relation) else (answer, gold)
        assert isinstance(relation, Relation)
        if relation is answer and equations.says_a_power(relation, other):
            return False
        value = equations.read_side(relation.sides[-1])
        named = (
            (lists.is_matrix(value) and lists.is_matrix(other))
            or equations.is_assignment(relation)
            or (relation is gold and equations.states_a_number(relation))
            or (
                equations.names_a_number(relation, curves=relation is answer)
                and (equations.is_number(other) or len(relation.sides) > 2)
            )
        )
        if not named and not equations.is_calculation(relation):
            return False
        return self.equal(value, other) if relation is gold else self.equal(other, value)

    def equations(self, gold: Relation, answer: Relation) -> bool:
        if sorted(gold.sides) == sorted(answer.sides):
            return True
        names_gold, names_answer = equations.is_assignment(gold), equations.is_assignment(answer)
        values = equations.read_side(gold.sides[-1]), equations.read_side(answer.sides[-1])
        if not names_answer and equations.is_calculation(answer):
            of_numbers = not re.search("[A-Za-z]", answer.sides[0])  # not `-x = 2+3 = 5`
            if of_numbers if names_gold else equations.is_calculation(gold):
                return self.equal(*values)
        if names_gold and names_answer:
            letters = [{s for s in r.sides[:-1] if re.fullmatch(LETTER, s)} for r in (gold, answer)]
            if all(letters) and len(letters[0]) != len(letters[1]):
                return False  # `x = y = 1` is not `x = y = z = 1`
            answer = equations.with_argument_of(gold, answer)
            if equations.same_name(gold.sides[0], answer.sides[0]):
                return self.equal(values[0], equations.read_side(answer.sides[-1]))
            if len(gold.sides) > 2 or len(answer.sides) > 2:
                return False
        return equations.same_curve(gold, answer)


def _relations_of(value: Value) -> tuple[Relation, ...]:
    """Return a relation, or those of a plain list of relations; () for anything else."""
    items = value.items if isinstance(value, Seq) and value.kind == "" else (value,)
    relations = tuple(i for i in items if isinstance(i, Relation))
    return relations if len(relations) == len(items) else ()


def _is_a(kind: type[Value]) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, kind)


def _is_real_set(value: Value) -> bool:
    """Return whether a value is written as intervals or inequalities."""
    if isinstance(value, Relation):
        return not value.is_equation
    if isinstance(value, Seq):
        return value.kind == "" and any(map(_is_real_set, value.items))
    return isinstance(value, RealSet)


def _is_tuple(value: Value) -> bool:
    """Return whether a value is in round brackets and is no interval."""
    return isinstance(value, Seq) and value.kind == "()" and as_interval(value) is None


# whether a value belongs to a row, and how to compare it with any other value
PAIRS: tuple[tuple[Callable[[Value], bool], Callable[[Comparer, Value, Value], bool]], ...] = (
    (_is_a(Words), Comparer.words),
    (_is_tuple, Comparer.sequences),
    (_is_real_set, Comparer.real_sets),
    (_is_a(Seq), Comparer.sequences),
    (_is_a(Relation), Comparer.relations),
    (_is_a(Quantity), Comparer.quantities),
)

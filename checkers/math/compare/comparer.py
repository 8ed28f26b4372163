"""Compare the structures of two answers (parse/values.py) under a policy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gradebox.checkers.math.compare import assignments, numeric, real_sets, shapes
from gradebox.checkers.math.compare.assignments import (
    assigned,
    chain_holds,
    is_assignment,
    is_calculation,
    is_number,
    is_rounded_calculation,
    read_side,
    says_a_power,
)
from gradebox.checkers.math.compare.equations.curves import same_curve
from gradebox.checkers.math.compare.equations.differential import same_equation
from gradebox.checkers.math.compare.families import same_family
from gradebox.checkers.math.compare.matrices import (
    both_zero,
    is_matrix,
    rows_of,
    with_identity_matrix,
)
from gradebox.checkers.math.compare.piecewise import same_piecewise
from gradebox.checkers.math.compare.quantities import QuantityComparer
from gradebox.checkers.math.normalise.tables import TEXT_CLOSE, TEXT_OPEN
from gradebox.checkers.math.parse.expressions.latex import parse_expression
from gradebox.checkers.math.parse.expressions.tokens import ParseError
from gradebox.checkers.math.parse.reader import read_answer
from gradebox.checkers.math.parse.set_reader import as_interval
from gradebox.checkers.math.parse.values import (
    DateOrTime,
    Family,
    Quantity,
    Ratio,
    RealSet,
    Relation,
    Rounded,
    Seq,
    Value,
    Words,
)
from gradebox.checkers.math.statements.words import (
    canonical,
    is_predicate,
    same_numbering,
    same_words,
)

MAX_MATCHED = 60  # items of a list that are compared each with each


class Comparer(QuantityComparer):
    """One comparison under one policy; `equal` raises ParseError for unreadable expressions."""

    def equal(self, gold: Value, answer: Value) -> bool:
        """Return whether two answers are the same. The order of the checks below matters."""
        gold = assignments.as_rounded(gold)
        if isinstance(gold, Rounded) or isinstance(answer, Rounded):
            return any(
                self.equal(g, a) for g in self.alternatives(gold) for a in self.alternatives(answer)
            )
        if isinstance(answer, Relation) and not chain_holds(answer):
            return False
        family = same_family(gold, answer)
        if family is not None:
            return family
        by_cases = same_piecewise(gold, answer)
        if by_cases is not None:
            return by_cases
        gold, answer = (v.plain if isinstance(v, Family) else v for v in (gold, answer))
        gold, answer = shapes.same_shape(gold, answer)
        for one, other in ((gold, answer), (answer, gold)):
            if isinstance(one, Quantity) and isinstance(other, Seq) and other.joined_by_or:
                return all(self.equal(one, item) for item in other.items)  # 1/2 or 50%
        if isinstance(gold, Words) or isinstance(answer, Words):
            return self.words(gold, answer)
        if isinstance(gold, DateOrTime) or isinstance(answer, DateOrTime):
            return self.dates_or_times(gold, answer)
        gold, answer = map(real_sets.as_repeated, (gold, answer))
        if real_sets.differ_in_unknown(gold, answer):
            return False
        if (
            all(map(shapes.is_chain_or_list_of_numbers, (gold, answer)))
            or self.ordered
            or any(isinstance(v, Seq) and shapes.has_order(v) for v in (gold, answer))
        ):
            gold, answer = shapes.ranked_beside_list(gold, answer)
        parts = any(
            isinstance(v, Seq) and v.kind == "()" and as_interval(v) is None for v in (gold, answer)
        )
        if not parts and (self.is_real_set(gold) or self.is_real_set(answer)):
            return self.real_sets(_named_set(gold), _named_set(answer))
        if both_zero(gold, answer):
            return True
        if isinstance(gold, Seq) or isinstance(answer, Seq):
            return self.sequences(gold, answer)
        if isinstance(gold, Relation) or isinstance(answer, Relation):
            return self.relations(gold, answer)
        if isinstance(gold, Ratio) or isinstance(answer, Ratio):
            return self.ratios(gold, answer)
        assert isinstance(gold, Quantity) and isinstance(answer, Quantity)
        return self.quantities(*with_identity_matrix(gold, answer))

    def alternatives(self, value: Value) -> tuple[Value, ...]:
        """Return a rounded value and its decimal; () when the decimal is not its rounding.

        Only the decimal of a calculation with measured numbers, as its steps may be rounded too.
        """
        if not isinstance(value, Rounded):
            return (value,)
        exact, decimal = assigned(value.value), value.decimal
        if not isinstance(exact, Quantity):
            return ()
        scale = 100 if decimal.percent and not exact.percent else 1
        number = parse_expression(exact.text) * scale
        if not numeric.rounds_to(number, decimal.text):
            return (decimal,) if is_rounded_calculation(exact.text, number, decimal.text) else ()
        unit = exact.unit or decimal.unit
        if isinstance(value.value, Relation) and is_assignment(value.value):
            tail = f"{TEXT_OPEN}{unit}{TEXT_CLOSE}" if unit else "%" * decimal.percent
            return value.value, Relation((value.value.sides[0], decimal.text + tail), ("=",))
        return replace(exact, unit=unit), replace(decimal, unit=unit)

    # -- words, dates, times -----------------------------------------------------
    def words(self, gold: Value, answer: Value) -> bool:
        if isinstance(gold, Words) and isinstance(answer, Words):
            return same_words(gold.text, answer.text)
        word, other = (gold, answer) if isinstance(gold, Words) else (answer, gold)
        assert isinstance(word, Words)
        if isinstance(other, Relation) and other.is_equation:
            return other.sides[-1].lower() == word.text
        if other is answer and isinstance(other, Seq) and isinstance(other.items[-1], Words):
            return is_predicate(word.text, other.items[-1].text)  # `since …, the curve is a circle`
        if isinstance(other, Quantity) and canonical(word.text) == other.text.lstrip("\\").replace(
            "infty", "infinity"
        ):
            return True  # once, 1
        if isinstance(other, Quantity):
            plain = re.sub(r"[^a-z0-9 ]", "", other.text.lower())
            if plain and plain == word.text and not re.search(r"[-+*/^=_]", other.text):
                return True
        named = _as_words(other)
        if named.strip().isdigit() and not re.search("^[ivx]+$|quadrant", word.text):
            return False  # `fifth` is not 5
        return bool(named) and same_numbering(word.text, named)

    def dates_or_times(self, gold: Value, answer: Value) -> bool:
        if isinstance(gold, DateOrTime) and isinstance(answer, DateOrTime):
            if gold.kind != answer.kind:
                return False
            return shapes.same_time(gold, answer) if gold.kind == "clock" else gold == answer
        for one, other in ((gold, answer), (answer, gold)):
            if isinstance(one, DateOrTime) and one.kind == "clock" and shapes.may_be_ratio(other):
                if one.fields[2] or one.fields[3] or not one.fields[1]:
                    return False
                return self.ratios(Ratio((str(one.fields[0]), str(one.fields[1]))), other)
            if isinstance(one, DateOrTime) and isinstance(other, Relation) and other.is_equation:
                return self.equal(one, read_answer(other.sides[-1]))
        return False

    # -- sets of real numbers ------------------------------------------------------
    def is_real_set(self, value: Value) -> bool:
        """Return whether a value is written as intervals or inequalities."""
        if isinstance(value, Relation):
            return not value.is_equation
        if isinstance(value, Seq):
            return value.kind == "" and any(map(self.is_real_set, value.items))
        return isinstance(value, RealSet)

    def real_sets(self, gold: Value, answer: Value) -> bool:
        gold_relations, answer_relations = shapes.relations_of(gold), shapes.relations_of(answer)
        if gold_relations and answer_relations:
            same = real_sets.same_relations(gold_relations, answer_relations)
            if same is not None:
                return same
        left, right = real_sets.to_spans(gold), real_sets.to_spans(answer)
        if left is None or right is None:
            return False
        return real_sets.equal(left, right, self.same)

    # -- lists -----------------------------------------------------------------------
    def sequences(self, gold: Value, answer: Value) -> bool:
        if isinstance(gold, Relation) and isinstance(answer, Seq):
            gold = assigned(gold)
        if isinstance(answer, Relation) and isinstance(gold, Seq):
            answer = assigned(answer)
        matrix = self.matrices(gold, answer)
        if matrix is not None:
            return matrix
        left, right = map(shapes.as_seq, shapes.same_shape(gold, answer))
        if left is None or right is None:
            return False
        if len(left.items) != len(right.items):
            return self.with_repetitions(left, right)
        different = shapes.brackets_differ(left, right) or real_sets.interval_and_list(left, right)
        if different and not self.policy.compare_sets:
            return False
        kinds = {left.kind, right.kind}
        if kinds == {"{}"} and shapes.sets_in(left) != shapes.sets_in(right):
            return False  # {{1}, {2}} and {1, 2}
        unordered = kinds <= {"", "{}"} or kinds == {"{}", "[]"}
        unordered |= left.kind == "" and right.kind == "[]"  # as Python prints a list
        if kinds == {""} and assignments.names_each_value(right) and not _has_names(left):
            return any(  # 3, 4 is not `p = 4, q = 3`
                all(self.equal(*pair) for pair in zip(left.items, named.items, strict=True))
                for named in (right, assignments.sorted_by_name(right))
            )
        if self.policy.compare_sets or (
            unordered
            and not (self.ordered or (left.kind == right.kind == "" and shapes.has_order(left)))
        ):
            return not shapes.is_backwards(left, right) and self.in_any_order(
                left.items, right.items
            )
        left, right = assignments.sorted_by_name(left), assignments.sorted_by_name(right)
        pairs = zip(left.items, right.items, strict=True)
        return all(self.equal(*_unwrapped(g, a)) for g, a in pairs)

    def with_repetitions(self, left: Seq, right: Seq) -> bool:
        """Compare two sets or lists. Sets, and lists of tuples, may repeat an item; others not."""
        if not {left.kind, right.kind} <= {"", "{}"}:
            return False
        a, b = (self.distinct(s) if shapes.may_repeat(s) else list(s.items) for s in (left, right))
        return len(a) == len(b) and self.in_any_order(a, b)

    def distinct(self, seq: Seq) -> list[Value]:
        out: list[Value] = []
        for item in seq.items[:MAX_MATCHED]:
            if not any(self.equal(item, kept) for kept in out):
                out.append(item)
        return out + list(seq.items[MAX_MATCHED:])

    def in_any_order(self, gold: Sequence[Value], answer: Sequence[Value]) -> bool:
        """Return whether the items agree in some order; assignments agree by name."""
        unknowns = assignments.one_unknown(gold), assignments.one_unknown(answer)
        if all(unknowns) and assignments.same_unknown(*unknowns):
            gold, answer = [[assigned(v) for v in side] for side in (gold, answer)]
        if len(gold) > MAX_MATCHED:
            return sorted(map(shapes.item_text, gold)) == sorted(map(shapes.item_text, answer))
        left = list(answer)
        for item in gold:
            for i, other in enumerate(left):
                if self.equal(*_unwrapped(item, other)):
                    del left[i]
                    break
            else:
                return False
        return True

    def matrices(self, gold: Value, answer: Value) -> bool | None:
        """Compare a matrix with a list, entry by entry; None when neither is a matrix."""
        if not is_matrix(gold) and not is_matrix(answer):
            return None
        left, right = rows_of(gold), rows_of(answer)
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

    # -- equations ---------------------------------------------------------------------
    def relations(self, gold: Value, answer: Value) -> bool:
        gold, answer = assignments.name_first(gold), assignments.name_first(answer)
        if isinstance(gold, Relation) and isinstance(answer, Relation):
            return self.equations(gold, answer)
        relation, other = (gold, answer) if isinstance(gold, Relation) else (answer, gold)
        assert isinstance(relation, Relation)
        if relation is answer and says_a_power(relation, other):
            return False
        value = read_side(relation.sides[-1])
        named = (
            (is_matrix(value) and is_matrix(other))
            or is_assignment(relation)
            or (
                assignments.names_a_number(relation)
                and (is_number(other) or len(relation.sides) > 2)
            )
            or (relation is gold and assignments.is_numeric(relation))
        )
        if not named and not is_calculation(relation):
            return False
        return self.equal(value, other) if relation is gold else self.equal(other, value)

    def equations(self, gold: Relation, answer: Relation) -> bool:
        if sorted(gold.sides) == sorted(answer.sides) or same_equation(gold, answer):
            return True
        chains = [shapes.chained_assignments(r) for r in (gold, answer)]
        if any(chains):  # x = y = 1, x = y = z = 1, (x,y,z) = (1,1,1)
            left, right = (
                c or read_side(r.sides[-1]) for c, r in zip(chains, (gold, answer), strict=True)
            )
            return isinstance(left, Seq) and isinstance(right, Seq) and self.sequences(left, right)
        names_gold, names_answer = is_assignment(gold), is_assignment(answer)
        if (
            not names_answer
            and is_calculation(answer)
            and (not _states_its_name(gold, answer) if names_gold else is_calculation(gold))
        ):
            return self.equal(read_side(gold.sides[-1]), read_side(answer.sides[-1]))
        if names_gold and names_answer:
            answer = assignments.with_argument_of(gold, answer)
            if assignments.same_name(gold.sides[0], answer.sides[0]):
                answer = assignments.with_case_of(gold, answer)
                return self.equal(read_side(gold.sides[-1]), read_side(answer.sides[-1]))
            if len(gold.sides) > 2 or len(answer.sides) > 2:
                return False
        return same_curve(gold, answer)

    # -- ratios --------------------------------------------------------------------------
    def ratios(self, gold: Value, answer: Value) -> bool:
        sides = []
        for value in (gold, answer):
            if isinstance(value, Ratio):
                sides.append([parse_expression(p) for p in value.parts])
            elif isinstance(value, Quantity) and not value.unit:
                number = parse_expression(value.text)
                if value is gold and number.is_Integer and not _is_to_one(answer):
                    return False  # 15:3 is not 5
                sides.append([*number.as_numer_denom()])
            else:
                return False
        left, right = sides
        if len(left) != len(right):
            return False
        return all(
            self.numbers(left[i] * right[0], right[i] * left[0]) for i in range(1, len(left))
        )


def _is_to_one(ratio: Value) -> bool:
    return isinstance(ratio, Ratio) and len(ratio.parts) == 2 and ratio.parts[1] == "1"


def _has_names(seq: Seq) -> bool:
    return any(isinstance(item, Relation) for item in seq.items)


def _states_its_name(gold: Relation, answer: Relation) -> bool:
    """Return whether an answer, `-x = 2+3 = 5`, has the name of the gold, x, in its first side."""
    try:
        names = [parse_expression(r.sides[0]).free_symbols for r in (gold, answer)]
    except ParseError:
        return False
    return bool(names[0] & names[1])


def _as_words(value: Value) -> str:
    """Return `3 quadrant` and `ii, iv` as words; "" for a value that is not written so."""
    if isinstance(value, Quantity) and not (value.percent or value.degree):
        return f"{value.text} {value.unit}".lower()
    if isinstance(value, Words):
        return value.text
    if isinstance(value, Seq) and not value.kind and not value.joined_by_or:
        items = [_as_words(i) for i in value.items]
        return ", ".join(items) if all(items) else ""
    return ""


def _named_set(value: Value) -> Value:
    """Return the interval of `x = [2,5)`; every other value as it is."""
    if isinstance(value, Relation) and is_assignment(value) and not value.sides[0].startswith("("):
        named = assigned(value)
        if isinstance(named, Seq | RealSet):
            return replace(named, unknown=value.sides[0])
    return value


def _unwrapped(gold: Value, answer: Value) -> tuple[Value, Value]:
    """Replace an equation by its value when the other side is not an equation."""
    chained = any(isinstance(v, Relation) and len(v.sides) > 2 for v in (gold, answer))
    if chained and any(isinstance(v, Seq) for v in (gold, answer)):
        return gold, answer  # (1,1) and x = y = 1
    if isinstance(gold, Relation) and not isinstance(answer, Relation):
        return assigned(gold), answer
    if isinstance(answer, Relation) and not isinstance(gold, Relation):
        return gold, assigned(answer)
    return gold, answer

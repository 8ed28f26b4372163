"""Compare sets of whole numbers by their members between MIN and MAX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count, pairwise

import sympy

from gradebox.checkers.math.parse.expressions.latex import parse_expression
from gradebox.checkers.math.parse.expressions.tokens import ParseError
from gradebox.checkers.math.statements.integer_atoms import Atom
from gradebox.checkers.math.statements.integer_sets import Form, IntegerSet, Listed, Part

MIN, MAX = -130, 260
MAX_STEPS = 600  # values of a form that are computed
_ALL = range(MIN, MAX + 1)


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def _is_power(n: int, base: int) -> bool:
    while base > 1 and n > 1 and n % base == 0:
        n //= base
    return n == 1


_TESTS: dict[str, Callable[..., bool]] = {
    "residue": lambda n, m, *rs: any((n - r) % m == 0 for r in rs),
    "multiple": lambda n, m: n % m == 0,
    "power": _is_power,
    "divisor": lambda n, m: n > 0 and m % n == 0,
    "square": lambda n: n >= 0 and int(n**0.5 + 0.5) ** 2 == n,
    "cube": lambda n: round(abs(n) ** (1 / 3)) ** 3 == abs(n),
    "triangular": lambda n: n >= 0 and int((8 * n + 1) ** 0.5 + 0.5) ** 2 == 8 * n + 1,
    "prime": _is_prime,
    "composite": lambda n: n > 1 and not _is_prime(n),
    "ge": lambda n, m: n >= m,
    "gt": lambda n, m: n > m,
    "le": lambda n, m: n <= m,
    "lt": lambda n, m: n < m,
    "ne": lambda n, m: n != m,
    "is": lambda n, m: n == m,
}
_FROM_BELOW = frozenset(["ge", "gt", "is", "divisor", "prime", "power", "composite"])
Members = tuple[frozenset[int], bool]  # those in the window; whether negative ones are settled


def same_members(a: IntegerSet, b: IntegerSet) -> bool:
    """Return whether two sets have the same members; negative ones count where both say them.

    Raises ParseError for a form that cannot be evaluated.
    """
    for left in _readings(a):
        for right in _readings(b):
            (x, x_settled), (y, y_settled) = members(left), members(right)
            positive = [{n for n in s if n > 0} for s in (x, y)]
            if positive[0] != positive[1] or not (x and y):
                continue
            if x == y or not (x_settled and y_settled):
                return True
    return False


def _readings(whole: IntegerSet) -> Iterator[IntegerSet]:
    """Yield the set with the natural numbers from 0 and from 1, where a form speaks of them."""
    if not any(isinstance(p, Form) and p.low == "0 or 1" for p in whole.parts):
        yield whole
        return
    for low in (0, 1):
        parts = tuple(
            Form(p.text, p.letter, low, p.high) if isinstance(p, Form) else p for p in whole.parts
        )
        yield IntegerSet(parts, whole.domain, whole.stated, whole.first)


def members(whole: IntegerSet) -> Members:
    """Return the members of a set in the window, and whether the text settles the negative ones."""
    found = [_members_of(part) for part in whole.parts]
    union = frozenset().union(*(f for f, _ in found))
    settled = all(s for _, s in found) or whole.domain in ("Z", "N", "N0")
    if whole.domain in ("N", "N0"):
        union = frozenset(n for n in union if n > (0 if whole.domain == "N" else -1))
    if whole.domain == "prime":
        union, settled = frozenset(filter(_is_prime, union)), True
    if whole.first:
        union = frozenset(sorted(n for n in union if n > 0)[: whole.first])
        settled = True
    return union, settled


def _members_of(part: Part) -> Members:
    if isinstance(part, Listed):
        return _listed(part), True
    if isinstance(part, Form):
        return _values(part)
    return (
        frozenset(n for n in _ALL if all(_holds(a, n) for a in part)),
        any(a.kind in _FROM_BELOW and not a.negated for a in part),
    )


def _holds(atom: Atom, n: int) -> bool:
    return _TESTS[atom.kind](n, *atom.args) is not atom.negated


def _values(form: Form) -> Members:
    expr = parse_expression(form.text)
    letter = sympy.Symbol(form.letter)
    if expr.free_symbols != {letter}:
        raise ParseError("a form with another letter than its own")
    in_exponent = not expr.is_polynomial(letter)
    unsaid = form.low == ""
    low = (0 if in_exponent else None) if unsaid or form.low is None else int(form.low)
    found: set[int] = set()
    runs: list[Iterable[int]] = [count(0), count(-1, -1)]
    if low is not None:
        runs = [count(low) if form.high is None else range(low, form.high + 1)]
    for run in runs:
        outside = 0
        for step, k in enumerate(run):
            value = expr.subs(letter, k)
            if not value.is_Integer:
                raise ParseError("a form with values that are not whole numbers")
            outside = outside + 1 if not MIN <= value <= MAX else 0
            if outside > 3 or step > MAX_STEPS:
                break
            found.add(int(value))
    return frozenset(n for n in found if MIN <= n <= MAX), not (unsaid and not in_exponent)


def _listed(part: Listed) -> frozenset[int]:
    """Return listed numbers; with dots, those of the first rule that fits."""
    numbers = part.numbers
    if not part.more:
        return frozenset(numbers)
    if len(numbers) < 3:
        raise ParseError("dots after fewer than three numbers")
    step = numbers[1] - numbers[0]
    if step and all(b - a == step for a, b in pairwise(numbers)):
        up = ">" in part.more
        start = numbers[0] if step > 0 or "<" not in part.more else numbers[-1]
        return frozenset(
            n for n in _ALL
            if (n - start) % abs(step) == 0
            and (part.more == "<>" or (n >= start if up == (step > 0) else n <= start))
        )  # fmt: skip
    ratio, rest = divmod(numbers[1], numbers[0] or 1)
    geometric = ratio > 1 and not rest and all(b == a * ratio for a, b in pairwise(numbers))
    if part.more == ">" and geometric:
        return frozenset(numbers[0] * ratio**i for i in range(12)) & frozenset(_ALL)
    for kind in ("prime", "square", "cube", "triangular"):
        sequence = [n for n in _ALL if _TESTS[kind](n) and n >= numbers[0]]
        if part.more == ">" and sequence[: len(numbers)] == list(numbers):
            return frozenset(sequence)
    raise ParseError("dots that no rule explains")

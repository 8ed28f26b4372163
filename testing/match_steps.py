"""How many steps a regular expression takes: a matcher by backtracking that counts.

    steps(re.compile(r"\\w+\\("), "a" * 100)   5,000: from each letter to the end
    steps(re.compile(r"(?<!\\w)\\w+\\("), …)    200

Python's matcher goes the same way but does not say how far. A step is one item of the expression
that is compared at one place. Names of groups and lookbehind of several widths are not needed.
"""

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

# No public name has the tree of a pattern.
_NAMES = (
    ("re._constants", "re._parser")
    if sys.version_info >= (3, 11)
    else ("sre_constants", "sre_parse")
)
sre, parser = (import_module(name) for name in _NAMES)

sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))
Next = Callable[[int], "int | None"]
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    sre.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
    sre.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    sre.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT)


def steps(pattern: re.Pattern[Any], text: str, *, once: bool = False, whole: bool = False) -> int:
    """Return the steps of finding all matches in a text, one after another.

    once   it is tried at the beginning of the text only (`match`)
    whole  the same, and it must match all of the text (`fullmatch`)
    """
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    found = _Matcher(text, pattern.flags)
    items = list(parser.parse(pattern.pattern, flags))
    at = 0
    while at <= (0 if once or whole else len(text)):
        end = found.match(items, at, lambda place: None if whole and place < len(text) else place)
        at = at + 1 if end is None else max(end, at + 1)
    return found.steps


class _Matcher:
    def __init__(self, text: str, flags: int) -> None:
        self.text, self.flags, self.steps = text, flags, 0

    def match(self, items: list[Any], at: int, then: Next) -> int | None:
        """Return the end of the first match of items at a place with what follows them."""
        if not items:
            return then(at)
        (op, argument), *rest = items
        self.steps += 1
        if op in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            fits = at < len(self.text) and self._fits(op, argument, self.text[at])
            return self.match(rest, at + 1, then) if fits else None
        if op is sre.AT:
            return self.match(rest, at, then) if self._is_at(argument, at) else None
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            direction, inner = argument
            start = at if direction > 0 else at - inner.getwidth()[1]
            met = start >= 0 and self.match(list(inner), start, lambda end: end) is not None
            return self.match(rest, at, then) if met == (op is sre.ASSERT) else None
        if op in _REPEATS:
            least, most, inner = argument
            return self._repeated(
                list(inner), least, int(most), at, lambda end: self.match(rest, end, then), op
            )
        for alternative in self._alternatives(op, argument):
            end = self.match(alternative, at, lambda end: self.match(rest, end, then))
            if end is not None:
                return end
        return None

    def _alternatives(self, op: Any, argument: Any) -> Iterator[list[Any]]:
        if op is sre.BRANCH:
            yield from map(list, argument[1])
        elif op is sre.SUBPATTERN:
            yield list(argument[3])
        else:
            raise NotImplementedError(str(op))

    def _repeated(
        self, inner: list[Any], least: int, most: int, at: int, then: Next, op: Any
    ) -> int | None:
        if len(inner) == 1 and inner[0][0] in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return self._run(inner[0], least, most, at, then, op)

        def again(end: int) -> int | None:
            if end == at and least <= 0:
                return None
            return self._repeated(inner, least - 1, most - 1, end, then, op)

        ways = [lambda: self.match(inner, at, again) if most > 0 else None]
        if least <= 0:
            ways.insert(0 if op is sre.MIN_REPEAT else 1, lambda: then(at))
        return next((end for way in ways if (end := way()) is not None), None)

    def _run(self, one: Any, least: int, most: int, at: int, then: Next, op: Any) -> int | None:
        """Match a repeated character: as many as fit, then what follows, from the one end."""
        last = at
        while last < len(self.text) and last - at < most and self._fits(*one, self.text[last]):
            last += 1
            self.steps += 1
        ends = range(at + least, last + 1)
        for end in ends if op is sre.MIN_REPEAT else reversed(ends):
            self.steps += 1
            if (found := then(end)) is not None:
                return found
        return None

    def _fits(self, op: Any, argument: Any, sign: str) -> bool:
        if op is sre.ANY:
            return sign != "\n" or bool(self.flags & re.DOTALL)
        if op is sre.IN:
            negated = argument[0][0] is sre.NEGATE
            return any(self._is_in(item, sign) for item in argument[negated:]) != negated
        return self._is_in((sre.LITERAL, argument), sign) == (op is sre.LITERAL)

    def _is_in(self, item: Any, sign: str) -> bool:
        kind, argument = item
        signs = {sign.lower(), sign.upper()} if self.flags & re.IGNORECASE else {sign}
        if kind is sre.LITERAL:
            return chr(argument) in signs
        if kind is sre.RANGE:
            return any(len(s) == 1 and argument[0] <= ord(s) <= argument[1] for s in signs)
        return _CATEGORIES[argument](sign)

    def _is_at(self, place: Any, at: int) -> bool:
        text, lines = self.text, self.flags & re.MULTILINE
        if place is sre.AT_BEGINNING:
            return at == 0 or bool(lines and text[at - 1] == "\n")
        if place is sre.AT_BEGINNING_STRING:
            return at == 0
        if place is sre.AT_END_STRING:
            return at == len(text)
        if place is sre.AT_END:
            return at == len(text) or (text[at] == "\n" and (bool(lines) or at == len(text) - 1))
        sides = [0 <= i < len(text) and (text[i].isalnum() or text[i] == "_") for i in (at - 1, at)]
        return (sides[0] != sides[1]) == (place is sre.AT_BOUNDARY)

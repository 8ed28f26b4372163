"""Results of calls that programs of other languages write, and the values that tests expect.

    (std::vector<long>({(long)2, (long)4}))    ─▶ [2, 4]
    HashMap::from([(String::from("a"), 2)])    ─▶ {"a": 2}
    map[string]int{"a":2}                      ─▶ {"a": 2}
    Pair.with(1l, Optional.empty())            ─▶ [1, None]

A literal is read as JSON's value: numbers and containers have no type (a float of 32 bits is
rounded), an optional is its value or None, keys are texts. Anything that is not a literal, by a
single token, is unreadable: names, operators, calls of other functions than the constructors here.

A program writes its results behind what else it prints, a literal for each call:

    \\x1egradebox results
    [2, 4]
    vec!["a"]

The expected output has as many lines of JSON. Values are compared as the tests do: exactly; by
`==` of JavaScript, which finds 1 equal to "1"; by that of C++, which finds 1 equal to true.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, get_args

from gradebox.checkers.check import Check, accept, reject, unclear
from gradebox.checkers.tokens import shown
from gradebox.sandbox.source_tokens import Style, Token, tokens

MOST_DEPTH, MOST_DIGITS = 100, 400
_WORDS = {
    "true": True,
    "false": False,
    **dict.fromkeys(("null", "undefined", "nil", "None", "nullopt")),
}
# What is made of a bracket behind a name: a list, a dict, the one value in it, or None.
_HEADS = {
    "list": "Arrays.asList List.of std.make_tuple vec slice Unit.with Pair.with Triplet.with "
    "Quartet.with Quintet.with Sextet.with Septet.with Octet.with Ennead.with Decade.with",
    "dict": "std.map HashMap HashMap.from HashMap.new Map.of map",
    "one": "ArrayList Optional.of Some String.from Vec.new float std.optional std.string "
    "std.tuple std.vector",
    "none": "Optional.empty",
}
_KINDS = {"": "one", **{head: kind for kind, heads in _HEADS.items() for head in heads.split()}}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_NUMBER = re.compile(r"(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)([lLfF]?)(?!\w)")
_ESCAPE = re.compile(
    r"\\(?:x([\da-fA-F]{2})|u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))",
    re.DOTALL,
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


class _Bracket:
    """An open bracket and what is in it so far.

    head    the name before it; names are joined by dots
    name    the name that the next bracket would have
    filled  the place behind the last comma has its value
    typed   it has words that are not values, behind the last comma
    """

    def __init__(self, sign: str, head: str) -> None:
        self.sign, self.head, self.name = sign, head, ""
        self.values: list[Any] = []
        self.filled = self.typed = self.parted = False

    def add(self, value: Any) -> None:
        if self.filled:
            raise ValueError("two values without a comma")
        self.values.append(value)
        self.filled, self.name = True, ""

    def part(self) -> None:
        if not self.filled:
            raise ValueError("a comma without a value")
        self.filled, self.typed, self.parted = False, False, True

    def end(self, style: Style) -> list[Any]:
        """Return the value of the whole bracket, [] for a cast."""
        values, kind = self.values, _KINDS.get(self.head, "")
        cast = self.sign == "(" and not (values or self.parted or self.head)
        if self.typed and not self.filled and not cast:
            raise ValueError("a name")
        if kind == "dict" or (self.sign == "{" and style in ("javascript", "rust")):
            return [_dict(values)]
        if kind == "none" and not values:
            return [None]
        if self.sign != "(":
            return [values]
        if values == [None] and self.head == "slice":  # Go's nil is written like an empty slice
            return [[]]
        if kind == "one" and len(values) == 1 and not self.parted:
            return values
        if style == "javascript" and values:  # the comma operator
            return values[-1:]
        return [] if self.typed and not values else [values]


def _dict(values: list[Any]) -> dict[str, Any]:
    """Return the dict of its keys and values in turn, of pairs, or of a list of pairs."""
    if len(values) == 1:
        (one,) = values
        if isinstance(one, dict):
            return one
        values = [] if one is None else one if isinstance(one, list) else values
    if all(isinstance(pair, list) and len(pair) == 2 for pair in values):
        pairs = values
    elif len(values) % 2 == 0:
        pairs = list(zip(values[::2], values[1::2], strict=True))
    else:
        raise ValueError("a key without a value")
    return {key if isinstance(key, str) else json.dumps(key): value for key, value in pairs}


def read_literal(text: str, style: Style) -> Any:
    """Return the value of a literal, in one pass. Raises ValueError for another text."""
    stack = [_Bracket("", "")]
    source = (token for token in tokens(text, style) if token[0] != "line")
    before, done = "", 0
    for kind, word, start in source:
        top = stack[-1]
        if start < done:  # within a number
            continue
        if kind == "string":
            top.add(_text(word))
        elif kind == "word" and word[0].isdigit():
            value, done = _number(text, start, style)
            top.add(value)
        elif kind == "word" and word in _WORDS:
            top.add(_WORDS[word])
        elif kind == "word":
            _name(top, word, before, source, style)
        elif kind != "sign":
            raise ValueError(f"a {kind}")
        elif word == "[" and style == "go":
            _skip(source, "[", "]")
            top.name = top.name or "slice"
        elif word == "<" and (top.name or before == ":"):
            _skip(source, "<", ">")
        elif word in _CLOSING:
            if top.name not in _KINDS or len(stack) > MOST_DEPTH:
                raise ValueError(f"{top.name or 'brackets'}{word}")
            stack.append(_Bracket(word, top.name))
            top.name = ""
        elif len(stack) > 1 and word == _CLOSING[top.sign]:
            stack.pop()
            for value in top.end(style):
                stack[-1].add(value)
        elif word == "," or (word == ":" and top.filled):
            top.part()
        elif word not in ":.!<>" and not (word == "-" and text[start + 1 : start + 2].isdigit()):
            raise ValueError(f"the sign {word}")
        before = word
    (top, *others) = stack
    if others or not top.filled or top.parted:
        raise ValueError("brackets or a value are missing")
    return top.values[0]


def _name(top: _Bracket, word: str, before: str, source: Iterator[Token], style: Style) -> None:
    """Take note of a name or a type before a bracket."""
    top.typed = True
    if style == "go" and word == "interface":
        _skip(source, "", "}")
    elif style != "go" or top.name not in ("slice", "map"):
        top.name = f"{top.name}.{word}" if before in (".", ":") and top.name else word


def _skip(source: Iterator[Token], opening: str, closing: str) -> None:
    depth = 1
    for _, word, _ in source:
        depth += (word == opening) - (word == closing)
        if depth == 0:
            return
    raise ValueError(f"no {closing}")


def _number(text: str, start: int, style: Style) -> tuple[float, int]:
    found = _NUMBER.match(text, start)
    if found is None or found.end() - start > MOST_DIGITS:
        raise ValueError(f"the number {text[start : start + 40]}")
    digits, suffix = found.groups()
    value: float = int(digits) if digits.isdigit() and style != "javascript" else float(digits)
    try:
        if suffix in ("f", "F"):
            (value,) = struct.unpack("f", struct.pack("f", value))
        if isinstance(value, float) and value.is_integer():
            value = int(value)
    except OverflowError:
        value = math.inf
    if value == math.inf:
        raise ValueError(f"the number {digits[:40]}")
    return (-value if text[start - 1 : start] == "-" else value), found.end()


def _text(word: str) -> str:
    if len(word) < 2 or word[0] not in "\"'" or word[-1] != word[0]:
        raise ValueError("a string that does not end")
    text = word[1:-1]
    if "\\" in text:
        try:
            text = _ESCAPE.sub(_escaped, text)
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        except ValueError:
            raise ValueError("an escape that is no character") from None
    return text


def _escaped(found: re.Match[str]) -> str:
    *codes, sign = found.groups()
    code = next((c for c in codes if c), "")
    return chr(int(code, 16)) if code else _ESCAPED.get(sign, sign)


# ---- results of calls against what tests expect ----

RESULTS = "\n\x1egradebox results\n"
_LOOSE = ("c++", "javascript")


def judge_results(style: Style, output: bytes, expected: bytes) -> Check:
    """Judge what a program wrote; an empty `expected` stands for tests that cannot be read."""
    if not expected:
        return unclear("the tests are not calls whose results are compared with literals")
    wanted = expected.split(b"\n")[:-1]
    _, begun, results = output.rpartition(RESULTS.encode())
    found = results.split(b"\n", len(wanted))
    if not begun or len(found) <= len(wanted):
        return reject("the program ended before its last call")
    for number, (text, line) in enumerate(zip(found, wanted, strict=False), start=1):
        try:
            value = read_literal(text.decode("utf-8", "surrogateescape"), style)
        except ValueError as error:
            return reject(f"call {number}: the result has {error}")
        if not _equal(value, json.loads(line), style in _LOOSE):
            return reject(f"call {number}: expected {shown(line)}, found {shown(text)}")
    return accept("every call returned what the tests expect")


def _equal(a: Any, b: Any, loose: bool) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_equal(x, y, loose) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key], loose) for key in a)
    if isinstance(a, bool) != isinstance(b, bool) and not loose:
        return False
    scalars = not {type(a), type(b)} & {type(None), list, dict}
    if loose and scalars and isinstance(a, str) != isinstance(b, str):
        a, b = _as_number(a), _as_number(b)
    return bool(a == b)


def _as_number(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        return float("nan") if value.strip() else 0.0


RESULT_JUDGES: Mapping[str, Callable[[bytes, bytes], Check]] = {
    f"results-{style}": partial(judge_results, style) for style in get_args(Style)
}

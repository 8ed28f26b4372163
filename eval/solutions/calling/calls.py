"""The calls of tests and what each must return, read from tests of the form that MultiPL-E writes.

    assert(candidate((1), "a") == (true));  ─▶ Call(arguments='(1), "a"', expected=True, …)

Tests in any other form, by a single token, are not read: they may mean something else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gradebox.checkers.values.literals import Unreadable, read_literal
from gradebox.eval.solutions.calling.source import NOWHERE, Source
from gradebox.sandbox.source_tokens import Style


@dataclass(frozen=True)
class Call:
    """One call: the text of its arguments, what it must return, and the text of that."""

    arguments: str
    expected: Any
    literal: str


# What tests of each language begin with, how each call is written, and what they end with. Words in
# capitals are the function, any name, or any text whose brackets are pairs.
_FORMS: dict[Style, tuple[str, tuple[str, ...], str]] = {
    "c++": (
        "int main() { auto candidate = ENTRY;",
        ("assert(candidate(ARGUMENTS) == EXPECTED);",),
        "}",
    ),
    "rust": (
        "fn main() { let candidate = ENTRY;",
        ("assert_eq!(candidate(ARGUMENTS), EXPECTED);",),
        "}",
    ),
    "java": (
        "public static void main(String[] args) {",
        ("assert(ENTRY(ARGUMENTS) == EXPECTED);", "assert(ENTRY(ARGUMENTS).equals(EXPECTED));"),
        "} }",
    ),
    "javascript": (
        "const assert = require('node:assert'); function test() { let candidate = ENTRY;",
        ("assert.deepEqual(candidate(ARGUMENTS), EXPECTED);",),
        "} test();",
    ),
    "go": (
        "func NAME(t *testing.T) { candidate := ENTRY\n"
        "type test struct { actual interface{}\n expected interface{} } tests := []test{",
        ("{ actual: candidate(ARGUMENTS), expected: EXPECTED },",),
        "} for i, tc := range tests { "
        't.Run(fmt.Sprintf("test num % d", i), func(t *testing.T) { '
        'if fmt.Sprintf("%v", tc.actual) != fmt.Sprintf("%v", tc.expected) { '
        "t.Errorf(\"expected '%s', got '%s'\", tc.expected, tc.actual) } }) } }",
    ),
}


@lru_cache(512)
def read_calls(tests: str, entry: str, style: Style) -> tuple[Call, ...]:
    """Return the calls of tests in their order, none when the tests are not of the known form.

    tests  without the brace that closes the function of the prompt
    """
    before, forms, after = _FORMS[style]
    source = Source(tests, style)
    at, _ = _match(source, 0, _pattern(before, style), entry)
    calls: list[Call] = []
    while at != NOWHERE:
        tried = (_match(source, at, _pattern(form, style), entry) for form in forms)
        end, texts = next((found for found in tried if found[0] != NOWHERE), (NOWHERE, {}))
        if end == NOWHERE:
            break
        try:
            value = read_literal(texts["EXPECTED"], style)
        except Unreadable:
            return ()
        calls.append(Call(texts["ARGUMENTS"], value, texts["EXPECTED"]))
        at = end
    end, _ = _match(source, at, _pattern(after, style), entry)
    return tuple(calls) if end == len(source.words) else ()


@lru_cache(64)
def _pattern(text: str, style: Style) -> tuple[str, ...]:
    return tuple(Source(text, style).words)


def _match(
    source: Source, at: int, pattern: tuple[str, ...], entry: str
) -> tuple[int, dict[str, str]]:
    """Return where a pattern ends, NOWHERE when it is not at a place, and the texts in it."""
    found: dict[str, str] = {}
    for wanted in pattern:
        if at == NOWHERE:
            break
        start, word = at, source.word(at)
        if wanted in ("ARGUMENTS", "EXPECTED"):
            while word not in (")", "]", "}", "") and not (word == "," and wanted == "EXPECTED"):
                at = source.partner(at) if word in ("(", "[", "{") else at
                at = at + 1 if at != NOWHERE else len(source.words)
                word = source.word(at)
            found[wanted] = source.between(start - 1, at).strip() if word else ""
        elif wanted == "NAME" or word == (entry if wanted == "ENTRY" else wanted):
            at += 1
        else:
            at = NOWHERE
    return at, found

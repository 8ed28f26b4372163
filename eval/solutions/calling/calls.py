"""What programs that make the calls of tests consist of: tokens of sources, parts, calls.

    assert(candidate((1), "a") == (true));  ─▶ Call(arguments='(1), "a"', expected=True, …)

Calls are read from tests of the forms that MultiPL-E and HumanEval-X have. Tests that differ by a
single token are not read: they may mean something else. Sources are searched by their tokens,
so that the work is linear whatever they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from gradebox.checkers.values.literals import read_literal
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.source_tokens import Style, tokens

_OPENING, _CLOSING = "([{", ")]}"
NOWHERE = -1


class Source:
    """The tokens of a text without comments and line ends.

    words   the text of each token
    starts  where each token begins
    first   the numbers of those that are the first of their line
    """

    def __init__(self, text: str, style: Style) -> None:
        self.text = text
        self.words: list[str] = []
        self.starts: list[int] = []
        self.first: list[int] = []
        new_line = True
        for kind, word, start in tokens(text, style):
            if kind == "line":
                new_line = True
            elif kind != "comment":
                if new_line:
                    self.first.append(len(self.words))
                    new_line = False
                self.words.append(word)
                self.starts.append(start)

    def word(self, at: int) -> str:
        """Return a token, "" outside."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def has(self, words: Sequence[str], at: int) -> bool:
        """Return whether some tokens are at a place."""
        return self.words[at : at + len(words)] == list(words)

    def every(self, *words: str) -> Iterator[int]:
        """Yield where these tokens are."""
        first = words[0]
        return (at for at, w in enumerate(self.words) if w == first and self.has(words, at))

    def holds(self, *words: str) -> bool:
        """Return whether these tokens are anywhere."""
        return next(self.every(*words), NOWHERE) != NOWHERE

    def between(self, first: int, last: int) -> str:
        """Return the text between two tokens."""
        return self.text[self.starts[first] + len(self.words[first]) : self.starts[last]]

    def replaced(self, changes: dict[int, str]) -> str:
        """Return the text with other texts in the place of some tokens."""
        parts, begin = list[str](), 0
        for at in sorted(changes):
            parts += [self.text[begin : self.starts[at]], changes[at]]
            begin = self.starts[at] + len(self.words[at])
        return "".join((*parts, self.text[begin:]))

    def without_main(self, *heads: str) -> str:
        """Return the text without its function `main`; the numbers of lines stay.

        heads  what it may begin with on its line, up to its parameters; words between spaces
        """
        wanted = [head.split() for head in heads]
        for at in self.first:
            head = next((words for words in wanted if self.has(words, at)), None)
            if head is None:
                continue
            body = self.partner(at + len(head) - 1)
            while body != NOWHERE and self.word(body) not in ("{", ";", ""):
                body += 1
            if (end := self.partner(body)) != NOWHERE:
                return self.replaced(dict.fromkeys(range(at, end + 1), ""))
        return self.text

    @cached_property
    def partners(self) -> dict[int, int]:
        """The other bracket of each that has one."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for at, word in enumerate(self.words):
            if word in _OPENING:
                opened.append(at)
            elif word in _CLOSING and opened:
                if _OPENING.index(self.words[opened[-1]]) != _CLOSING.index(word):
                    break
                found[at] = opened[-1]
                found[opened.pop()] = at
        return found

    def partner(self, at: int) -> int:
        """Return the other bracket of a pair, NOWHERE without one."""
        return self.partners.get(at, NOWHERE)


@dataclass(frozen=True)
class Parts:
    """What a program is made of.

    language  of the tests, by its name in the table
    prompt    comments and declarations, and the first line of the function
    entry     the name of the function
    tests     their text; it may begin with the brace that closes the function
    stop      texts at which a completion of the prompt ends
    code      the answer
    whole     the tokens of an answer that defines the whole function; None: it continues the prompt
    """

    language: str
    prompt: str
    entry: str
    tests: str
    stop: tuple[str, ...] = ()
    code: str = ""
    whole: Source | None = None

    def answered(self, code: str, whole: Source | None) -> Parts:
        """Return the parts with an answer; one that continues the prompt is cut at `stop`.

        Where the tests do not close the function, prompt and answer are the whole function.
        """
        style = BRACES.get(self.language)
        if whole is None and style and not self.tests.lstrip().startswith("}"):
            code = self.prompt + code
            whole = Source(code, style)
        if whole is None:
            found = [at for stop in self.stop if stop and (at := code.find(stop)) >= 0]
            code = code[: min(found, default=len(code))]
        return replace(self, code=code, whole=whole)

    @property
    def preamble(self) -> str:
        """The prompt without its last line, which is the first line of the function."""
        return self.prompt.rstrip().rpartition("\n")[0]

    @property
    def signature(self) -> str:
        """The first line of the function without the brace that opens it. Raises BadRequest."""
        line = self.prompt.rstrip().rpartition("\n")[2].strip()
        if self.entry not in line or not line.endswith("{"):
            raise BadRequest(f"the prompt does not end in the first line of {self.entry}")
        return line.removesuffix("{").rstrip()

    @property
    def own_tests(self) -> str:
        """The tests without the brace that closes the function of the prompt."""
        return self.tests.lstrip().removeprefix("}")


@dataclass(frozen=True)
class Call:
    """One call: the text of its arguments, the value it must return, and the value's text."""

    arguments: str
    expected: Any
    literal: str


# Languages whose tests by MultiPL-E begin with the brace that closes the function.
BRACES: dict[str, Style] = {"c++17": "c++", "rust": "rust", "java": "java"}
# What tests of each language begin with, how each call is written, and what they end with. In
# capitals: the function (ENTRY), any NAME, any text whose brackets are pairs (ARGUMENTS, EXPECTED),
# or functions that compare (HELPERS).
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


# The same for HumanEval-X and HumanEvalPack, written by hand: `;` or `,` may follow each call.
_FREE_FORMS: dict[Style, tuple[str, tuple[str, ...], str]] = {
    "c++": (
        "#undef NDEBUG\n#include<assert.h>\nHELPERS int main(){",
        (
            *("assert(ENTRY(ARGUMENTS) == EXPECTED)", "assert(issame(ENTRY(ARGUMENTS), EXPECTED))"),
            *("assert(ENTRY(ARGUMENTS))", "assert(not ENTRY(ARGUMENTS))"),
        ),
        "}",
    ),
    "rust": (
        "#[cfg(test)] mod tests { use super::*; #[test] fn NAME() {",
        (
            *("assert_eq!(ENTRY(ARGUMENTS), EXPECTED)", "assert!(ENTRY(ARGUMENTS) == EXPECTED)"),
            *("assert!(ENTRY(ARGUMENTS))", "assert!(!ENTRY(ARGUMENTS))"),
        ),
        "} }",
    ),
    "java": (
        "public class Main { public static void main(String[] args) { Solution s = new Solution(); "
        "List<Boolean> correct = Arrays.asList(",
        (
            *("s.ENTRY(ARGUMENTS) == EXPECTED", "s.ENTRY(ARGUMENTS).equals(EXPECTED)"),
            *("Objects.equals(s.ENTRY(ARGUMENTS), EXPECTED)", "s.ENTRY(ARGUMENTS)"),
            "!s.ENTRY(ARGUMENTS)",
        ),
        "); if (correct.contains(false)) { throw new AssertionError(); } } }",
    ),
    "javascript": (
        "const NAME = () => {",
        (
            "console.assert(ENTRY(ARGUMENTS) === EXPECTED)",
            "console.assert(JSON.stringify(ENTRY(ARGUMENTS)) === JSON.stringify(EXPECTED))",
        ),
        "} NAME()",
    ),
    "go": (
        "func NAME(t *testing.T) { assert := assert.New(t)",
        ("assert.Equal(EXPECTED, ENTRY(ARGUMENTS))",),
        "}",
    ),
}


@lru_cache(512)
def read_calls(tests: str, entry: str, style: Style) -> tuple[Call, ...]:
    """Return the calls of tests in their order, none when the tests are not of a known form.

    tests  without the brace that closes the function of the prompt
    """
    source = Source(tests, style)
    exact = _read(source, entry, style, _FORMS[style], ())
    return exact or _read(source, entry, style, _FREE_FORMS[style], (";", ","))


def _read(
    source: Source,
    entry: str,
    style: Style,
    form: tuple[str, tuple[str, ...], str],
    between: tuple[str, ...],
) -> tuple[Call, ...]:
    """Return the calls of tests of one form; a token of `between` may follow each call."""
    before, forms, after = form
    at, _ = _match(source, 0, _pattern(before, style), entry)
    calls: list[Call] = []
    while at != NOWHERE:
        call = None
        for written in forms:
            end, texts = _match(source, at, _pattern(written, style), entry)
            if end != NOWHERE:
                call = _call(texts, written, style)
                break
        if end == NOWHERE or call is None:
            break
        calls.append(call)
        at = end + (source.word(end) in between)
    end, _ = _match(source, at, _pattern(after, style), entry)
    end += source.word(end) == ";" and bool(between)
    return tuple(calls) if end == len(source.words) else ()


def _call(texts: dict[str, str], written: str, style: Style) -> Call | None:
    """Return the call of a form, None when the expected value is no literal."""
    negated = "!" in written.partition("ENTRY")[0].replace("assert!", "") or "not " in written
    literal = texts.get("EXPECTED", "false" if negated else "true")
    if style == "rust" and "to_string" in literal:
        source = Source(literal, style)
        places = [at + n for at in source.every(".", "to_string", "(", ")") for n in range(4)]
        literal = source.replaced(dict.fromkeys(places, ""))
    try:
        return Call(texts["ARGUMENTS"], read_literal(literal, style), literal)
    except ValueError:
        return None


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
        elif wanted == "HELPERS":
            at = _behind_helpers(source, at)
        elif wanted == "NAME" or word == (entry if wanted == "ENTRY" else wanted):
            at += 1
        else:
            at = NOWHERE
    return at, found


def _behind_helpers(source: Source, at: int) -> int:
    """Return where C++ functions `issame` end; NOWHERE where one allows a difference."""
    while source.has(("bool", "issame", "("), at):
        body = source.partner(at + 2) + 1
        end = source.partner(body)
        words = source.words[body:end]
        if source.word(body) != "{" or end == NOWHERE or {"abs", "fabs"} & {*words}:
            return NOWHERE
        at = end + 1
    return at

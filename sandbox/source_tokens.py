"""Tokens of a source in a language of C's family, in one pass whatever the source contains.

    int x; // one   ─▶ ("word", "int", 0), ("word", "x", 4), ("sign", ";", 5), ("comment", …, 7)

Sources are hostile and are read outside every box, with the interpreter's lock held. So that the
work is linear by construction, a pattern decides with bounded look-ahead and then cannot fail, and
what ends at a text of its own (comments, raw strings) is found by one search, whose failure ends
the scan: no part of a source is read twice. What is behind a bounded number of tokens is a single
one, `rest`: a program of 64 KB, the longest that Codeforces takes, has about
20,000. One takes 1 µs.

| kind    | what it is                                                                       |
|---------|----------------------------------------------------------------------------------|
| word    | letters, digits, `_` and `$`: a name, a keyword or a number                      |
| string  | a string or a character with its quotes; one without an end, to its line's end   |
| comment | a comment; one without an end, to the end of the source                          |
| line    | a line feed, with all white space behind it                                      |
| sign    | any other character                                                              |
| rest    | what is behind the most tokens, or a string with too many escapes                |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

MOST_TOKENS = 20_000
MOST_ESCAPES = 9999  # in a string: `re` keeps 100 bytes for each repetition of a group
Kind = Literal["word", "string", "comment", "line", "sign", "rest"]
Token = tuple[Kind, str, int]  # with its text and where that begins
Style = Literal["c++", "java", "rust", "go", "javascript"]
# (a source, the end of a token's first sign or word) → its kind and its end; None: it is no more
# than that sign or word
_Reader = Callable[[str, int], "tuple[Kind, int] | None"]


def _upto(text: str, close: str, at: int, kind: Kind = "string") -> tuple[Kind, int]:
    found = text.find(close, at)
    return kind, len(text) if found < 0 else found + len(close)


def _comment(text: str, at: int) -> tuple[Kind, int] | None:
    if text.startswith("/", at):
        end = text.find("\n", at)
        return "comment", len(text) if end < 0 else end
    return _upto(text, "*/", at + 1, "comment") if text.startswith("*", at) else None


def _nested_comment(text: str, at: int) -> tuple[Kind, int] | None:
    """Read a comment of Rust, in which comments are nested."""
    if not text.startswith("*", at):
        return _comment(text, at)
    depth = 1
    for found in islice(_COMMENT_MARK.finditer(text, at + 1), MOST_TOKENS // 2):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return "comment", found.end()
    return "comment", len(text)


def _quoted(quote: str, *, lines: bool = False) -> _Reader:
    """Return the reader of strings with escapes; `lines`: they may have line feeds."""
    plain = rf"[^{quote}\\]*" if lines else rf"[^{quote}\\\n]*"
    inside = re.compile(rf"{plain}(?:\\.{plain}){{0,{MOST_ESCAPES}}}", re.DOTALL)
    PATTERNS.append(inside)

    def read(text: str, at: int) -> tuple[Kind, int]:
        found = inside.match(text, at)
        at = found.end() if found else at
        if text.startswith(quote, at):
            return "string", at + 1
        return ("string", at) if at >= len(text) - 1 or text[at] == "\n" else ("rest", at)

    return read


def _whole(pattern: str) -> _Reader:
    """Return the reader of what begins as a pattern, and ends as the pattern's group says."""
    opening = re.compile(pattern)
    PATTERNS.append(opening)

    def read(text: str, at: int) -> tuple[Kind, int] | None:
        found = opening.match(text, at)
        if found is None:
            return None
        if found.lastgroup == "delimiter":
            return _upto(text, f'){found[1]}"', found.end())
        if found.lastgroup == "hashes":
            return _upto(text, f'"{found[1]}', found.end())
        return "string", found.end()

    return read


_COMMENT_MARK = re.compile(r"/\*|\*/")
_NAME = re.compile(r"[^\S\n]*([\w$]+|\n\s*|\S|)")
_NAME_OR_NUMBER = re.compile(r"[^\S\n]*(\d[\w.]*(?:'\w[\w.]*){0,99}|[\w$]+|\n\s*|\S|)")  # 1'000
PATTERNS = [_COMMENT_MARK, _NAME, _NAME_OR_NUMBER]
_C = {"/": _comment, '"': _quoted('"'), "'": _quoted("'")}
_RAW = _whole(r'"(?P<delimiter>[^()\\\s"]{0,16})\(')
_HASHES = _whole(r'(?P<hashes>#{0,255})"')


def _text_block(text: str, at: int) -> tuple[Kind, int] | None:
    return _upto(text, '"""', at + 2) if text.startswith('""', at) else _C['"'](text, at)


# What a style's tokens are, and those by which longer ones begin.
_STYLES: dict[Style, tuple[re.Pattern[str], dict[str, _Reader]]] = {
    "c++": (_NAME_OR_NUMBER, {**_C, **dict.fromkeys(("R", "LR", "uR", "UR", "u8R"), _RAW)}),
    "java": (_NAME, {**_C, '"': _text_block}),
    "rust": (
        _NAME,
        {
            "/": _nested_comment,
            '"': _quoted('"', lines=True),
            "'": _whole(r"(?:\\[^\n][^'\n]{0,10}|[^'\\\n])'"),  # 'a alone is a lifetime
            **dict.fromkeys(("r", "br", "cr"), _HASHES),
        },
    ),
    "go": (_NAME, {**_C, "`": lambda text, at: _upto(text, "`", at)}),
    "javascript": (_NAME, {**_C, "`": _quoted("`", lines=True)}),
}


def tokens(text: str, style: Style, most: int = MOST_TOKENS) -> Iterator[Token]:
    """Yield the tokens of a source in their order; white space within lines is left out.

    most  tokens; behind them is one of kind `rest`
    """
    pattern, readers = _STYLES[style]
    match, at = pattern.match, 0
    for _ in range(most):
        found = match(text, at)
        word = found[1] if found else ""
        if not found or not word:  # only white space is left
            return
        at = found.end()
        start = at - len(word)
        reader = readers.get(word)
        longer = reader(text, at) if reader else None
        if longer is not None:
            kind, at = longer
            if kind == "rest":
                break
            yield kind, text[start:at], start
        elif (first := word[0]) == "\n":
            yield "line", word, start
        else:
            yield ("word" if first.isalnum() or first in "_$" else "sign"), word, start
    else:
        start = at
    if start < len(text):
        yield "rest", text[start:], start


def lines(text: str, style: Style, most: int = MOST_TOKENS) -> Iterator[list[Token]]:
    """Yield the tokens of each line that has any, without its line feed; a comment may have some.

    A token `rest` ends the source: the line it is on is not whole.
    """
    line: list[Token] = []
    for token in tokens(text, style, most):
        if token[0] != "line":
            line.append(token)
        elif line:
            yield line
            line = []
    if line:
        yield line


# ---- C and C++ programs of more than one file ----

# Compilers, by `Language.family` → endings of what they compile; any other file is a header.
SOURCE_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "g++": (".cpp", ".cc", ".cxx", ".c++", ".c"),
    "gcc": (".c",),
}
_COMPILED = {
    **SOURCE_ENDINGS,
    "java": (".java",),
    "kotlin": (".kt",),
    "c#": (".cs",),
    "go": (".go",),
}
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def included_names(source: bytes) -> list[str]:
    """Return the names in a source's `#include "…"`, in order."""
    return [name.decode("utf-8", "replace") for name in _INCLUDE.findall(source)]


def other_sources(family: str, files: Mapping[str, bytes]) -> list[str]:
    """Return the files that the compiler is given beside the first one, as `./name`.

    A source that another file includes is compiled as a part of that.
    """
    _, *others = files
    endings = _COMPILED.get(family, ())
    sources = [name for name in others if name.lower().endswith(endings)] if endings else []
    if not sources:
        return []
    included = {name for text in files.values() for name in included_names(text)}
    return [f"./{name}" for name in sources if name not in included]


# ---- Java's names ----

# A public class of Java must be in a file of its name, and the class to run is given by name. Both
# are found in the source: names of top-level classes, outside comments and literals.
#
#     package p;  class A {}  public class B { public static void main(…) }   ─▶  B.java, p.B

DEFAULT = "Main"
MOST_PARTS = 100  # names and dots of a package
_KINDS = frozenset(("class", "interface", "enum", "record"))


@dataclass
class _Class:
    name: str
    public: bool
    main: bool = False


def java_names(source: bytes) -> tuple[str, str]:
    """Return (file name, class to run with its package) of a Java source of any bytes.

    The class is the first top-level class with a method called main, else the public one, else the
    first. The file is named after the public class, else after the class to run.
    """
    package: list[str] = []
    classes: list[_Class] = []
    depth = 0
    public = in_package = False
    last, before = "", ""
    for kind, word, _ in tokens(source.decode("utf-8", "replace"), "java"):
        if kind in ("comment", "string", "line"):
            continue
        depth += (word == "{") - (word == "}")
        if word == "package" and depth == 0 and not classes and not package:
            in_package = True
        elif in_package and len(package) < MOST_PARTS and (kind == "word" or word == "."):
            package.append(word)
        elif word == "(" and last == "main" and depth == 1 and classes:
            classes[-1].main = True
        elif kind == "word" and last in _KINDS and before != "." and depth == 0:
            classes.append(_Class(word, public))
            public = False
        else:
            in_package = False
            public = word == "public" or (public and word not in ("{", "}", ";"))
        before, last = last, word
    public_class = next((c for c in classes if c.public), None)
    to_run = next((c for c in classes if c.main), None) or public_class or next(iter(classes), None)
    main = to_run.name if to_run else DEFAULT
    file = public_class.name if public_class else main
    if len(file.encode()) > 200:
        file = DEFAULT
    return f"{file}.java", f"{''.join(package)}.{main}" if package else main

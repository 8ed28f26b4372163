"""Extract the program from a model's response.

    response ── text after the last </think> ── Markdown fences ── best fence ─▶ code, language

A fence is opened by at least three backticks or tildes at the start of a line or of a list's item,
or behind other text, if a line ends there with the tag of a known language. It ends at a line
with at least as many of the same character, or at the end of the text, because responses are cut
or stop at the closing fence. A fence that no line closes may be closed behind the last line of the
program. The program is, in this order:

1. the last fence tagged with the requested language (any C++ tag matches any C++). Without a
   requested language, the last fence tagged with any known language.
2. the last fence without a tag. Its language is the requested one, else python.

A tagged fence is preferred to a later untagged one, which usually shows sample output. Empty
fences and fences with other tags (`text`, `bash`) are ignored. After MOST_MARKS lines that could be
fences, the rest of the text belongs to the fence that is open there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from gradebox.sandbox.languages import TABLE, Language

DEFAULT_LANGUAGE = "python"
END_THINK = "</think>"

# Where a fence may begin; a match goes to the line's end, so that no line is read twice. A
# search for line starts would take 90 ms for a megabyte of blank lines.
_MARK = re.compile(r"(```+|~~~+|<think>)([^\n]*)")
_BEHIND = re.compile(r"(?<=[^\s`~])(```+|~~~+)[ \t\r]*$", re.MULTILINE)  # behind program text
MOST_MARKS = 4000  # 5 µs each
LAST = 1 << 14  # characters in which special tokens at the end are found
# <|im_end|>, <|eot_id|>, <｜end▁of▁sentence｜>, </s>, <eos>, <end_of_turn>, <pad> …
_TOKEN = re.compile(r"<(?:[|｜][^<>]{1,40}[|｜]|/s|eos|pad|end_of_turn|endoftext)>")
_LIST = re.compile(r"[-*+]|\d{1,9}[.)]")  # the mark of an item
_AFTER_TAG = re.compile(r"[\s,;:={]")  # python title=x, python:main.py, rust,no_run, cpp=
_WRAPPERS = ("markdown", "md")  # tags of longer fences around an answer, whose own fences count
MOST_INDENTED = 50_000  # lines from which a fence's indentation is taken away, 0.2 µs each


@dataclass(frozen=True)
class _Fence:
    """A Markdown fence; the tag is "" when it has none."""

    tag: str
    code: str


def extract_code(response: str, language: str | None) -> tuple[str | None, str]:
    """Return the program of a response, or None, and its language.

    language  the requested name, or None

    The returned language is the requested name, else the name for the fence's tag, else python.
    Text after a `<think>` that never ends is ignored.
    """
    by_tag = {name: row for row in TABLE.values() for name in (row.name, *row.aliases)}
    wanted = by_tag.get(language.strip().lower()) if language else None
    tagged: tuple[str, str] | None = None
    untagged: str | None = None
    for fence in _fences(after_thinking(response), frozenset(by_tag)):
        if not fence.code.strip():
            continue
        row = by_tag.get(fence.tag)
        if not fence.tag:
            untagged = fence.code
        elif row is not None and not language:
            tagged = fence.code, row.name
        elif language and (_same_language(row, wanted) or fence.tag == language.strip().lower()):
            tagged = fence.code, language
    if tagged is not None:
        return tagged
    return untagged, language or DEFAULT_LANGUAGE


def fenced_programs(response: str, language: str) -> list[str]:
    """Return the programs of a response in its fences: those of a language, and without a tag."""
    by_tag = {name: row for row in TABLE.values() for name in (row.name, *row.aliases)}
    wanted = by_tag[language]
    return [
        fence.code
        for fence in _fences(after_thinking(response), frozenset(by_tag))
        if fence.code.strip() and (not fence.tag or _same_language(by_tag.get(fence.tag), wanted))
    ]


def after_thinking(response: str) -> str:
    """Return the answer of a response: no thoughts before it, no special tokens at its end.

    Trainers decode the token that ends a turn as well, so a closing fence may be "```<|im_end|>".
    """
    answer = response.rpartition(END_THINK)[2]
    return answer[: len(answer) - _ending(answer[-LAST:])]


def _ending(tail: str) -> int:
    """Return how many characters at the end of a text are special tokens, with what is between."""
    end = len(tail)
    while True:
        text = tail[:end].rstrip()
        at = text.rfind("<")
        if at < 0 or not _TOKEN.fullmatch(text, at):
            return len(tail) - end
        end = len(text[:at].rstrip())


def _same_language(row: Language | None, wanted: Language | None) -> bool:
    """Return whether both are versions of one language: a program for PyPy is tagged python."""
    return row is not None and wanted is not None and row.source == wanted.source


def _fences(text: str, known: frozenset[str]) -> Iterator[_Fence]:
    """Yield the fences of a text in order, in one pass.

    A line that opens a fence of a known language also ends an open fence of at most as many
    characters. Models forget closing fences, and they wrap whole answers in a longer fence.
    """
    opened: tuple[str, str, str] | None = None  # indentation, backticks or tildes, tag
    start = width = 0
    wrapper = ""
    for mark in islice(_MARK.finditer(text), MOST_MARKS):
        begins = text.rfind("\n", 0, mark.start()) + 1
        indent, fence, info = text[begins : mark.start()], mark.group(1), mark.group(2).strip()
        if before := indent.strip(" \t"):
            if opened is not None or fence == "<think>":
                continue
            if _LIST.fullmatch(before) and indent[-1] in " \t":
                indent = " " * len(indent)
            elif info.lower() in known and not before.startswith(">"):
                indent = ""  # a line of prose that ends with "```python"
            else:
                continue
        if fence == "<think>":
            if opened is None:
                return  # a <think> that never ends
            continue
        if fence[0] == "`" and "`" in info:
            continue  # inline code, not a fence
        if opened is not None:
            if fence[0] != opened[1][0] or len(fence) < len(opened[1]):
                continue
            if _width(indent) > width + 3:
                continue  # part of the program, such as an example in a docstring
            if info and _tag(info) not in known:
                if mark.group(2)[0].isalpha():
                    continue
                info = ""  # "```</answer>", "``` This prints": no tag, text behind the end
            yield _Fence(opened[2], _dedent(text[start:begins], opened[0]))
            opened = None
            if not info:
                continue
        if fence == wrapper and not info:
            continue
        if len(fence) > 3 and _tag(info) in _WRAPPERS:
            wrapper = fence
            continue
        opened, start, width = (indent, fence, _tag(info)), mark.end() + 1, _width(indent)
    if opened is not None:
        yield _Fence(opened[2], _dedent(text[start : _end(text, start, opened[1])], opened[0]))


def _end(text: str, start: int, fence: str) -> int:
    """Return where a program ends whose fence no line closes: before a fence behind its last line.

    Where the fence's marks occur twice in a line, they are inline code in a comment, not the end.
    """
    for mark in islice(_BEHIND.finditer(text, start), MOST_MARKS):
        begins = text.rfind("\n", start, mark.start()) + 1
        if mark[1] == fence and fence not in text[max(begins, start) : mark.start()]:
            return mark.start()
    return len(text)


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))


def _tag(info: str) -> str:
    """Return the language of a fence's info string, as in `python title=x` or `{.python}`."""
    return _AFTER_TAG.split(info.lower().strip("{} \t"), 1)[0].lstrip(".")


def _dedent(code: str, indent: str) -> str:
    """Return code without the indentation of its fence and with LF line ends."""
    code = code.replace("\r\n", "\n")
    if code and not code.endswith("\n"):
        code += "\n"
    if not indent:
        return code
    blanks = rf"^[ \t]{{1,{len(indent)}}}"
    return re.sub(blanks, "", code, count=MOST_INDENTED, flags=re.MULTILINE)

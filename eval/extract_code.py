"""The program in a model's answer.

    response ── after the last </think> ── fences ── the last fitting one ─▶ code, language

A fence is one of Markdown's: a line of at least three backticks or tildes, up to a line
of as many or more of the same sign, or to the end of the text: a response that was cut,
or stopped at the closing fence, still has its last program, cut where it was cut.
What fits, best first:

1. the last fence tagged with the language asked for (any C++ tag fits any C++); when
   none is asked for, the last one tagged with any language of the table;
2. the last fence without a tag, which is of the language asked for, else python.

A tagged fence wins over a later one without a tag, which as a rule shows sample output.
Fences without text, and those tagged otherwise (`text`, `bash`), are no programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.languages import TABLE, Language

DEFAULT_LANGUAGE = "python"
END_THINK = "</think>"

# Tried at the start of each line only, and no part can match in two ways: linear.
_MARK = re.compile(r"^([ \t]*)(?:(`{3,}|~{3,})([^\n]*)|<think>)", re.MULTILINE)


@dataclass(frozen=True)
class _Fence:
    """A fence in the text: its tag ("" for none) and what it holds."""

    tag: str
    code: str


def extract_code(response: str, language: str | None) -> tuple[str | None, str]:
    """The program of a response and its language; None when there is no program.

    `language` is the name asked for, or None. The language given back is that name,
    else the table's name for the fence's tag, else python. A `<think>` that never ends
    is a response cut in thought: what follows it is no answer.
    """
    by_tag = {name: row for row in TABLE.values() for name in (row.name, *row.aliases)}
    wanted = by_tag.get(language.strip().lower()) if language else None
    best: tuple[str, str] | None = None
    plain: str | None = None
    for fence in _fences(response[_answer_start(response) :], frozenset(by_tag)):
        if not fence.code.strip():
            continue
        row = by_tag.get(fence.tag)
        if not fence.tag:
            plain = fence.code
        elif row is not None and not language:
            best = fence.code, row.name
        elif language and (_akin(row, wanted) or fence.tag == language.strip().lower()):
            best = fence.code, language
    if best is not None:
        return best
    return plain, language or DEFAULT_LANGUAGE


def _answer_start(response: str) -> int:
    """Where the answer begins: after the last `</think>`, at 0 without one."""
    end = response.rfind(END_THINK)
    return 0 if end < 0 else end + len(END_THINK)


def _akin(row: Language | None, wanted: Language | None) -> bool:
    """Whether both are one language, whatever the version: the same tool and source."""
    if row is None or wanted is None:
        return False
    return (row.tool, row.source) == (wanted.tool, wanted.source)


def _fences(text: str, known: frozenset[str]) -> Iterator[_Fence]:
    """The fences of a text in order, each line looked at once.

    A line that opens a fence of a known language also ends the one before, unless that
    one was opened with more signs: models forget closing fences, and wrap whole answers
    in a fence.
    """
    opened: tuple[str, str, str] | None = None  # indent, signs, tag
    start = width = 0
    for mark in _MARK.finditer(text):
        indent, signs, info = mark.group(1), mark.group(2), (mark.group(3) or "").strip()
        if signs is None:
            if opened is None:
                return  # a thought that never ends
            continue
        if signs[0] == "`" and "`" in info:
            continue  # an inline span, not a fence
        if opened is not None:
            if signs[0] != opened[1][0] or len(signs) < len(opened[1]):
                continue
            if _width(indent) > width + 3:
                continue  # text of the fence, as in an example within a docstring
            if info and _tag(info) not in known:
                continue
            yield _Fence(opened[2], _dedent(text[start : mark.start()], opened[0]))
            opened = None
            if not info:
                continue
        opened, start, width = (indent, signs, _tag(info)), mark.end() + 1, _width(indent)
    if opened is not None:
        yield _Fence(opened[2], _dedent(text[start:], opened[0]))


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))


def _tag(info: str) -> str:
    """The language of an info string: `python title=x`, `{.python}` and `Python 3` are python."""
    words = info.lower().strip("{} \t").split(None, 1)
    return words[0].lstrip(".").rstrip(",;:") if words else ""


def _dedent(code: str, indent: str) -> str:
    """The lines without the fence's own indentation, where they have it; LF line ends."""
    code = code.replace("\r\n", "\n")
    if code and not code.endswith("\n"):
        code += "\n"
    if not indent:
        return code
    return re.sub(rf"^[ \t]{{1,{len(indent)}}}", "", code, flags=re.MULTILINE)

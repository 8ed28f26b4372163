"""The program in a completion, chosen by SandboxFusion's rules.

    fenced (```lang … ```) ▷ incomplete_fenced (no end) ▷ heuristic (python) ▷ empty

The best kind that occurs counts: its first block with a tag of the wanted language, else its first
block. They differ from our own rules (eval/solutions/extract_code.py), which take the last fence,
because a client of theirs expects the same program. Everything takes linear time; of more than
MOST_BLOCKS blocks or MOST_LINES lines, the first ones are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["fenced", "incomplete_fenced", "heuristic", "empty", "raw"]
FENCE = "```"
MOST_BLOCKS, MOST_LINES = 5000, 10_000  # 2 µs each
_END = re.compile(r"\n[^\S\n]*```")
# Of the languages that are served; the tag of another one is that of no program.
_TAGS: Mapping[str, tuple[str, ...]] = {
    "python": ("py", "python3"),
    "cpp": ("c++",),
    "nodejs": ("javascript", "js"),
    "csharp": ("c#",),
    "rust": ("rs",),
    **dict.fromkeys(("go", "java", "ruby", "kotlin", "c"), ()),
}
_LANGUAGE_OF = {tag: name for name, tags in _TAGS.items() for tag in (name, *tags)}


@dataclass(frozen=True)
class Block:
    """A piece of a completion that may be the program; no language: an unknown tag.

    kind  raw: nothing was extracted, the completion is code
    """

    kind: Kind
    language: str
    code: str


def extract(completion: str, language: str, *, tagged: bool = True) -> Block:
    """Return the program of a completion; `language` is SandboxFusion's name, or "".

    tagged  False: the first block of the best kind counts, whatever its tag is
    """
    for find in (_fenced, _incomplete, _heuristic):
        blocks = list(find(completion, language))
        if blocks:
            return next((b for b in blocks if tagged and b.language == language), blocks[0])
    return Block("empty", "", "")


def without_entry_point(code: str, language: str) -> str:
    """Return code without the part that runs it and what follows, as theirs do before tests."""
    starts = {"python": 'if __name__ == "__main__":', "cpp": "int main()"}
    if language == "go":
        code = code.replace("package main", "")
    for start in (starts.get(language), "# Example usage"):
        if start and start in code:
            code = code[: code.index(start)].strip()
    return code


def _fenced(text: str, _language: str) -> Iterator[Block]:
    at = 0
    for _ in range(MOST_BLOCKS):
        start = text.find(FENCE, at)
        if start < 0:
            return
        line_end = text.find("\n", start)
        end = _END.search(text, line_end + 1) if line_end >= 0 else None
        if end is None:  # then no later fence ends either
            return
        inside = text[line_end + 1 : end.start()]
        kept = inside.rstrip()
        blank = inside.find("\n", len(kept))
        code = inside if blank < 0 else inside[:blank]
        yield Block("fenced", _tagged(text[start + len(FENCE) : line_end]), code)
        at = end.end()


def _incomplete(text: str, _language: str) -> Iterator[Block]:
    start = text.find(FENCE)
    line_end = text.find("\n", start) if start >= 0 else -1
    if line_end >= 0:
        tag = text[start + len(FENCE) : line_end]
        yield Block("incomplete_fenced", _tagged(tag), text[line_end + 1 :])


def _heuristic(text: str, language: str) -> Iterator[Block]:
    if language == "python":
        first = text.split("\n", MOST_LINES)[:MOST_LINES]
        lines = [line for line in first if line.strip()]
        yield from (Block("heuristic", language, code) for code in _definitions(lines))


def _definitions(lines: list[str]) -> Iterator[str]:
    """Yield functions and classes with the imports and comments right before each."""
    before: list[str] = []
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if line.startswith(("import", "from", "#")):
            before.append(line)
            continue
        if line.startswith(("def ", "class ")):
            body = []
            while at < len(lines) and lines[at][0].isspace():
                body.append(lines[at])
                at += 1
            if body:
                yield "\n".join((*before, line, *body)) + "\n"
        before = []


def _tagged(tag: str) -> str:
    return _LANGUAGE_OF.get(tag.strip().lower(), "")

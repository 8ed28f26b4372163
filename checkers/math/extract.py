"""Response → answer text.

What is looked for, in this order; the last of a kind counts:
    1. after any `</think>`; up to a chat marker such as `<|im_start|>`; up to the next
       question that a base model asks itself after its answer; within `<answer>…</answer>`
    2. boxed: \\boxed{…} with balanced braces; boxes joined by and, or, comma are one list
    3. announced: "final answer is …", "the answer is …", "Answer: …", "#### …",
       "… is our answer"; one that follows the last box beats the box when it is math
    4. the whole text when it is a bare answer
    5. the last piece of math or the last number
Of a response cut within its thoughts only 2 and 3.
"""

from __future__ import annotations

import re

from checkers.math.clean import matching
from checkers.math.prose import (
    ENVIRONMENT,
    HOPE,
    LONGEST_SAID,
    MATH,
    from_prose,
    is_bare,
    tail_or_last,
)
from checkers.math.remarks import without_remark
from checkers.math.turns import LONGEST as LONGEST
from checkers.math.turns import first_turns, is_unfinished, said_once, tagged, trim, without_code

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s*(\{|[A-Za-z0-9])")
_JOINT = re.compile(  # `, y = ` or ` papers and ` between two boxes
    r"(?=.{0,60}$)[\s$\\()\[\].]*(?:"
    r"[,;]\s*(?:\\q?quad|\\[,; ]|[\s$\\(\[])*(?:[A-Za-z](?:_\{?\w+\}?)?\s*=\s*)?"
    r"(?:(?:and|or)\b[^.=]{0,12})?"
    r"|(?:\\q?quad|\\[,; ]|\s)*(?!(?:is|was|not)\b)(?:[A-Za-z_0-9]+\s*){0,2}[\s$\\()\[\]]*"
    r"(?:\band\b|\bor\b|\\text\{\s*(?:and|or)\s*,?\s*\})[^.=]{0,24}(?:=\s*)?)",
    re.S,
)
_ANNOUNCED = re.compile(
    r"(?:final\s+answer|correct\s+answer|correct\s+option|correct\s+choice|the\s+answer|"
    r"answer|the\s+solution|final\s+result)"
    r"(?:\s+(?:to|for|of)\s+[^.:\n]{0,80}?)?\s*\**\s*(?:is|are|was|equals|=|:|：)\s*\**\s*:?\s*",
    re.I,
)
_HEADING = re.compile(  # `### Final Answer` on a line of its own
    r"^[#*_ \t]*(?:final\s+answer|answer)[#*_ \t]*\n\s*(?=\S)", re.I | re.M
)
_ANNOUNCED_ZH = re.compile(
    r"答案\s*(?:应该|应)?\s*(?:是|为|：|:)\s*[：:]?\s*|答\s*[：:]\s*|[故应]选\s*[：:]?\s*"
    r"|选项\s*(?:应该|应)?\s*[是为]\s*[：:]?\s*(?=[A-J])|(?<!不)选(?:择)?\s*[：:]?\s*(?=[A-J](?![A-Za-z项选]))"
)
_MARKED_WORD = re.compile(  # `\text{Answer: }64`
    r"\\text(?:bf|it)?\s*\{\s*((?:final\s+)?answer\s{0,9}:?)\s{0,9}\}(\s{0,9}:)?", re.I
)
_PART = re.compile(  # `(a)`, `**(b)**`, `Part c` at the start of a line
    r"^[\s*#>-]*(?:part\s+\(?([a-e1-5])\b|\(([a-e1-5])\)|\((i{1,3}|iv|v)\))", re.I | re.M
)
_PART_NAMES = ("abcde", "12345", ("i", "ii", "iii", "iv", "v"))
_DENIED = re.compile(r"\bnot\s*[$\\(]*\s*$", re.I)
_HASHES = re.compile(r"####\s*(.{1,4000})")
_OUR_ANSWER = re.compile(
    r"(?:^|[\s,])(\$[^$]{1,200}\$|\\\(.{1,200}?\\\)|-?[\d.,/]{0,40}\d)\s{1,9}is\s+(?:our|the)\s+(?:final\s+)?answer",
    re.I,
)
_OUR_CHOICE = re.compile(
    r"(?:option|choice)\s+(\(?[A-J]\)?)\s+is\s+(?:therefore\s+)?(?:the|our)\s+"
    r"(?:(?:correct|right|best|final)\s+)?(?:answer|option|choice)\b",
    re.I,
)
MOST_SAID = 16  # announcements, from the end
MOST_WORDS = 3  # of an answer in words; `the answer is of the form m/n` gives none
MOST_BOXES = 64  # looked at, from the end


def boxes(text: str) -> list[tuple[int, int, str]]:
    """(start, end, contents) of every closed box, nested ones left out."""
    out: list[tuple[int, int, str]] = []
    at = 0
    for m in list(_BOX.finditer(text))[-MOST_BOXES:]:
        if m.start() < at:
            continue
        if m[1] != "{":
            out.append((m.start(), m.end(), m[1]))
            at = m.end()
            continue
        end = matching(text, m.end() - 1)
        if end >= 0:
            out.append((m.start(), end + 1, text[m.end() : end]))
            at = end + 1
    return out


def last_boxed(text: str) -> tuple[str, int] | None:
    """The last box, or the last boxes when they are joined into a list, and where it ends."""
    found = boxes(text)
    meant = [b for b in found if not _DENIED.search(text[max(0, b[0] - 12) : b[0]])]
    found = meant or found
    if not found:
        return None
    parts = _of_parts(text, found)
    if parts:
        return f"({'; '.join(_inner(c).strip() for _, _, c in parts)})", found[-1][1]
    kept = [found[-1]]
    for earlier in reversed(found[:-1]):
        between = text[earlier[1] : kept[0][0]]
        if not _JOINT.fullmatch(between):
            break
        kept.insert(0, earlier)
    contents = list(dict.fromkeys(_inner(c).strip() for _, _, c in kept))
    answer = ",".join(contents) if len(contents) > 1 else contents[0]
    tail = text[kept[-1][1] :]
    if re.match(r"\s*\$?\s*(?:\\?%|percent|pct)", tail) and "%" not in answer:
        answer += "%"
    return answer, kept[-1][1]


def _of_parts(text: str, found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The last boxes when each stands under its part of the question: (a), (b), …"""
    if len(found) < 2:
        return []
    kept: list[tuple[int, int, str]] = []
    labels: list[str] = []
    for i in range(len(found) - 1, -1, -1):
        before = text[found[i - 1][1] if i else 0 : found[i][0]]
        marks = [(m[1] or m[2] or m[3]).lower() for m in _PART.finditer(before)]
        if not marks:
            break
        kept.insert(0, found[i])
        labels.insert(0, marks[-1])
        if any(labels == list(names[: len(labels)]) for names in _PART_NAMES):
            return kept if len(kept) > 1 else []
    return []


def _inner(text: str) -> str:
    nested = boxes(text)
    return _inner(nested[-1][2]) if nested and nested[-1][2].strip() else text


def announced(text: str) -> tuple[str, int] | None:
    """What the last announcement says, and where it starts."""
    best: tuple[str, int] | None = None
    for m in (*_OUR_ANSWER.finditer(text), *_OUR_CHOICE.finditer(text)):
        if best is None or m.start() > best[1]:
            best = (m[1], m.start())
    for m in _HASHES.finditer(text):
        if best is None or m.start() > best[1]:
            best = (m[1], m.start())
    patterns = (_ANNOUNCED, _HEADING) + (() if text.isascii() else (_ANNOUNCED_ZH,))
    for m in [m for p in patterns for m in list(p.finditer(text))[-MOST_SAID:]]:
        if best is None or m.start() > best[1]:
            said = _sentence(text[m.end() : m.end() + LONGEST_SAID])
            if said:
                best = (said, m.start())
    return best


def _sentence(text: str) -> str:
    """Up to the end of the sentence; math and environments are kept whole."""
    text = text.lstrip(" *\n\t\"'“")
    text = HOPE.sub("", text)
    end = len(text)
    inside = [m.span() for m in MATH.finditer(text)] + [
        m.span() for m in ENVIRONMENT.finditer(text)
    ]
    for m in re.finditer(r"\n|[.!?;](?=\s|$)|。|(?<=\S)\*\*", text):
        if not any(a <= m.start() < b for a, b in inside):
            end = m.start()
            break
    return text[:end].replace("**", "").strip(" *\"'”")


def _said(text: str) -> str:
    text = without_remark(text)
    return text if is_bare(text) else tail_or_last(text)


def _mathy(said: str) -> bool:
    """Starts as math or a number, so it is an answer and not talk about one."""
    return bool(
        re.match(r"[\"'“]*\s*(?:\$|\\\(|\\\[|-?\d|\\boxed|\\frac|\\sqrt|\\pi|\\begin)", said)
    )


def extract_answer(response: str, strict: bool = False) -> str:
    """The answer's text in a response; "" when it has none.

    A bare answer comes back as it is. With `strict`, only boxed and announced answers count.
    """
    text = trim(response)
    if not text:
        return ""
    if r"\text" in text:
        text = _MARKED_WORD.sub(lambda m: m[1].rstrip(": ") + ": ", text)
    strict = strict or is_unfinished(text)
    for turn in first_turns(text):
        said = announced(turn)
        if (
            tagged(turn)
            or last_boxed(turn)
            or (said and (_mathy(said[0]) or len(said[0].split()) <= MOST_WORDS))
        ):
            text = turn
            break
    if inside := tagged(text):
        text, strict = inside, False
    boxed = last_boxed(text)
    said = announced(text)
    if boxed and not (said and said[1] >= boxed[1] and _mathy(said[0])):
        return boxed[0].strip()
    if said:
        inner = last_boxed(said[0])
        return (inner[0] if inner else _said(said[0])).strip()
    if strict:
        return ""
    text = said_once(without_code(text))
    if is_bare(text):
        return text
    return from_prose(text)


def extract_gold(gold: str) -> str:
    """The reference answer: what a solution boxes or announces, else the text itself."""
    boxed = _BOX.search(gold) is not None
    if len(gold) <= 40 and not boxed:
        return gold.strip()
    if boxed or announced(gold) or not is_bare(gold):
        return extract_answer(gold)
    return gold.strip()

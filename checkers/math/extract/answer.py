"""Find the answer's text in a response. The order of its sources:

0. none, for a response that corrects what it states
1. the last box, or several joined, unless math or a choice letter is announced after it
2. the last announcement
3. none, for a response that refuses or is cut within a sentence, or with `strict`
4. the whole text, when it is no prose
5. what the closing sentence states
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gradebox.checkers.math.extract import phrases
from gradebox.checkers.math.extract.closing import is_bare, last_value, prose_answer
from gradebox.checkers.math.extract.document import (
    MAX_PROSE,
    Box,
    Document,
    before_next_question,
    boxes,
    is_unfinished,
    json_answer,
    marked_answer,
    model_text,
    read,
    with_short_blanks,
    without_bold,
)

_BETWEEN_JOINED_BOXES = re.compile(  # `, y = ` or ` papers and ` between two boxes
    r"(?=.{0,60}$)[\s$\\()\[\].]*(?:"
    r"[,;](?:\\q?quad|[\s$\\(\[,;])*(?:[A-Za-z](?:_\{?\w+\}?)?\s*=\s*)?(?:(?:and|or)\b[^.=]{0,12})?"
    r"|(?:\\q?quad|\\[,;])?\s*(?!(?:is|was|not)\b)(?:\w+\s*){0,2}[\s$\\()\[\]]*"
    r"(?:\b(?:and|or)\b|\\text\{[^{}]{0,40}\b(?:and|or)[\s,]*\})[^.=]{0,24}(?:=\s*)?)",
    re.S,
)
_NEGATED = re.compile(r"\bnot\s*[$\\(]*\s*$", re.I)
_BOX_NAME = re.compile(r"(?<![A-Za-z\\])([A-Za-z](?:_\{?\w\}?)?)\s?=\s?[$\\(\s]*$")
_MINUS = re.compile(r"(?:^|[=$(\[:]|\bis)\s*-\s*$")  # `x = -\boxed{5}`
_PERCENT = re.compile(r"\s*\$?\s*(?:\\?%|percent|pct)")
_STARTS_AS_MATH = re.compile(r"[\"'“]*\s*(?:\$|\\\(|\\\[|-?\d|\\boxed|\\frac|\\sqrt|\\pi|\\begin)")
_CHOICE = re.compile(r"\W*[A-J]\W*")
_NEXT_CHOICE = re.compile(r"[^\n]*\n[>* \t]*\(?[A-J]\)?\s?[.:)]")  # one of a list of options
_ASKED = re.compile(r"[\s$)*]*\?")  # `The answer is 3? Let me check`
_PROGRAM = re.compile(
    r"^[ \t]*```(?:python3?|py|cpp|c|java|javascript|js|r|sage|bash|sh|lean4?)\b"
    r".*?(?:^[ \t]*```[ \t]*$|\Z)",
    re.S | re.M,
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
MAX_ANNOUNCEMENTS = 400  # considered, from the end: responses end in loops
MAX_ANSWER_WORDS = 3  # `the answer is of the form m/n` announces nothing


class Found(NamedTuple):
    """An answer that is boxed or announced, where it begins and where it ends."""

    answer: str
    start: int
    end: int


def extract_answer(response: str, strict: bool = False) -> str:
    """Return the answer's text in a response; "" when there is none.

    A bare answer is returned as it is, but a choice with its text as `(B) text`. With `strict`,
    only boxed and announced answers count.
    """
    answer = _extracted(response, strict)
    return phrases.labelled_choice(answer) or answer


def why_none(response: str, answer: str, gold: str) -> str:
    """Return why what was found in a response is no answer: "cut", "no answer", or "".

    It ends within its thoughts, a box or a sentence, or says that *it cannot be determined*.
    """
    text = model_text(response)
    box = text[text.rfind(r"\boxed") :] if r"\boxed" in text else ""
    if box.count("{") > box.count("}"):
        return "cut"
    if not answer:
        return "cut" if gold and (is_unfinished(text) or phrases.is_cut(text)) else "no answer"
    said = [phrases.NON_ANSWER.search(t[:MAX_PROSE]) is not None for t in (answer, gold)]
    return "no answer" if said == [True, False] else ""


def _extracted(response: str, strict: bool) -> str:
    text = model_text(response)
    if r"\text" in text or r"\math" in text:
        text = phrases.MARKED_WORD.sub(lambda m: m[1].rstrip(" is=:") + ": ", text)
    strict = strict or is_unfinished(text)
    text = before_next_question(text, _has_answer)
    if inside := marked_answer(text):
        text, strict = inside, False
    if not text or (value := json_answer(text)):
        return value if text else ""
    return _stated(read(phrases.DENIED.sub(_undenied, text)), strict).strip()


def _undenied(m: re.Match[str]) -> str:
    return " is " if m["but"] else " "


def _stated(document: Document, strict: bool) -> str:
    """Return what a text states: what is boxed or announced, else the whole text or its end."""
    box, found = last_box(document), last_announcement(document)
    end = max(box.end if box else 0, found.start if found else 0)
    if phrases.CORRECTED.search(document.text, end):
        return ""
    later = found.answer if box and found and found.start >= box.end else ""
    if box and not (_STARTS_AS_MATH.match(later) or _CHOICE.fullmatch(later)):
        return box.answer
    if found:
        return _announced(found)
    if strict or phrases.REFUSED.search(document.text[-300:]):
        return ""
    text = _without_explanation(document.text)
    bare = is_bare(text) or (_CHINESE.search(text) and phrases.labelled_choice(text))
    if phrases.is_cut(text) or (bare and phrases.HEDGED.search(text)):
        return ""
    if bare and (r"\text" in text or text.endswith(")")):
        return text
    return phrases.without_trailing(text) if bare else prose_answer(text)


def _announced(found: Found) -> str:
    if inner := last_box(read(found.answer)):
        return inner.answer
    if choice := phrases.labelled_choice(found.answer):
        return phrases.without_trailing(choice)
    answer = phrases.without_trailing(found.answer)
    return answer if is_bare(answer) else last_value(answer)


def _without_explanation(text: str) -> str:
    """Return a text without programs, repeated lines and the explanation of what comes first."""
    text = with_short_blanks(_PROGRAM.sub("", text)).strip()
    lines = {line.strip() for line in text.splitlines()} - {""}
    text = lines.pop() if len(lines) == 1 else text
    explained = phrases.EXPLANATION.match(text)
    return explained[1] if explained else text


def _has_answer(text: str) -> bool:
    document = read(text)
    found = last_announcement(document)
    short = found and (
        _STARTS_AS_MATH.match(found.answer) or len(found.answer.split()) <= MAX_ANSWER_WORDS
    )
    return bool(marked_answer(text) or last_box(document) or short)


# ---- boxes ----


def last_box(document: Document) -> Found | None:
    """Return the last box, or the list of the last boxes joined."""
    text = document.text
    found = [b for b in document.boxes if not phrases.DENIED_BOX.match(text, b.end)]
    found = [b for b in found if not _NEGATED.search(text[max(0, b.start - 12) : b.start])]
    if not found:
        return None
    kept = [found[-1]]
    for earlier in reversed(found[:-1]):
        if not _BETWEEN_JOINED_BOXES.fullmatch(text[earlier.end : kept[0].start][:200]):
            break
        kept.insert(0, earlier)
    contents = contents_of(kept, text)
    answer = ",".join(contents)
    if len(contents) == 1 and _MINUS.search(text[max(0, kept[0].start - 12) : kept[0].start]):
        answer = f"-({answer})"
    if _PERCENT.match(text, kept[-1].end) and "%" not in answer:
        answer += "%"
    return Found(answer, kept[0].start, kept[-1].end)


def contents_of(found: list[Box], text: str) -> list[str]:
    """Return what different boxes hold, with `x = ` and `y = ` where the text before names each."""
    contents = list(dict.fromkeys(_inner(b.contents).strip() for b in found))
    names = [m[1] for b in found if (m := _BOX_NAME.search(text[max(0, b.start - 16) : b.start]))]
    if len(set(names)) == len(contents) == len(found) > 1:
        return [f"{name} = {c}" for name, c in zip(names, contents, strict=True)]
    return contents


def _inner(text: str) -> str:
    """Return the contents of the innermost box."""
    nested = boxes(text)
    return _inner(nested[-1].contents) if nested and nested[-1].contents.strip() else text


# ---- announcements ----


def last_announcement(document: Document) -> Found | None:
    """Return the last announced answer; a remark on an answer, `it is correct`, announces none."""
    text = document.text
    best: Found | None = None
    for pattern in (phrases.OUR_ANSWER, phrases.HASHES):
        for m in list(pattern.finditer(text))[-MAX_ANNOUNCEMENTS:]:
            if best is None or m.start() > best.start:
                best = Found(next(filter(None, m.groups())), m.start(), m.end())
    checks: list[Found] = []
    for m in reversed(list(phrases.ANNOUNCED.finditer(text))[-MAX_ANNOUNCEMENTS:]):
        if best and m.start() < best.start:
            break
        if phrases.DOUBTED.search(text[max(0, m.start() - 100) : m.start()]):
            continue
        found = _announced_at(document, m.start(), m.end())
        if found is None:
            continue
        if phrases.SELF_CHECK.fullmatch(found.answer.strip(" .:*`")):
            checks.append(found)
        else:
            return found
    return best or (checks[0] if checks and not document.boxes else None)


def _announced_at(document: Document, start: int, at: int) -> Found | None:
    """Return what is announced between `at` and the end of its sentence; None for nothing."""
    text = document.text
    if _NEXT_CHOICE.match(text, at) and phrases.CHOICE_AND_TEXT.match(text, at):
        return None  # a list of options
    sentence = _sentence(document, at)
    end = text.find(sentence, at) + len(sentence)
    taken_back = sentence.endswith("..") or _ASKED.match(text, end)
    if taken_back or phrases.HEDGED.match(sentence) or phrases.ANNOUNCED.match(sentence):
        return None
    if choice := phrases.CHOICE_AND_TEXT.match(text, at):
        sentence = f"({choice[1]}) {_sentence(document, choice.start(2))}"
    return Found(sentence, start, end) if _is_whole(sentence) else None


def _sentence(document: Document, at: int) -> str:
    """Return the text from `at` to the end of its sentence, without its marks."""
    text = document.text
    rest = text[at : at + MAX_PROSE]
    at += len(rest) - len(rest.lstrip(" *\n\t\"'“"))
    found = phrases.CLOSING_PHRASE.sub("", document.until_break(at)[:MAX_PROSE])
    return without_bold(found).strip(" *\"'”")


def _is_whole(sentence: str) -> bool:
    """Return whether a sentence has an answer that is not cut after an opening bracket."""
    opened = sum(map(sentence.count, "([{")) - sum(map(sentence.count, ")]}"))
    cut = opened > 0 and (len(sentence) == 1 or sentence[-1] in "([{,")
    return bool(re.search(r"[^\s.…_]", sentence)) and not cut

"""Response → answer text.

What is looked for, in this order; the last of a kind counts:
    1. after any `</think>`; up to a chat marker such as `<|im_start|>`
    2. boxed: \\boxed{…} with balanced braces; boxes joined by and, or, comma are one list
    3. announced: "final answer is …", "the answer is …", "Answer: …", "#### …",
       "… is our answer"; one that follows the last box beats the box when it is math
    4. the whole text when it is a bare answer
    5. the last piece of math or the last number
"""

from __future__ import annotations

import re

from checkers.math.clean import matching

_CHAT_END = re.compile(
    r"<\|(?:im_start|im_end|eot_id|end|endoftext|assistant|user)\|?>?|</s>|<eos>"
)
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
_HASHES = re.compile(r"####\s*(.+)")
_OUR_ANSWER = re.compile(
    r"(?:^|[\s,])(\$[^$]{1,200}\$|\\\(.{1,200}?\\\)|-?[\d.,/]{0,40}\d)\s{1,9}is\s+(?:our|the)\s+(?:final\s+)?answer",
    re.I,
)
_HOPE = re.compile(r"\.?\s{0,9}I hope (?:it|this) is correct\.?.*$", re.I | re.S)
_MATH = re.compile(
    r"\$\$(?P<a>.{1,4000}?)\$\$|\\\[(?P<b>.{1,4000}?)\\\]|\\\((?P<c>.{1,4000}?)\\\)"
    r"|(?<!\\)\$(?P<d>(?:\\.|[^$\\]){1,4000}?)\$",
    re.S,
)
_ENVIRONMENT = re.compile(r"\\begin\{([pbvBV]?matrix|array)\}.{0,4000}?\\end\{\1\}", re.S)
_NUMBER = re.compile(
    r"(?<![\w.])[-−]?(?:[$€£]\s?)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+|(?<=\d))(?:[eE][-+]?\d+)?"
    r"(?:\s?/\s?\d+)?(?:\s?\\?%)?"
)
_PROSE_VERB = re.compile(
    r"(?<![A-Za-z\\])(?:is|are|was|equals?|get|gets|find|have|has|gives?|that|which|therefore|thus|hence|since|so|"
    r"because|we|let|there|obtain|yields?|must|will|be|would)(?![A-Za-z])",
    re.I,
)
_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,}(?![A-Za-z])")
_TEX_WORDS = re.compile(
    r"\\(?:text|mbox|textbf|textit|mathrm|operatorname|begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+"
)
BARE_WORDS = 12
LONGEST = 100_000  # characters looked at, from the end
LONGEST_SAID = 4000  # characters after an announcement, and at the end of prose
MOST_SAID = 16  # announcements, from the end
MOST_BOXES = 64  # looked at, from the end


def trim(response: str) -> str:
    """The part of a response that can hold its answer."""
    at = response.rfind("</think>")
    if at >= 0 and response[at + 8 :].strip():
        response = response[at + 8 :]
    found = _CHAT_END.search(response, 1)
    if found and response[: found.start()].strip():
        response = response[: found.start()]
    return response[-LONGEST:].strip()


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
    if not found:
        return None
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


def _inner(text: str) -> str:
    nested = boxes(text)
    return _inner(nested[-1][2]) if nested and nested[-1][2].strip() else text


def announced(text: str) -> tuple[str, int] | None:
    """What the last announcement says, and where it starts."""
    best: tuple[str, int] | None = None
    for m in _OUR_ANSWER.finditer(text):
        best = (m[1], m.start())
    for m in _HASHES.finditer(text):
        if best is None or m.start() > best[1]:
            best = (m[1], m.start())
    for m in list(_ANNOUNCED.finditer(text))[-MOST_SAID:]:
        if best is None or m.start() > best[1]:
            said = _sentence(text[m.end() : m.end() + LONGEST_SAID])
            if said:
                best = (said, m.start())
    return best


def _sentence(text: str) -> str:
    """Up to the end of the sentence; math and environments are kept whole."""
    text = text.lstrip(" *\n\t\"'“")
    text = _HOPE.sub("", text)
    end = len(text)
    inside = [m.span() for m in _MATH.finditer(text)] + [
        m.span() for m in _ENVIRONMENT.finditer(text)
    ]
    for m in re.finditer(r"\n|[.!?;](?=\s|$)|\*\*", text):
        if not any(a <= m.start() < b for a, b in inside):
            end = m.start()
            break
    return text[:end].strip(" *\"'”")


def is_bare(text: str) -> bool:
    """Whether the whole text is an answer rather than prose around one."""
    if not re.search(r"[A-Za-z]", text):
        return True
    if len(text) > LONGEST_SAID and "\\begin" not in text:
        return False
    if "\n\n" in text and len(_WORD.findall(_TEX_WORDS.sub(" ", text))) > BARE_WORDS:
        return False
    outside = _ENVIRONMENT.sub(" ", _MATH.sub(" ", text))
    outside = _TEX_WORDS.sub(" ", outside)
    count = len(_WORD.findall(outside))
    if count == 0:
        return True
    has_content = _MATH.search(text) or re.search(r"\d", text) or _ENVIRONMENT.search(text)
    if not has_content:
        return count <= BARE_WORDS
    if outside.strip().lower().startswith(("answer", "final answer")):
        return False
    return count <= 8 and not _PROSE_VERB.search(outside)


def last_piece(text: str) -> str:
    """The last math or number of prose; the text itself when it has neither."""
    text = _HOPE.sub("", text).strip()
    best = ("", -1, -1)
    for m in _MATH.finditer(text):
        inner = next(g for g in m.groups() if g is not None)
        best = (inner, m.start(), m.end())
    for m in _ENVIRONMENT.finditer(text):
        if m.start() > best[2]:
            best = (m[0], m.start(), m.end())
    for m in _NUMBER.finditer(text):
        if m.start() >= best[2] and m[0].strip():
            best = (m[0], m.start(), m.end())
    tail = text[best[2] :] if best[1] >= 0 else ""
    answer = best[0].strip()
    if re.match(r"\s*(?:\\?%|percent|pct)", tail):
        answer += "%"
    return answer or text


_VERB_TAIL = re.compile(r"(?:^|\s)(?:is|are|equals|=|be)\s*:?\s+(?=\S)", re.I)


def _from_statement(said: str) -> str:
    inner = last_boxed(said)
    if inner:
        return inner[0]
    if is_bare(said):
        return said
    tails = list(_VERB_TAIL.finditer(said))
    if tails and is_bare(said[tails[-1].end() :]):
        return said[tails[-1].end() :]
    return last_piece(said)


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
    boxed = last_boxed(text)
    said = announced(text)
    if boxed and not (said and said[1] >= boxed[1] and _mathy(said[0])):
        return boxed[0].strip()
    if said:
        return _from_statement(said[0]).strip()
    if strict:
        return ""
    if is_bare(text):
        return text
    return _from_prose(text)


def _from_prose(text: str) -> str:
    trimmed = _HOPE.sub("", text[-LONGEST_SAID:]).strip()
    sentences = [s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n+", trimmed) if s.strip()]
    for sentence in reversed(sentences):
        if _MATH.search(sentence) or _ENVIRONMENT.search(sentence) or re.search(r"\d", sentence):
            return last_piece(sentence.rstrip(". "))
    return last_piece(trimmed)

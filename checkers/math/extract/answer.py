"""Find the answer's text in a response.

The steps, in order; the last match of a kind counts:
    1. keep the text after `</think>`, before a chat marker such as `<|im_start|>`, before the
       next question that a base model asks itself, and within `<answer>…</answer>`
    2. boxed: \\boxed{…} with balanced braces; boxes joined by "and", "or" or a comma are a list
    3. announced: "final answer is …", "the answer is …", "Answer: …", "#### …",
       "… is our answer"; math announced after the last box beats the box
    4. the whole text when it is a bare answer
    5. the last piece of math or the last number
A response that ends within its thoughts has only 2 and 3.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.bare import CHINESE, MAX_PROSE, is_bare
from gradebox.checkers.math.extract.formats import is_unfinished, json_answer, marked_answer
from gradebox.checkers.math.extract.hedges import (
    ASKED_AFTER,
    DOUBTED,
    after_break,
    fails_later,
    taken_back,
    without_recalled,
    without_suppositions,
)
from gradebox.checkers.math.extract.markdown import (
    BOLD_END,
    with_short_blanks,
    without_bold,
    without_code,
    without_fence,
    without_quote_marks,
    without_struck,
)
from gradebox.checkers.math.extract.negation import without_negated, without_rejected
from gradebox.checkers.math.extract.pieces import CLOSING_PHRASE, ENVIRONMENT, MATH, last_of_kind
from gradebox.checkers.math.extract.prose import closing_sentence, from_prose, tail_or_last
from gradebox.checkers.math.extract.segments import (
    before_explanation,
    corrected,
    is_cut,
    last_segment,
    segments_before_questions,
    without_closing,
    without_repeated_lines,
)
from gradebox.checkers.math.extract.trailing_text import strip_trailing_text
from gradebox.checkers.math.extract.words import CHOICE_AND_TEXT, labelled_choice
from gradebox.checkers.math.read.normalise import closing_brace

_BOX = re.compile(
    r"\\(?:boxed|fbox|framebox)\s*(\{|[A-Za-z0-9]|\\[dt]?frac\s*\{[^{}]*\}\s*\{[^{}]*\}"
    r"|\\sqrt\s*\{[^{}]*\}|\\pi)"
)
_OPEN_BOX = re.compile(  # `$\\boxed{12$` at the end: the math is closed, the answer is not cut
    r"([^$\n]{1,200}?)(?<!\\)(?:\${1,2}|\\[)\]])[\s.]*$"
)
_BETWEEN_JOINED_BOXES = re.compile(  # `, y = ` or ` papers and ` between two boxes
    r"(?=.{0,60}$)[\s$\\()\[\].]*(?:"
    r"[,;]\s*(?:\\q?quad|\\[,; ]|[\s$\\(\[])*(?:[A-Za-z](?:_\{?\w+\}?)?\s*=\s*)?"
    r"(?:(?:and|or)\b[^.=]{0,12})?"
    r"|(?:\\q?quad|\\[,; ]|\s)*(?!(?:is|was|not)\b)(?:[A-Za-z_0-9]+\s*){0,2}[\s$\\()\[\]]*"
    r"(?:\band\b|\bor\b|\\text\{\s*(?:and|or)\s*,?\s*\})[^.=]{0,24}(?:=\s*)?)",
    re.S,
)
_ANNOUNCED = re.compile(  # `The answer to the second part is: `
    r"(?:(?:(?:final|correct|the)\s+)?answers?|\bans(?=\s*[:=-])|(?:answer|correct)\s+(?:option"
    r"|choice)(?:\s+letter)?|the\s+solution"
    r"|final\s+(?:result|verdict|value)|verdict(?=\s*:)|(?:agreed\.\s+)?submit(?=\s*:)"
    r"|(?:the|our)\s+(?:result|value|total|output)(?=\s{0,3}[:：]))"
    r"(?:\s+(?:to|for|of)\s+[^.:\n]{0,80}?)?(?:\s+\([^()\n]{1,40}\))?\s*\**\s*(?:is|are|was|should\s+be|must\s+be"
    r"|equals|=|:|：)"
    r"\s*\**\s*:?\s*",
    re.I,
)
_ANNOUNCED_ELSEWHERE = re.compile(  # `La réponse est 7`, `Die Antwort lautet 7`, `Ответ: 7`
    r"(?:réponse|antwort|lösung|ergebnis|respuesta|solución|resultado|résultat|risposta"
    r"|resposta|ответ"
    r"|答え|정답|답)(?:\s+(?:final[e]?|del?\s+\w+))?\s*"
    r"(?:est|ist|lautet|beträgt|es|è|é|は|은|는|[:：=—-])\s*[:：]?\s*(?:donc\s+|also\s+|entonces\s+)?",
    re.I,
)
_ANSWER_WORD = re.compile(r"(yes|no|true|false)\b(?=[:,;])", re.I)  # `yes: take the coloring …`
_SENTENCE_END = re.compile(  # not the factorial of `(n-1)!`
    r"\n|(?<!\bi\.e)(?<!\be\.g)(?<!\bM[rs])(?<!\b[MD]rs)(?<!\bDr)(?<!\bSt)"
    r"(?:[.?;]|(?<![)\]}])(?<!\b[a-z])!)(?=\s|$)|。|" + BOLD_END.pattern
)
_THAT_IS = re.compile(r"\bi\.e\.,?\s+([^,;]+)$")  # `9 less than 20, i.e. 11`
_APPOSITION = re.compile(  # `the second candidate, $1$`
    r"^the\s+(?:first|second|third|fourth|fifth|last|former|latter|middle|remaining|other|larger"
    r"|smaller|only)\s+(?:(?:correct|valid|possible|consistent)\s+)?(?:one|candidate|option|choice"
    r"|value|number|root|solution|entry|row)\s*[,:]\s*(?:(?:namely|that\s+is|i\.e\.),?\s*)?"
    r"(?=[-$\d]|\\(?!text))",
    re.I,
)
_WORDS = re.compile(r"[-\w.]*\s+[a-z]{2,}\s+[a-z]{2,}\s")
_SUBMITTED = re.compile(r"\bagreed[.,:]?\s+submit\s+", re.I)  # of a dialogue
_HEADING = re.compile(  # `### Final Answer` on a line of its own
    r"^[#*_ \t]*(?:final\s+answer|answer)[#*_ \t]*\n\s*(?=\S)", re.I | re.M
)
_LINE = re.compile(  # `A: 36`, `Output: 42`, not the first of several options
    r"^(?:[>*# \t]*(?:final\s+)?answers?\.[* \t]+(?=\S)|[>* \t]*(?:(?:A|Ans|Output"
    r"|Result)\b[.* \t]*[:：](?!\s*[A-Z]\s*[=:])|Ans\.)[* \t]*(?=\S))"
    r"(?![^\n]*\n[>* \t]*\(?B\)?\s*[.:)])",
    re.I | re.M,
)
_ANNOUNCED_ZH = re.compile(  # `答案是`, `故选：`
    r"的?值[为是]\s*|所求[^，。；：$\d\n]{0,12}[为是]\s*|答案\s*(?:应该|应)?\s*(?:是|为|：|:)\s*[：:]?\s*|答\s*[：:]\s*|[故应]选(?!项)\s*[：:]?\s*"
    r"|选项\s*(?:应该|应)?\s*[是为]\s*[：:]?\s*(?=[(（]?[A-J])|(?<!不)选(?:择)?\s*[：:]?\s*(?=\**[A-J](?![A-Za-z项选]))"
)
_MARKED_WORD = re.compile(  # `\text{Answer: }64`
    r"(?<!\{)\\(?:text(?:bf|it)?|mathbf|mathrm)\s*\{\s*((?:the\s+)?(?:final\s+)?answer\s{0,9}(?:is|="
    r"|:)?)\s{0,9}:?\s{0,9}\}(\s{0,9}:)?",
    re.I,
)
_PART = re.compile(  # `(a)`, `**(b)**`, `Part c` at the start of a line
    r"^[\s*#>-]*(?:part\s+\(?([a-e1-5])\b|\(([a-e1-5])\)|\((i{1,3}|iv|v)\))", re.I | re.M
)
_PART_NAMES = ("abcde", "12345", ("i", "ii", "iii", "iv", "v"))
_NEGATED = re.compile(r"\bnot\s*[$\\(]*\s*$", re.I)
_DENIED = re.compile(r"[\s$)\\]*(?:is|was|cannot\s+be)\s+(?:not\b|wrong|incorrect)", re.I)
_MINUS = re.compile(r"(?:^|[=$(\[:]|\bis)\s*-\s*$")  # `x = -\boxed{5}`
_HASHES = re.compile(r"####\s*(.{1,4000})")
_OUR_ANSWER = re.compile(  # `$6$ is our answer`
    r"(?:^|[\s,])(\$[^$]{1,200}\$|\\\(.{1,200}?\\\)|-?[\d.,/]{0,40}\d)\s{1,9}is\s+(?:our"
    r"|the)\s+(?:final\s+)?answer",
    re.I,
)
_OUR_CHOICE = re.compile(  # `Option (D) is the correct answer`
    r"(?:option|choice)\s+(\(?[A-J]\)?)\s+is\s+(?:therefore\s+)?(?:the|our)\s+"
    r"(?:(?:correct|right|best|final)\s+)?(?:answer|option|choice)\b",
    re.I,
)
_BOLD_LINE = re.compile(r"\n\s*\*\*([^*\n]{1,120})\*\*[.\s]*$")  # alone on the last line
_BEFORE_PARTICLE = re.compile(  # `$x^2$입니다`, `12です`
    r"(\$[^$\n]{1,400}\$|\\\([^\n]{1,400}?\\\)|[-−]?\d[\d.,/]*)\**(?=\s?[\u3040-\u30ff\uac00-\ud7a3])"
)
_REFUSED = re.compile(  # at the end
    r"(?:can(?:no|['’])t|cannot|could(?:\s+not|n['’]t)|unable\s+to|not\s+able\s+to"
    r"|won['’]t)\s+(?:\w+\s+){0,2}?"
    r"(?:give|provide|offer|state|determine|reach|produce|find|conclude"
    r"|decide)\b[^.!?\n]{0,80}[.!?]?\s*$",
    re.I,
)
_EMPTY_BOX = re.compile(r"[\s?_.…]+|\\(?:l?dots|quad|square)")  # `\boxed{?}` of the question
_LETTER_AT_END = re.compile(
    r"(\S.*[\w.!$)%])\s+\((?:(?:choice|option)\s+)?([A-J])\)[.\s]*", re.S
)  # `It is dark. (E)`
_CHOICE = re.compile(r"\W*[A-J]\W*")
_CONCLUSION = re.compile(r"(?<=[.!])\s+(?=(?:so|thus|hence|therefore)\b[^.!?]*\d)", re.I)
MAX_ANNOUNCEMENTS = 16  # considered, from the end
MAX_ANSWER_WORDS = 3  # `the answer is of the form m/n` announces nothing
MAX_BOXES = 64  # considered, from the end


def boxes(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, contents) of every closed box that is not within another."""
    out: list[tuple[int, int, str]] = []
    at = 0
    for m in list(_BOX.finditer(text))[-MAX_BOXES:]:
        if m.start() < at:
            continue
        if m[1] != "{":
            out.append((m.start(), m.end(), m[1]))
            at = m.end()
            continue
        end = closing_brace(text, m.end() - 1)
        if end < 0 and (open_box := _OPEN_BOX.match(text, m.end())):
            if open_box[1].count("{") == open_box[1].count("}"):
                out.append((m.start(), open_box.end(), open_box[1]))
            break
        if end >= 0:
            out.append((m.start(), end + 1, text[m.end() : end]))
            at = end + 1
    return [b for b in out if not _EMPTY_BOX.fullmatch(b[2])]


def last_boxed(text: str) -> tuple[str, int] | None:
    """Return the last box, or the list of the last boxes joined, and where it ends."""
    found = boxes(text)
    found = [b for b in found if not _is_denied(text, b)]
    if not found:
        return None
    parts = _boxes_of_parts(text, found)
    if parts:
        return f"({'; '.join(_inner(c).strip() for _, _, c in parts)})", found[-1][1]
    kept = [found[-1]]
    for earlier in reversed(found[:-1]):
        between = text[earlier[1] : kept[0][0]]
        if not _BETWEEN_JOINED_BOXES.fullmatch(between):
            break
        kept.insert(0, earlier)
    contents = list(dict.fromkeys(_inner(c).strip() for _, _, c in kept))
    answer = ",".join(contents) if len(contents) > 1 else contents[0]
    if len(contents) == 1 and _MINUS.search(text[max(0, kept[0][0] - 12) : kept[0][0]]):
        answer = f"-({answer})"
    tail = text[kept[-1][1] :]
    if re.match(r"\s*\$?\s*(?:\\?%|percent|pct)", tail) and "%" not in answer:
        answer += "%"
    return answer, kept[-1][1]


def _is_denied(text: str, box: tuple[int, int, str]) -> bool:
    """Return whether a response says `not \\boxed{12}` or `\\boxed{12} is not the answer`."""
    start, end, _ = box
    return bool(_NEGATED.search(text[max(0, start - 12) : start]) or _DENIED.match(text, end))


def _boxes_of_parts(text: str, found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the last boxes when each follows its part of the question: (a), (b), …"""
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
    """Return the contents of the innermost box."""
    nested = boxes(text)
    return _inner(nested[-1][2]) if nested and nested[-1][2].strip() else text


def announced(text: str) -> tuple[str, int] | None:
    """Return the last announced answer and where its announcement starts."""
    best: tuple[str, int] | None = None
    for pattern in (_OUR_ANSWER, _OUR_CHOICE, _HASHES):
        for m in pattern.finditer(text):
            if best is None or m.start() > best[1]:
                best = (m[1], m.start())
    patterns = [_SUBMITTED, _ANNOUNCED, _ANNOUNCED_ELSEWHERE, _HEADING, _LINE]
    if not text.isascii():
        patterns.append(_ANNOUNCED_ZH)
    for m in [m for p in patterns for m in list(p.finditer(text))[-MAX_ANNOUNCEMENTS:]]:
        doubted = DOUBTED.search(text[max(0, m.start() - 100) : m.start()])
        if not doubted and (best is None or m.start() > best[1]):
            sentence = first_sentence(without_fence(text[m.end() : m.end() + MAX_PROSE]))
            at = text.find(sentence, m.end())
            if at >= 0 and ASKED_AFTER.match(text, at + len(sentence)):
                continue
            if word := _ANSWER_WORD.match(sentence):
                sentence = word[1]
            elif choice := CHOICE_AND_TEXT.match(text, m.end()):
                sentence = f"({choice[1]}) {first_sentence(choice[2])}"
            if _is_whole(sentence) and not fails_later(
                sentence, text[m.end() : m.end() + MAX_PROSE]
            ):
                best = (sentence, m.start())
    return best


def _is_whole(sentence: str) -> bool:
    """Return whether a sentence has an answer that is not cut after an opening bracket."""
    opened = sum(map(sentence.count, "([{")) - sum(map(sentence.count, ")]}"))
    cut = opened > 0 and (len(sentence) == 1 or sentence[-1] in "([{,")
    return bool(re.search(r"[^\s.…_]", sentence)) and not cut


def first_sentence(text: str) -> str:
    """Return the text up to the end of its sentence; math and environments are kept whole."""
    text = CLOSING_PHRASE.sub("", text.lstrip(" *\n\t\"'“"))
    if particle := _BEFORE_PARTICLE.match(text):
        return particle[1]
    end = len(text)
    inside = [m.span() for pattern in (MATH, ENVIRONMENT) for m in pattern.finditer(text)]
    for m in _SENTENCE_END.finditer(text):
        if not any(a <= m.start() < b for a, b in inside):
            end = m.start()
            break
    return without_bold(text[:end]).strip(" *\"'”")


def _starts_as_math(text: str) -> bool:
    """Return whether an announced text is math or a number, not talk about an answer."""
    return bool(
        re.match(r"[\"'“]*\s*(?:\$|\\\(|\\\[|-?\d|\\boxed|\\frac|\\sqrt|\\pi|\\begin)", text)
    )


def _has_answer(segment: str) -> bool:
    found = announced(segment)
    return bool(
        marked_answer(segment)
        or last_boxed(segment)
        or (found and (_starts_as_math(found[0]) or len(found[0].split()) <= MAX_ANSWER_WORDS))
    )


def extract_answer(response: str, strict: bool = False, gold: str = "") -> str:
    """Return the answer's text in a response; "" when there is none.

    A bare answer is returned as it is, but a choice with its text as `(B) text`. With `strict`,
    only boxed and announced answers count. With a reference answer, prose without either gives the
    last formula of its kind.
    """
    answer = _extracted(response, strict, gold)
    return labelled_choice(answer) or answer


def _extracted(response: str, strict: bool, gold: str) -> str:
    text = last_segment(response)
    if not text:
        return ""
    if r"\text" in text or r"\math" in text:
        text = _MARKED_WORD.sub(lambda m: re.sub(r"\s*(?:is|=|:)?\s*$", "", m[1]) + ": ", text)
    strict = strict or is_unfinished(text)
    text = next(filter(_has_answer, segments_before_questions(text)), text)
    if inside := marked_answer(text):
        text, strict = inside, False
    if value := json_answer(text):
        return value
    text = without_closing(without_struck(without_quote_marks(text)))
    text = with_short_blanks(without_negated(text))
    text = text if len(text) > MAX_PROSE else without_recalled(text)
    boxed = last_boxed(text)
    if boxed is None and len(text) <= MAX_PROSE:
        text = after_break(text)
    found = announced(text)
    if rest := taken_back(text, max(boxed[1] if boxed else 0, found[1] if found else 0)):
        text, boxed, found = text[rest:], None, None
    if correction := corrected(text, max(boxed[1] if boxed else 0, found[1] if found else 0)):
        return correction
    if boxed and not (
        found
        and found[1] >= boxed[1]
        and (_starts_as_math(found[0]) or _CHOICE.fullmatch(found[0]))
    ):
        return boxed[0].strip()
    if found:
        inner = last_boxed(found[0])
        if inner:
            return inner[0].strip()
        if choice := labelled_choice(found[0]):
            return strip_trailing_text(choice)
        found = re.sub(r"(?<=\$) (?:y|et|und|e) (?=\$)", " and ", found[0]), found[1]
        answer = _APPOSITION.sub("", strip_trailing_text(found[0]))
        if (that_is := _THAT_IS.search(answer)) and _WORDS.match(answer):
            answer = that_is[1]
        if is_bare(answer):
            return answer.strip()
        block = text[found[1] :]
        concluded = len(block) <= MAX_PROSE and _CONCLUSION.search(block)
        return (from_prose(block) if concluded else tail_or_last(answer)).strip()
    if strict or _REFUSED.search(text[-300:]):
        return ""
    text = before_explanation(without_repeated_lines(without_code(text)))
    if (last := _BOLD_LINE.search(text)) and is_bare(last[1]):
        return last[1].strip(" .:")
    if is_cut(text):
        return ""
    text = with_short_blanks(without_rejected(without_suppositions(text)))
    if not text:
        return ""
    if (lettered := _LETTER_AT_END.fullmatch(text[-MAX_PROSE:])) and _WORDS.search(lettered[1]):
        return f"({lettered[2]}) {from_prose(lettered[1])}"
    bare = is_bare(text) or bool(CHINESE.search(text) and labelled_choice(text))
    answer = text if bare else from_prose(text)
    if not gold or (bare and len(MATH.findall(text[:MAX_PROSE])) < 2):
        return answer
    return last_of_kind(gold, answer, closing_sentence(text))

"""Read the text of a response once into a document: formulas, boxes, sentences.

    text ─▶ cleaned ─▶ Document(text, formulas, boxes, breaks)

    formula   `$…$`, `\\(…\\)`, `\\[…\\]`, `\\begin{…}…\\end{…}`       never split
    box       `\\boxed{…}` with balanced braces, `\\fbox{…}`, `\\boxed 5`
    break     the end of a sentence, of a line, `;`, the end of bold text: not within a formula

`**` is bold unless it is a power: `**4**` is a bold 4, `x**2` a power.

Before, a response is cut down to the model's own answer. FORMATS has a row for each family of
models; add one there. A cell is a regular expression, or "". What is kept of a response:

1. the text after the assistant's header, when the response begins with a header
2. of that, the text after the last end of thoughts
3. of that, the contents of the last answer, then the text before the end of the turn
4. of that, the text before the question that a base model asks itself next
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from gradebox.checkers.math.read.normalise import closing_brace

MAX_BOXES = 64  # considered, from the end
MAX_PROSE = 4000  # characters after an announcement, or at the end of prose
_MATH = (
    r"\$\$.{1,4000}?\$\$|\\\[.{1,4000}?\\\]|\\\(.{1,4000}?\\\)"
    # `$400 + $60` is money
    r"|(?<!\\)\$(?!\d[^$]{0,200}(?:\s\$|\$\d))(?:\\.|[^$\\]){1,4000}?\$"
)
_ENVIRONMENT = (
    r"\\begin\{(?P<name>[pbvBV]?matrix|array|align\*?|aligned|gather\*?|equation\*?|cases)\}"
    r".{0,4000}?\\end\{(?P=name)\}"
)

FORMULA = re.compile(rf"{_MATH}|{_ENVIRONMENT}", re.S)
_POWER = r"(?<=[\d)}\]])\*\*(?=[\w({\\+-])|(?<=(?<![A-Za-z])[A-Za-z])\*\*(?=[\w({\\+-])"
_BOLD_END = rf"(?<=\S)(?!{_POWER})\*\*"
_ABBREVIATED = r"(?<!\bi\.e)(?<!\be\.g)(?<!\bM[rs])(?<!\b[MD]rs)(?<!\bDr)(?<!\bSt)"
_BREAK = re.compile(  # not the factorial of `(n-1)!`
    rf"(?P<line>\n)|(?P<stop>{_ABBREVIATED}(?:[.?]|(?<![)\]}}])(?<!\b[a-z])!)(?=\s|$)|。)"
    rf"|(?P<part>;(?=\s)|；)|(?P<bold>{_BOLD_END})"
)
_BOX = re.compile(
    r"\\(?:boxed|fbox|framebox)\s{0,50}(\{|[A-Za-z0-9]|\\[dt]?frac\s*\{[^{}]{0,99}\}\s*\{[^{}]{0,99}\}"
    r"|\\sqrt\s*\{[^{}]{0,99}\}|\\pi)"
)
_EMPTY_BOX = re.compile(  # `\boxed{?}` of the question, `\boxed{\text{answer}}`
    r"[\s?_.…\\~]+|\\(?:[lc]?dots?|quad|square|[vh]?phantom\{[^{}]*\}|text\{(?:answer|\s*)\})"
)
_BOLD = re.compile(r"(?<![\w)\]}*])\*\*(?=[^\s*])(.{1,200}?)(?<=[^\s*])\*\*(?![\w(*])")
_NOT_POWER = re.compile(rf"(?!{_POWER})\*\*")
_NOISE = re.compile(  # typed in a session, a quotation mark, a trace, a drawing, `\blacksquare`
    r"^(?:>>>|\.\.\.) [^\n]*\n(?=[^\n])|^[ \t]{0,20}>[ \t]?(?=\S)"
    r"|Traceback \(most recent call last\):\n(?:[ \t]+[^\n]*\n)*[^\n]*\n?"
    r"|\[asy\](?:(?!\[asy\])[\s\S]){0,9000}?\[/asy\]"
    r"|(?:\$\s?)?\\(?:blacksquare|square|qed|Box)(?:\s?\$)?\s{0,9}\Z|<<[^<>\n]{1,60}=[^<>\n]{1,30}>>",
    re.M,
)
_SYMBOLS = re.compile(  # check marks, ends of proofs, emoji
    "[\u2600-\u26ff\u2705\u2713\u2714\u274c\u25a0\u25a1\u220e\ufe0f\U0001f300-\U0001faff]"
)


@dataclass(frozen=True)
class Box:
    """A closed box: where it is in the text, and its contents."""

    start: int
    end: int
    contents: str


@dataclass(frozen=True)
class Document:
    """A text with its formulas and breaks as (start, end), and its boxes, in order."""

    text: str
    formulas: tuple[tuple[int, int], ...]
    boxes: tuple[Box, ...]
    breaks: tuple[tuple[int, str], ...]  # (where, kind), outside formulas

    def until_break(self, start: int) -> str:
        """Return the text from `start` to the next break."""
        at = bisect_left(self.breaks, (start, ""))
        end = self.breaks[at][0] if at < len(self.breaks) else len(self.text)
        return self.text[start:end]


def read(text: str) -> Document:
    """Return the document of a cleaned text."""
    formulas = tuple(m.span() for m in FORMULA.finditer(text))
    breaks, at = [], 0
    for m in _BREAK.finditer(text):
        while at < len(formulas) and formulas[at][1] <= m.start():
            at += 1
        if at == len(formulas) or m.start() < formulas[at][0]:
            breaks.append((m.start(), str(m.lastgroup)))
    return Document(text, formulas, tuple(boxes(text)), tuple(breaks))


def boxes(text: str) -> list[Box]:
    """Return the closed boxes that are not within another and not empty."""
    out: list[Box] = []
    at = 0
    for m in list(_BOX.finditer(text))[-MAX_BOXES:]:
        if m.start() < at:
            continue
        if m[1] != "{":
            out.append(Box(m.start(), m.end(), m[1]))
            at = m.end()
            continue
        end = closing_brace(text, m.end() - 1)
        if end < 0:
            continue
        out.append(Box(m.start(), end + 1, text[m.end() : end]))
        at = end + 1
    return [box for box in out if not _EMPTY_BOX.fullmatch(box.contents)]


def math_contents(formula: str) -> str:
    """Return what is between the delimiters of a formula; an environment as it is."""
    for mark in ("$$", "$"):
        if formula.startswith(mark) and formula.endswith(mark) and len(formula) > 2 * len(mark):
            return formula[len(mark) : -len(mark)]
    return formula[2:-2] if formula[:2] in (r"\(", r"\[") else formula


# ---- what is left out before ----


def model_text(response: str) -> str:
    """Return the assistant's text after its thoughts, without traces and drawings."""
    response = with_short_blanks(_NOISE.sub("", last_turn(response)[-MAX_CHARS:]))
    return (response if response.isascii() else _SYMBOLS.sub("", response)).strip()


def without_bold(text: str) -> str:
    """Return a text without the marks of bold text; `**` of a power stays."""
    return _NOT_POWER.sub("", _BOLD.sub(r"\1", text)) if "**" in text else text


# ---- formats ----

MAX_CHARS = 100_000  # of a response, from its end
MAX_QUESTIONS = 16  # tried as the end of the answer
MAX_OBJECTS = 8  # of JSON, from the end


class Format(NamedTuple):
    """How one family marks thoughts and answers."""

    family: str
    thoughts: str = ""
    thoughts_end: str = ""
    answer: str = ""
    answer_end: str = ""


_THOUGHT_TAG = r"(?:think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad|seed:think)"
_ANSWER_TAG = r"(?:final[_ ]?answer|answer|response|output|solution|result|conclusion|final)"

FORMATS = (
    Format("tags", rf"<{_THOUGHT_TAG}>", rf"</{_THOUGHT_TAG}>", rf"<{_ANSWER_TAG}>",
           rf"</{_ANSWER_TAG}>"),
    Format("Sky-T1", r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>",
           r"<\|begin_of_solution\|>", r"<\|end_of_solution\|>"),
    Format("gpt-oss", r"<\|channel\|>(?:analysis|commentary)",
           r"(?:<\|start\|>assistant)?(?=<\|channel\|>final)",
           r"<\|channel\|>final[^<]{0,40}<\|message\|>", r"<\|(?:return|end)\|>"),
    Format("gpt-oss without marks", r"\Aanalysis(?=[A-Z\s])", r"assistantfinal"),
    Format("s1", r"<\|im_start\|>think\b", r"<\|im_start\|>answer\b"),
    Format("Kimi", "◁think▷", "◁/think▷"),
    Format("Magistral", r"\[THINK\]", r"\[/THINK\]"),
    Format("Command", r"<\|START_THINKING\|>", r"<\|END_THINKING\|>",
           r"<\|START_RESPONSE\|>", r"<\|END_RESPONSE\|>"),
    Format("Granite", r"Here is my thought process:", r"Here is my response:"),
    Format("MedGemma", r"<unused94>(?:thought)?", "<unused95>"),
    Format("Gemma by GRPO", "<start_working_out>", "<end_working_out>"),
    Format("Apriel", "", "", r"\[BEGIN FINAL RESPONSE\]", r"\[END FINAL RESPONSE\]"),
    Format("answer in brackets", "", "", r"\[ANSWER\]", r"\[/ANSWER\]"),
    Format("GAOKAO-Bench", "", "<eoe>", r"【答案】\s*[:：]?", r"<eoa>|【"),
    Format("GLM", "", "", r"<\|begin_of_box\|>", r"<\|end_of_box\|>"),
)  # fmt: skip

_HEADER = re.compile(  # of a turn, at the start of a response
    r"\s*(?:<s>|<bos>|<\|begin_of_text\|>|<｜begin▁of▁sentence｜>)?\s*(?:<\|im_start\|>(?!think|answer)\w+"
    r"|<\|start_header_id\|>\w+<\|end_header_id\|>|<start_of_turn>\w+|<\|(?:system|user|assistant)\|>"
    r"|<｜(?:User|Assistant)｜>|\[INST\]|<\|start\|>assistant|###\s*(?:Instruction|Response):?|(?:USER|ASSISTANT):)"
)
_ASSISTANT = re.compile(
    r"<\|im_start\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>|<start_of_turn>model"
    r"|<\|assistant\|>|<｜Assistant｜>|\[/INST\]|<\|start\|>assistant|###\s*Response:?|ASSISTANT:"
)
_TURN_END = re.compile(
    r"<\|(?:im_start|im_end|eot_id|end|return|endoftext|end_of_text|assistant|user|start_header_id"
    r"|START_OF_TURN_TOKEN|END_OF_TURN_TOKEN)\|?>?"
    r"|</s>|<eos>|<end_of_turn>|<start_of_turn>|<｜end▁of▁sentence｜>|<｜User｜>|\[INST\]"
)


_THOUGHTS, _THOUGHTS_END = (
    re.compile("|".join(filter(None, cells)), re.I)
    for cells in list(zip(*FORMATS, strict=True))[1:3]
)
_ANSWERS = [
    (re.compile(f.answer, re.I), re.compile(f.answer_end, re.I)) for f in FORMATS if f.answer
]
_MARK = re.compile(r"[<\[◁【]|assistantfinal|Here is my|###|ASSISTANT:")
_ANSWERED = re.compile(
    r"\\boxed\b|answer\s{0,9}\**\s{0,9}(?:is|:|：)|####|答案|</answer>|^[>* \t]{0,9}A\s?[:：]",
    re.I | re.M,
)
_NEXT_QUESTION = re.compile(  # what a base model writes after its answer
    r"^[#*> \t]*(?:(?:question|q|problem|exercise|human|user|instruction)[* \t]*[:：]"
    r"|follow-?\s?up\s+question\b|(?:problem|question|exercise)\s*\#?\d+\s*[.:)]"
    r"|(?<=#)[ \t]*(?:question|problem|instruction)[*: \t]*$|问题\s*[:：]|题目\s*[:：])",
    re.I | re.M,
)
_ANSWER_KEY = re.compile(r"(?:final_?)?(?:answer|choice|result|solution)", re.I)
_OBJECT = re.compile(r"\{(?=\s*\")")
_TEX_IN_JSON = re.compile(  # `{"answer": "\frac{1}{2}"}`: a backslash that should be two
    r"(?<!\\)\\(?!u[0-9a-fA-F]{4}|n(?!e|u|abla|ot))(?=[A-Za-z]{2}|[^\"\\/bfnrtu])"
)
_BLANKS = re.compile(r"\s{50,}")


def last_turn(response: str) -> str:
    """Return the assistant's text without its thoughts and what follows its turn."""
    if _MARK.search(response) is None:
        return response
    if _HEADER.match(response):
        header = _ASSISTANT.search(response)
        response = response[header.end() :] if header else response
    ends = [m.end() for m in _THOUGHTS_END.finditer(response)]
    if ends and response[ends[-1] :].strip():
        response = response[ends[-1] :]
    turn_end = _TURN_END.search(response, 1)
    answers = [m.start() for begin, _ in _ANSWERS if (m := begin.search(response))]
    if turn_end is None or any(start <= turn_end.start() for start in answers):
        return response
    return response[: turn_end.start()] if response[: turn_end.start()].strip() else response


def is_unfinished(text: str) -> bool:
    """Return whether a response ends within its thoughts, where prose gives no answer."""
    return bool(_THOUGHTS.match(text)) and not _THOUGHTS_END.search(text)


def marked_answer(text: str) -> str:
    """Return the contents of the last `<answer>…</answer>` or its like; "" without one."""
    best, at = "", -1
    for begin, end in _ANSWERS:
        for m in begin.finditer(text):
            if m.start() < at:
                continue
            close = end.search(text, m.end())
            inside = text[m.end() : close.start() if close else len(text)]
            if inside.strip():
                best, at = inside.strip(), m.start()
    return best


def json_answer(text: str) -> str:
    """Return the answer in the last JSON object that has one: `{"answer": "4"}`; else ""."""
    if '":' not in text and '" :' not in text:
        return ""
    text = _TEX_IN_JSON.sub(r"\\\\", text)
    for m in reversed(list(_OBJECT.finditer(text))[-MAX_OBJECTS:]):
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(text, m.start())
        except (ValueError, RecursionError):
            continue
        answers = [v for k, v in value.items() if _ANSWER_KEY.fullmatch(k)]
        if answers and isinstance(answers[-1], str | int | float):
            return str(answers[-1])
    return ""


def before_next_question(text: str, has_answer: Callable[[str], bool]) -> str:
    """Return the text up to the first question that follows an answer; else the text itself."""
    answered = _ANSWERED.search(text)
    if answered is None:
        return text
    questions = _NEXT_QUESTION.finditer(text, answered.end())
    for m, _ in zip(questions, range(MAX_QUESTIONS), strict=False):
        if has_answer(before := text[: m.start()].strip()):
            return before
    return text


def with_short_blanks(text: str) -> str:
    """Shorten long runs of blanks: where blanks are optional, a pattern would try each of them."""
    return _BLANKS.sub(lambda m: "\n\n" if "\n" in m[0] else " ", text)

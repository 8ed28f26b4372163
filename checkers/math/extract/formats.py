"""Cut a response down to the model's own answer: no thoughts, chat markers or next question.

    [turn header] [thoughts … thoughts_end] [answer … answer_end] [end of turn, next turn]

FORMATS has a row for each family of models; add one there. A cell is a regular expression, or "".
What is kept of a response:

1. the text after the assistant's header, when the response begins with a header
2. of that, the text after the last end of thoughts
3. of that, the contents of the last answer, then the text before the end of the turn
4. of that, the text before the question that a base model asks itself next
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple

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


def _joined(cells: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(filter(None, cells)), re.I)


_THOUGHTS = _joined([f.thoughts for f in FORMATS])
_THOUGHTS_END = _joined([f.thoughts_end for f in FORMATS])
_ANSWERS = [
    (re.compile(f.answer, re.I), re.compile(f.answer_end, re.I)) for f in FORMATS if f.answer
]
_MARK = re.compile(r"[<\[◁【]|assistantfinal|Here is my|###|ASSISTANT:")
_ANSWERED = re.compile(r"\\boxed\b|answer\s{0,9}\**\s{0,9}(?:is|:|：)|####|答案|</answer>", re.I)
_NEXT_QUESTION = re.compile(  # what a base model writes after its answer
    r"^[#*> \t]*(?:(?:question|q|problem|exercise|human|user|instruction)[* \t]*[:：]"
    r"|follow-?\s?up\s+question\b|(?:problem|question|exercise)\s*\#?\d+\s*[.:)]"
    r"|(?<=#)[ \t]*(?:question|problem|instruction)[*: \t]*$|问题\s*[:：]|题目\s*[:：])",
    re.I | re.M,
)
_ANSWER_KEY = re.compile(r"(?:final_?)?(?:answer|choice|result|solution)", re.I)
_OBJECT = re.compile(r"\{(?=\s*\")")
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
    for m in reversed(list(_OBJECT.finditer(text))[-MAX_OBJECTS:]):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, m.start())
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

"""Tell a bare answer, `12 cm` or *all real numbers except 2*, from prose around one."""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.main_number import main_number
from gradebox.checkers.math.extract.pieces import ENVIRONMENT, MATH
from gradebox.checkers.math.extract.words import (
    chosen_letter,
    only_number,
    spelled_number,
    spoken_time_in,
    words_of,
    yes_or_no,
)
from gradebox.checkers.math.read.number_words import read_number_words, translate
from gradebox.checkers.math.read.split import split_cases

_PROSE_VERB = re.compile(
    r"(?<![A-Za-z\\])(?:it['’]s|is|are|was|were|had|can|could|did|equals?"
    r"|get|gets|find|have|has|gives?|(?<!such )that"
    r"|beträgt|ist|sind|es|son|est|sont|which|then|therefore|thus|hence|since|so|because"
    r"|we|let|there|obtain|yields?|must|will|be|would|takes?|needs?|costs?|holds?|starts?"
    r"|ends?|lasts?|rejected"
    r"|altogether|happens?|occurs?|satisf(?:y|ies)|wins?|earns?|weighs?|contains?"
    r"|requires?|remains?|becomes?|regardless)(?![A-Za-z^_])",
    re.I,
)
WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,}(?![A-Za-z])")
TEX_WORDS = re.compile(
    r"\\(?:text|mbox|textbf|textit|mathrm|operatorname|begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+"
)
_LEAD_WORDS = re.compile(  # `The total cost $45`
    r"(?!(?:option|choice|answer)\b)[A-Za-z]{2,}(?:['’]s|\.)?,?(?:\s+[a-z]+(?:['’]s)?)+\s+[$\\*(\[]*[-\d]",
    re.I,
)
_LEAD_CLAUSE = re.compile(  # `By the theorem of Pythagoras, `, `Substituting back, `
    r"(?:By|From|In|With|After|For|[A-Z][a-z]+ing)\s[A-Za-z][A-Za-z' -]{1,60},\s"
)
_CLAUSE = re.compile(  # `Adding, $5+7=12$`, `When $x=2$, $y=12$`, `In 3 hours he walks 12 miles.`
    r"(?!(?:All|Any|Every|No|None|Not|Option|Choice|Player"
    r"|Quadrant)\b)(?:[A-Z][a-z]+ing(?:\s[^,.]{0,60})?,\s"
    r"|(?:When|If|As|In|At|With|For|On|From|By|After|Now|Next|Finally|So"
    r"|Then)\s.{1,80}?(?:,\s|\s[a-z]+s\s)"
    r"|[A-Z][a-z]+\s(?=.*\s[a-z]{3,}\s.*\s[a-z]{3,}\s.*\.$))"
)
_PRONOUN = re.compile(
    r"(?<![A-Za-z\\])(?:I(?=\s+[a-z]{2})|I['’]d|he|she|you|they|my|his|her|their|our"
    r"|means|says?)(?![A-Za-z])"
)
EXCEPTION = re.compile(  # `all real numbers except 2`
    r"\s*(?:not\s+)?(?:all|any|every|no|none|never|without)\b|.*\b(?:except|but|other\s+than)\b",
    re.I | re.S,
)
_BOUND = re.compile(  # `at least 5`
    r"(?:at\s+(?:least|most)|(?:no\s+|not\s+)?(?:more|less|fewer|greater|larger|smaller)\s+than"
    r"|up\s+to)\s+\S+(?:\s+[a-z]+){0,3}[.\s]*",
    re.I,
)
_SPEECH = re.compile(  # `Her earnings: $460`, `Output:` and a line, two sentences
    r"^[A-Z][a-z]+(?:['’][a-z]*)?(?: [a-z]+){2,}:\s|:[ \t]*\n|(?:\d|[a-z]{3}|\$)\.\s+"
    r"[A-Z][a-z]+(?: [a-z]|[:,])"
    r"|[\w)°]\.\s+[A-Z](?:\([a-z]\)|\d)?\s*=|\$,\s(?!and\s|or\s|if\s|when\s|for\s|where\s|with\s)[a-z]{3,}\s\$"
)
_DISPLAY = re.compile(r"\$\$|\\\[|\\begin\{(?:align|equation|gather)")
_COUNTED_SUM = re.compile(
    r"\d\s+[a-z]{3,}\s*[×*+x-]\s*\d+\s+[a-z]{3,}\s*="
)  # `100 boxes × 12 eggs = …`
LABEL = re.compile(  # `Distance: √13`, `Odpowiedź: 100`
    r"^(?!lambda\b|print\b|return\b)[^\W\d_]{3,}(?:\s[^\W\d_]+){0,4}\s*[:：]\s*"
    r"(?=[-−\d$\\√πᵃ(\[])(?!.*[:：].*[:：])"
)
_NEXT_STEP = re.compile(r"\d\.\s+\d+\s*[-+×*·/=]|,\s+with\s+equality\b")
_ASSIGNED = re.compile(r"[\s$\\(|*-]*[A-Za-zα-ω\\][^=+*/<>-]{0,40}=.*")
_THEN_CODE = re.compile(r"[a-z]{2}[ :]+`[^`]+`\W*$")  # `It prints `, and code
_FOREIGN = re.compile(
    r"[^\W\d_a-zA-Z\u00b2\u00b3\u00b9\u00bc-\u00be\u00c5\u2070-\u209f\u0370-\u03ff\u2100-\u218f\u4e00-\u9fff\U0001d400-\U0001d7ff]"
)
_AMOUNT = re.compile(  # `1.5`, `$20`, `20,00 $`, `1/2`, `114 200`, `5%`
    r"(?<![A-Za-z\d.,])[-−]?[$€£]?(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+|\d[\d,.]*(?:/\d+)?)"
    r"(?<![.,])(?:\s?[$€£%])?(?![.,]?\d)"
)
_CONDITION = re.compile(  # `…, where k is an integer`
    r",?\s+(?:where|with|for)\s+(?:(?:any|all|every)\s+)?(?:integers?\s+)?\$?[a-z]\$?(?:"
    r"\s+(?:is|being)\s+(?:an?|any|some)\s+(?:integer|constant|real\s+\w+).*)?$",
    re.I,
)
COUNTS = re.compile(
    r"\b(?:needs?|needed|takes?|requires?|required|remains?|left|altogether|total|possible|ways)\b",
    re.I,
)
_TABLE = re.compile(r"^\s*\|?\s*:?-{2,}", re.M)
CHINESE = re.compile(r"[\u4e00-\u9fff]")
_OF_ANOTHER = re.compile(  # `25 厘米的平方根`, `the square root of 3`: not the number itself
    r"[^\u4e00-\u9fff]*[\d$]\s*[\u4e00-\u9fff]{0,4}的[\u4e00-\u9fff]{2,8}[。.]?"
    r"|(?:(?:the|an?|all)\s+)?(?:[a-z-]+\s+){0,2}(?:roots?|multiples?|divisors?|factors?|powers?"
    r"|reciprocal|square|cube|half|third|double|logarithm|negative|inverse)\s+of\s+\S+",
    re.I,
)
BOLD_END = re.compile(r"\*\*([^*\n]{1,200})\*\*\s*[.!]?\s*$")
_YES_NO_AT_END = re.compile(r"[?.]\s+(?:yes|no|true|false)[.!]*$", re.I)
_ONE_NUMBER_SENTENCE = re.compile(  # `25% of the students passed.`
    r"(?:[A-Z][a-z]*\s|\d)[^\d=\\$]*(?:\d[\d.,/]*%?)?[^\d=\\$]*\s(?!numbers?\.|integers?\.)[a-z]{3,}\."
)
MAX_BARE_WORDS = 12
MAX_SHORT = 200  # characters of a phrase that names a number by another
MAX_ANSWER_WORDS = 3  # more words make a sentence, out of which a name is taken
MAX_CHINESE = 8  # characters of a bare answer
MAX_PROSE = 4000  # characters after an announcement, or at the end of prose


def is_bare(text: str) -> bool:
    """Return whether the whole text is an answer rather than prose around one."""
    if CHINESE.search(text) and not CHINESE.search(translate(text)):
        return True
    if len(text) <= MAX_SHORT and _OF_ANOTHER.fullmatch(text):
        return True
    if chinese := len(CHINESE.findall(text)):
        if re.search(r"\d", text) and re.search(r"[^和或与或者]", "".join(CHINESE.findall(text))):
            return False
        return chinese <= MAX_CHINESE and not re.search(r"[，。；]\S", text)
    if not re.search(r"[^\W\d_]", text):
        return True
    if len(text) > MAX_PROSE and "\\begin" not in text:
        return False
    if (
        _THEN_CODE.search(text)
        or _is_derivation(text)
        or _is_lines_of_steps(text)
        or LABEL.match(text)
        or foreign_number(text)
        or (_FOREIGN.search(text) and re.search(r"\w\s+\S*[\d$]", text))
    ):
        return False
    if split_cases(text) and not text.rstrip().endswith(".") and not _SPEECH.search(text):
        return True
    text = _CONDITION.sub("", text)
    if _SPEECH.search(text) or _TABLE.search(text):
        return False
    display = _DISPLAY.search(text)
    words_before = WORD.findall(text[: display.start()]) if display else []
    if len(words_before) > 1 or _COUNTED_SUM.search(text):
        return False
    if "\n\n" in text and len(WORD.findall(TEX_WORDS.sub(" ", text))) > MAX_BARE_WORDS:
        return False
    outside = ENVIRONMENT.sub(" ", MATH.sub(" ", text))
    outside = TEX_WORDS.sub(" ", outside)
    count = len(WORD.findall(outside))
    if count == 0:
        return True
    has_content = MATH.search(text) or re.search(r"\d", text) or ENVIRONMENT.search(text)
    if not has_content:
        bold = BOLD_END.search(text)
        states = (
            chosen_letter(text)
            or (count > 3 and (spoken_time_in(text) or (COUNTS.search(text) and only_number(text))))
            or (count > 1 and (spelled_number(text) or yes_or_no(text)))
            or (count > MAX_ANSWER_WORDS and (words_of(text) or _YES_NO_AT_END.search(text)))
        )
        if states and read_number_words(text) is None:
            return False
        return count <= MAX_BARE_WORDS and not (bold and word_after_verb(text, bold))
    if count > 2 and yes_or_no(text):
        return False
    if outside.strip().count("\n") > 1 or _LEAD_CLAUSE.match(text):
        return False
    if outside.strip().lower().startswith(("answer", "final answer")):
        return False
    if _BOUND.fullmatch(text):
        return True
    if (
        count > 3
        and text.rstrip().endswith(".")
        and (main_number(text.strip().rstrip(".")) or _ONE_NUMBER_SENTENCE.fullmatch(text.strip()))
    ):
        return False
    if _LEAD_WORDS.match(text) and not EXCEPTION.match(outside):
        return False
    if (_CLAUSE.match(text) or _PRONOUN.search(outside)) and not EXCEPTION.match(outside):
        return False
    return count <= 8 and not _PROSE_VERB.search(outside)


def foreign_number(text: str) -> str:
    """Return the only number, or amount of money, among words with letters outside ASCII.

    `5` for `5 мальчиков`; "" for two numbers, for math and for English.
    """
    if _FOREIGN.search(text) is None or re.search(r"[=\\^<>]|[+*×·]\s*\d", text):
        return ""
    found = [m.strip() for m in _AMOUNT.findall(text)]
    money = [m for m in found if re.search("[$€£]", m)]
    return next((amounts[0] for amounts in (found, money) if len(amounts) == 1), "")


def _is_derivation(text: str) -> bool:
    """Return whether a text is `2x = 6 → x = 3`, `n = 4. 16 + 9 = 25` or `a = 2, a+b = **7**`."""
    if re.search(r"[→⟹⇒]", text[text.find("=") : text.rfind("=")]) or _NEXT_STEP.search(text):
        return True
    bold = BOLD_END.search(text[-MAX_SHORT:])
    before = text[: bold.start() - min(len(text), MAX_SHORT)].rstrip() if bold else ""
    return before.endswith("=") and before.count("=") > 1


def _is_lines_of_steps(text: str) -> bool:
    """Return whether each line is an equation, and not each one gives a letter its value."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or "\\begin" in text or not all("=" in line for line in lines):
        return False
    return not all(map(_ASSIGNED.fullmatch, lines))


def word_after_verb(sentence: str, bold: re.Match[str]) -> bool:
    """Return whether few bold words follow a verb: `it will be **Wednesday**`."""
    verb = re.search(r"\b(?:is|are|be|was|were)\s*:?\s*$", sentence[: bold.start()])
    return bool(verb) and len(bold[1].split()) <= 4

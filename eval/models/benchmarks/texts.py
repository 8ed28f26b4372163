r"""Find and take apart answers in texts.

announced   "final answer is $…$. I hope", "the answer is", the last number
several     "3 and 4", "3, 4"
numbers     "1,234.5", "3.2 \times 10^5", "12.5 m/s"

Every function takes time linear in the length of the output, which is at most MOST_READ.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Sequence

from gradebox.eval.models.answers.equality import MOST_READ

# A fraction and a time of day are one number: 7/9, 8:15.
_NUMBER = re.compile(r"-?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:[/:]\d+)?(?![\d])")
_FINAL_ANSWER_IS = re.compile(r"final answer is:?\s*")
_I_HOPE = re.compile(r"I hope (?:it|this) is correct", re.IGNORECASE)
_ANSWER_IS = re.compile(r"\bthe (?:final )?answer is:?|答案[是为][：:]?", re.IGNORECASE)


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match of a left-to-right search."""
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None


def announced_answer(text: str) -> list[str]:
    """Return X of "final answer is X. I hope it is correct", else of the last "the answer is X".

    The list is empty when there is no such phrase.
    """
    final = final_answer(text)
    if final is not None:
        return [final]
    match = last_match(_ANSWER_IS, text)
    if match is None:
        return []
    answer = strip_decoration(text[match.end() :].strip().partition("\n")[0])
    return [answer] if answer else []


def final_answer(text: str) -> str | None:
    """Return X of the first "final answer is X. I hope it is correct", if it is on one line."""
    start = _FINAL_ANSWER_IS.search(text)
    if start is None:
        return None
    line = text[start.end() :].partition("\n")[0]
    end = _I_HOPE.search(line)
    return strip_decoration(line[: end.start()]) if end else None


def strip_decoration(text: str) -> str:
    """Remove surrounding dollar signs, full stops and emphasis."""
    text = text.strip().strip("*").strip().rstrip(".。").strip().strip("*").strip()
    if len(text) >= 2 and text[0] == text[-1] == "$" and "$" not in text.strip("$"):
        text = text.strip("$").strip()
    return text


def last_number(text: str) -> str | None:
    """Return the last number without thousands separators; None without a number."""
    match = last_match(_NUMBER, text)
    return match[0].replace(",", "") if match else None


def before(text: str, *markers: str) -> str:
    """Return the text up to the first marker, after which a base model invents a new question."""
    for marker in markers:
        text = text.partition(marker)[0]
    return text


def shortened(text: str) -> str:
    """Return a text whose extraction is cheap: of a long one, the ends of what follows </think>."""
    if len(text) <= MOST_READ:
        return text
    _, closed, rest = text.rpartition("</think>")
    if len(rest) > MOST_READ:
        rest = f"{rest[: MOST_READ // 2]}\n{rest[-MOST_READ // 2 :]}"
    return f"{closed}{rest}"


def after_thinking(text: str) -> str:
    """Return the text after </think>; all of it without such tags, "" when thinking never ended."""
    _, closed, rest = text.rpartition("</think>")
    if not closed and text.lstrip().startswith("<think>"):
        return ""
    return rest


# ---- several answers in one text ----

# No white space at its ends: a search would try a long run of it from each position.
_AND = re.compile(r"\\(?:text|mbox)\{\s*(?:and|or)\s*\}|(?<!\S)and(?!\S)")
_OPENING, _CLOSING = "([{", ")]}"


def split_answers(question: str, answers: Sequence[str]) -> list[str]:
    """Split each answer at "and", and at commas if the question asks for "separated by commas".

    Commas inside a tuple, an interval or a set do not split it.
    """
    parts: list[str] = []
    for answer in answers:
        for part in _AND.split(answer):
            if "separated by commas" in question:
                parts += split_commas(part)
            else:
                parts.append(part)
    return [stripped for part in parts if (stripped := part.strip().strip(",").strip())]


def split_commas(text: str, separators: str = ",") -> list[str]:
    """Split at separators outside brackets; "1,000" is one number."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth -= 1
        elif char in separators and depth <= 0 and not _is_thousands_separator(text, i):
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _is_thousands_separator(text: str, i: int) -> bool:
    digits = text[i + 1 : i + 4]
    return (
        text[i] == ","
        and i > 0
        and text[i - 1].isdigit()
        and len(digits) == 3
        and digits.isdigit()
        and not text[i + 4 : i + 5].isdigit()
    )


# ---- numbers ----

_TEN = r"10\s*\^\s*(?:\{\s*([-+]?\d{1,3})\s*\}|([-+]?\d{1,3}))"
_TIMES = r"(?:\\times|\\cdot|[×·*x])"
_POWER = re.compile(rf"^\s*\$?\s*(?:\\times\s*)?{_TEN}")
_SCIENTIFIC = re.compile(rf"^\s*([-+]?(?:\d+\.?\d*|\.\d+))\s*{_TIMES}\s*{_TEN}\s*$")
_LEADING = re.compile(
    r"\s*\$?\s*([-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
    rf"(?:\s*{_TIMES}\s*{_TEN})?)"
)
_NUMBER_MARKUP = re.compile(r"\\(?:mathrm|text|rm|left|right|,|;|!)(?![a-zA-Z])|[${}~]|\\ ")

# No float is longer. The pattern takes quadratic time: 1 s for 5,000 digits.
_MAX_NUMBER_CHARS = 400


def split_power_of_ten(unit: str) -> tuple[str, int]:
    r"""Split "$10^{-3}$ m" into the unit and the exponent, which is 0 without a power of ten."""
    match = _POWER.match(unit[:_MAX_NUMBER_CHARS])
    if match is None:
        return unit.strip(), 0
    rest = unit[match.end() :].strip()
    if rest.startswith("$"):
        rest = rest[1:].strip()
    elif rest.endswith("$") and rest.count("$") == 1 and rest != "$":
        rest = f"${rest}"
    return rest.strip(), int(match[1] or match[2])


def parse_number(text: str) -> float | None:
    r"""Return a number with or without thousands separators, as 3.2e5 or as 3.2 \times 10^5.

    Return None when the text is not one finite number.
    """
    bare = _NUMBER_MARKUP.sub(" ", text.replace("{,}", "").replace("10^{", "10^").strip())
    bare = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", bare).strip().rstrip(".%").strip()
    if len(bare) >= _MAX_NUMBER_CHARS:
        return None
    scientific = _SCIENTIFIC.match(bare)
    try:
        if scientific:
            bare = f"{scientific[1]}e{scientific[2] or scientific[3]}"
        value = float(bare) if "_" not in bare else math.nan
        return value if math.isfinite(value) else None
    except (ValueError, OverflowError):
        return None


def parse_leading_number(text: str) -> float | None:
    """Return the number at the start of a text, whose rest is taken as its unit; else None."""
    whole = parse_number(text)
    if whole is not None:
        return whole
    match = _LEADING.match(text.lstrip()[:_MAX_NUMBER_CHARS])
    return parse_number(match[1]) if match else None

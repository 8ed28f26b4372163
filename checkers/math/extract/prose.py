"""Tell prose from a bare answer, and find the answer in the last sentence of prose."""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.markdown import without_bold
from gradebox.checkers.math.extract.trailing_text import strip_trailing_text
from gradebox.checkers.math.normalise.number_words import read_number_words

CLOSING_PHRASE = re.compile(r"\.?\s{0,9}I hope (?:it|this) is correct\.?.*$", re.I | re.S)
MATH = re.compile(
    r"\$\$(?P<a>.{1,4000}?)\$\$|\\\[(?P<b>.{1,4000}?)\\\]|\\\((?P<c>.{1,4000}?)\\\)"
    # `$400 + $60` is money
    r"|(?<!\\)\$(?!\d[^$]{0,200}(?:\s\$|\$\d))(?P<d>(?:\\.|[^$\\]){1,4000}?)\$",
    re.S,
)
ENVIRONMENT = re.compile(r"\\begin\{([pbvBV]?matrix|array)\}.{0,4000}?\\end\{\1\}", re.S)
_NUMBER = re.compile(  # `-1,234.5`, `$45`, `3/4`, `12%`
    r"(?<![A-Za-z0-9_.])[-−]?(?:[$€£]\s?)?(?:\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+(?!\d)|\d+)?(?:\.\d+|(?<=\d))(?:[eE][-+]?\d+)?"
    r"(?:\s?/\s?\d+)?(?:\s?\\?%)?"
)
_PROSE_VERB = re.compile(
    r"(?<![A-Za-z\\])(?:it['’]s|is|are|was|equals?|get|gets|find|have|has|gives?|(?<!such )that"
    r"|which|then|therefore|thus|hence|since|so|because|we|let|there|obtain|yields?|must|will|be|would)(?![A-Za-z])",
    re.I,
)
_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,}(?![A-Za-z])")
_TEX_WORDS = re.compile(
    r"\\(?:text|mbox|textbf|textit|mathrm|operatorname|begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+"
)
_LEAD_WORDS = re.compile(  # `The total cost $45`
    r"(?!(?:option|choice|answer)\b)[A-Za-z]{2,}(?:\s+[a-z]+)+\s+[$\\*(\[]*[-\d]", re.I
)
_LEAD_CLAUSE = re.compile(  # `By the theorem of Pythagoras, `, `Substituting back, `
    r"(?:By|From|In|With|After|For|[A-Z][a-z]+ing)\s[A-Za-z][A-Za-z' -]{1,60},\s"
)
_EXCEPTION = re.compile(  # `all real numbers except 2`
    r"\s*(?:not\s+)?(?:all|any|every|no|none|never|without)\b|.*\b(?:except|but|other\s+than)\b",
    re.I | re.S,
)
_BOUND = re.compile(  # `at least 5`
    r"(?:at\s+(?:least|most)|(?:no\s+|not\s+)?(?:more|less|fewer|greater|larger|smaller)\s+than"
    r"|up\s+to)\s+\S+(?:\s+[a-z]+){0,3}[.\s]*",
    re.I,
)
_SPEECH = re.compile(  # `Her earnings: $460`, `Output:` and a line, two sentences
    r"^[A-Z][a-z]+(?:['’][a-z]*)?(?: [a-z]+){2,}:\s|:[ \t]*\n|(?:\d|[a-z]{3})\.\s+[A-Z][a-z]+ [a-z]"
)
_CONCLUSION = re.compile(  # `so the function is odd`, `We conclude that it is odd`
    r"(?:(?:so|thus|hence|therefore|clearly|finally|consequently)\b"
    r"|.*\b(?:conclude|see|find|know|means|shows?|follows|deduce|implies)(?:\s+that)?\b).*"
    r"\b(?:is|are|be)\s+(\S+(?:\s+\S+){0,3})$",
    re.I | re.S,
)
_CHOSEN = re.compile(  # `we choose B`, `only B works`, `option B is right`
    r"(?:\b(?:choose|select|pick|mark|is\s+only|leaves\s+(?:only\s+)?|option|choice|answer\s+is|only)\s+"
    r"(?:option\s+|choice\s+|answer\s+)?\(?([A-J])\b\)?)(?!.*\b[B-HJ]\b)"
    r"|\(?\b([B-HJ])\b\)?\s+is\s+(?:the\s+)?(?:correct|right|true|best|only)\b"
)
_PHRASE_AT_END = re.compile(
    r"\b(do(?:es)?(?:n['’]t|\s+not)\s+exist|(?:is\s+)?undefined|(?:has|have|is|are)\s+no\s+(?:real\s+)?solutions?"
    r"|infinitely\s+many(?:\s+solutions)?|all\s+real\s+numbers)$",
    re.I,
)
_NAME = re.compile(r"(?<=[a-z,;:]\s)[A-Z][a-z]{2,}(?:\s[A-Z][a-z]+)?\b")
_OR_ABOUT = re.compile(  # `√2, which is approximately 1.414`
    r",?\s+(?:which\s+is\s+)?(?:approximately|about|roughly)\s+(-?[\d.]*\d)$", re.I
)
_REASON_CLAUSE = re.compile(  # `Since 4a = 24, `
    r"(?:since|because|as|if|when|given|with)\b.*?,\s+(?=.*(?:\d|\$))", re.I | re.S
)
_TABLE = re.compile(r"^\s*\|?\s*:?-{2,}", re.M)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_BOLD_END = re.compile(r"\*\*([^*\n]{1,200})\*\*\s*[.!]?\s*$")
_COUNTED = re.compile(  # `45 miles away from home after 4 hours`
    r"(?<![A-Za-z])(?:is|are|was|were|be|leaves?|needs?|makes?|takes?|costs?|earns?|pays?|paid|has|have"
    r"|covers?|drives?|drove|spends?|spent|sells?|sold|gets?|=)\s+([$€£]?-?[\d.,]*\d%?)"
    r"(?!\s+out\b)(?:\s+[a-z]+){0,3}?\s+(?:after|from|for|during|within|before|of|in|on|at|every|each)"
    r"\s(?=[^,=;:$]*\d)[^,=;:$]*$"
    r"|(?<![\w.,])([$€£]?-?\d(?:[\d.,]*\d)?%?)(?:\s+[a-z]+){0,3}?\s+(?:after|during|within|before|over\s+the)\s"
    r"(?=[^,=;:$]*\d)(?![^,=;:$]*\b(?:is|are|has|had|have|was|were|leaves?|left|gives?|gets?|get|plus)\b)[^,=;:$]*$"
)
_EQUATION = re.compile(  # `slope 2 and intercept 3: y = 2x+3`, at the end
    r"(?:[:,]|\b(?:is|get|have|equation|as|by))\s+((?:[a-z]|[a-zA-Z]\([a-z]\))\s?=\s?"
    r"(?=[^=,;:]*[a-z])(?:[-+*/^().√π²³\d\s]|(?<![A-Za-z])[a-z](?![A-Za-z])){1,60})$"
)
_VERB_TAIL = re.compile(r"(?:^|(?<!which)\s)(?:is|are|equals|be|get|gets|have)\s*:?\s+(?=\S)", re.I)
_TUPLE = re.compile(r"[(\[]\s*[^()\[\]\n,]{1,40}(?:,[^()\[\]\n,]{1,40}){1,6}[)\]]")
_CLOCK = re.compile(  # a time or a ratio
    r"(?<![\w:.])\d{1,3}:\d{1,3}(?![\w:])(?:\s?[ap]\.?m\b\.?)?", re.I
)
_ASSIGNED = r"[a-z](?:_\d|[₀-₉])?\s?=\s?[^\s,;=]{1,40}"
_ASSIGNMENTS = re.compile(  # `x = 1 or x = -2`, at the end
    rf"(?<![\w\\$]){_ASSIGNED}(?:(?:,\s?(?:and\s|or\s)?|\s(?:and|or)\s){_ASSIGNED}){{1,9}}$"
)
_TYPESET_END = re.compile(  # `= 4√5`
    r"=((?:[^=,;:$A-Za-z]|(?<![A-Za-z])[A-Za-z](?![A-Za-z])){0,40}[√π∛²³]"
    r"(?:[^=,;:$A-Za-z]|(?<![A-Za-z])[A-Za-z](?![A-Za-z])){0,40})$"
)
_WORDS_AT_END = re.compile(  # `we get a total of seven.`
    r".*\s(?:is|are|be|equals|get|has|have|(?:equal|comes|amounts)\s+to|(?:total|sum)\s+of)\s+"
    r"([a-z]+(?:[ -][a-z]+){0,4})[.!\s]*$",
    re.S,
)
_CLAUSE_BEFORE = re.compile(  # `when `, before `x = 1 or x = 2`
    r"\b(?:when|if|at|for|with|where|since|given|let|by|as)\s[^.,]{0,20}$", re.I
)
_AND = re.compile(r"\s*(?:,|,?\s*and|,?\s*or)\s*")
MAX_BARE_WORDS = 12
MAX_ANSWER_WORDS = 4  # more words make a sentence, out of which a name is taken
MAX_CHINESE = 8  # characters of a bare answer
MAX_PROSE = 4000  # characters after an announcement, or at the end of prose


def is_bare(text: str) -> bool:
    """Return whether the whole text is an answer rather than prose around one."""
    if chinese := len(_CHINESE.findall(text)):
        if _CHINESE.match(text) and re.search(r"\d", text):
            return False
        return chinese <= MAX_CHINESE and not re.search(r"[，。；]\S", text)
    if not re.search(r"[A-Za-z]", text):
        return True
    if len(text) > MAX_PROSE and "\\begin" not in text:
        return False
    if _SPEECH.search(text) or _TABLE.search(text):
        return False
    if "\n\n" in text and len(_WORD.findall(_TEX_WORDS.sub(" ", text))) > MAX_BARE_WORDS:
        return False
    outside = ENVIRONMENT.sub(" ", MATH.sub(" ", text))
    outside = _TEX_WORDS.sub(" ", outside)
    count = len(_WORD.findall(outside))
    if count == 0:
        return True
    has_content = MATH.search(text) or re.search(r"\d", text) or ENVIRONMENT.search(text)
    if not has_content:
        bold = _BOLD_END.search(text)
        states = _CONCLUSION.match(text) or _number_at_end(text)
        chosen = count > 1 and _CHOSEN.search(text)
        named = chosen or (count > MAX_ANSWER_WORDS and _named_at_end(text))
        return count <= MAX_BARE_WORDS and not (
            states or named or (bold and _word_after_verb(text, bold))
        )
    if outside.strip().count("\n") > 1 or _LEAD_CLAUSE.match(text):
        return False
    if outside.strip().lower().startswith(("answer", "final answer")):
        return False
    if _BOUND.fullmatch(text):
        return True
    if _LEAD_WORDS.match(text) and not _EXCEPTION.match(outside):
        return False
    return count <= 8 and not _PROSE_VERB.search(outside)


def math_contents(match: re.Match[str]) -> str:
    """Return what is between the delimiters of a MATH match."""
    return next(g for g in match.groups() if g)


def _pieces(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, contents) of math, matrices, tuples and numbers, without overlaps."""
    found = [(m.start(), m.end(), math_contents(m)) for m in MATH.finditer(text)]
    for pattern in (ENVIRONMENT, _TUPLE, _CLOCK, _NUMBER):
        for m in pattern.finditer(text):
            inside = any(a < m.end() and m.start() < b for a, b, _ in found)
            if m[0].strip() and not inside:
                found.append((m.start(), m.end(), m[0].strip()))
    return sorted(found)


def last_piece(text: str) -> str:
    """Return the last math or number of prose and those joined to it; else the text itself."""
    text = CLOSING_PHRASE.sub("", text).strip()
    pieces = _pieces(text)
    if not pieces:
        return text
    kept = [pieces[-1]]
    for earlier in reversed(pieces[:-1]):
        if not _AND.fullmatch(text[earlier[1] : kept[0][0]]):
            break
        kept.insert(0, earlier)
    answer = ",".join(contents.strip() for _, _, contents in kept)
    tail = text[kept[-1][1] :]
    return answer + "%" if re.match(r"\s*(?:\\?%|percent|pct)", tail) else answer


def tail_or_last(text: str) -> str:
    """Return what follows the last verb when that is an answer; else the last piece."""
    for pattern in (_EQUATION, _ASSIGNMENTS, _TYPESET_END):
        m = pattern.search(text)
        if m and not _CLAUSE_BEFORE.search(text[: m.start()][-40:]):
            return m[m.lastindex or 0].strip()
    counted = _COUNTED.search(text)
    if counted:
        return str(counted[1] or counted[2])
    inside = [m.span() for m in MATH.finditer(text)]
    verbs = [m for m in _VERB_TAIL.finditer(text) if not any(a < m.start() < b for a, b in inside)]
    if verbs:
        tail = _OR_ABOUT.sub(r" \\approx \1", text[verbs[-1].end() :].strip(" ."))
        sum_of_numbers = re.match(r"[-\d][^=$]*=|\$\d[\d,.]*\s*[-+*/×÷][^=]*=", tail)
        if sum_of_numbers:
            return last_piece(tail)
        if re.search(r"\d|\$|\\", tail) and not _WORD.match(tail) and is_bare(tail):
            whole = MATH.fullmatch(tail)
            return math_contents(whole) if whole else tail
    return last_piece(text)


def from_prose(text: str) -> str:
    """Return the answer of a text without a box, from its last sentence with math or a number."""
    trimmed = CLOSING_PHRASE.sub("", text[-MAX_PROSE:]).strip()
    trimmed = MATH.sub(lambda m: " ".join(m[0].split()), trimmed)  # a display is in one sentence
    sentences = [
        s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n+|(?<=[。；])", trimmed) if s.strip()
    ]
    bold = _BOLD_END.search(sentences[-1]) if sentences else None
    if bold and (re.search(r"\d|\$|\\", bold[1]) or _word_after_verb(sentences[-1], bold)):
        answer = bold[1].strip(" .:")
        return answer if is_bare(answer) else tail_or_last(answer)
    if len(sentences) > 1 and sentences[-1].rstrip().endswith("?"):
        sentences.pop()  # `Would you like to see the other 2 cases?`
    for sentence in reversed(sentences):
        if MATH.search(sentence) or ENVIRONMENT.search(sentence) or re.search(r"\d", sentence):
            return _from_sentence(sentence)
    if spelled := _number_at_end(trimmed):
        return spelled
    if sentences and (named := _named_at_end(sentences[-1])):
        return named
    return last_piece(trimmed)


def _named_at_end(sentence: str) -> str:
    """Return the choice letter, the name or the words that a sentence without numbers gives."""
    sentence = without_bold(sentence).strip(" .!")
    if phrase := _PHRASE_AT_END.search(sentence):
        return phrase[1]
    if choice := _CHOSEN.search(sentence):
        return str(choice[1] or choice[2])
    if conclusion := _CONCLUSION.match(sentence):
        return conclusion[1].strip(" *")
    names = _NAME.findall(sentence)
    return names[0] if len(names) == 1 else ""


def _from_sentence(sentence: str) -> str:
    bold = re.findall(r"\*\*([^*\n]{0,99}\d[^*\n]{0,99})\*\*(?=.*\d)", sentence)
    if len(bold) == 1 and is_bare(bold[0]):
        return str(bold[0]).strip(" .:")
    sentence = without_bold(sentence).rstrip(". 。；").strip()
    reason = _REASON_CLAUSE.match(sentence)
    if reason and reason[0].count("$") % 2 == 0:
        sentence = sentence[reason.end() :]
    return tail_or_last(strip_trailing_text(sentence))


def _number_at_end(text: str) -> str:
    """Return the number in words that ends a sentence (`a total of seven.`); else ""."""
    m = _WORDS_AT_END.match(text[-MAX_PROSE:])
    return m[1] if m and read_number_words(m[1]) is not None else ""


def _word_after_verb(sentence: str, bold: re.Match[str]) -> bool:
    """Return whether few bold words follow a verb: `it will be **Wednesday**`."""
    verb = re.search(r"\b(?:is|are|be|was|were)\s*:?\s*$", sentence[: bold.start()])
    return bool(verb) and len(bold[1].split()) <= 4

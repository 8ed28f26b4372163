"""Tell prose from a bare answer, and find the answer in the last sentence of prose."""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.main_number import main_number
from gradebox.checkers.math.extract.markdown import without_bold
from gradebox.checkers.math.extract.pieces import (
    CLOSING_PHRASE,
    ENVIRONMENT,
    MATH,
    last_piece,
    math_contents,
    pieces,
    unit_after,
)
from gradebox.checkers.math.extract.trailing_text import strip_trailing_text
from gradebox.checkers.math.extract.words import (
    chosen_letter,
    concluded_phrase,
    name_at_end,
    only_number,
    spelled_number,
    spoken_time_in,
    words_of,
    yes_or_no,
)
from gradebox.checkers.math.normalise.chinese import translate
from gradebox.checkers.math.normalise.number_words import read_number_words
from gradebox.checkers.math.parse.split import split_cases

_PROSE_VERB = re.compile(
    r"(?<![A-Za-z\\])(?:it['’]s|is|are|was|equals?|get|gets|find|have|has|gives?|(?<!such )that"
    r"|beträgt|ist|sind|es|son|est|sont|which|then|therefore|thus|hence|since|so|because"
    r"|we|let|there|obtain|yields?|must|will|be|would|takes?|needs?|costs?|holds?|starts?"
    r"|ends?|lasts?|rejected"
    r"|altogether|happens?|occurs?|satisf(?:y|ies)|wins?|earns?|weighs?|contains?"
    r"|requires?|remains?|becomes?)(?![A-Za-z])",
    re.I,
)
_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,}(?![A-Za-z])")
_TEX_WORDS = re.compile(
    r"\\(?:text|mbox|textbf|textit|mathrm|operatorname|begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+"
)
_LEAD_WORDS = re.compile(  # `The total cost $45`
    r"(?!(?:option|choice|answer)\b)[A-Za-z]{2,},?(?:\s+[a-z]+)+\s+[$\\*(\[]*[-\d]", re.I
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
    r"^[A-Z][a-z]+(?:['’][a-z]*)?(?: [a-z]+){2,}:\s|:[ \t]*\n|(?:\d|[a-z]{3}|\$)\.\s+"
    r"[A-Z][a-z]+ [a-z]"
)
_BASES = {"binary": "2", "octal": "8", "hexadecimal": "16"}
_BASE = re.compile(r"\b(?:binary|octal|hexadecimal|(?:in\s+)?base[\s-](\d{1,2}|[a-z]+))\b", re.I)
_DISPLAY = re.compile(r"\$\$|\\\[|\\begin\{(?:align|equation|gather)")
_COUNTED_SUM = re.compile(
    r"\d\s+[a-z]{3,}\s*[×*+x-]\s*\d+\s+[a-z]{3,}\s*="
)  # `100 boxes × 12 eggs = …`
_APPROXIMATED = re.compile(  # `P = 2/7 ≈ 28.6%`, at the end
    r"(?:=|\bis)\s*([^\s=,;:≈]{1,40})\s*(?:≈|\\approx)\s*(-?[\d.,]*\d\s*\\?%?)$"
)
_COUNT_AND_LIST = re.compile(r"\bthere\s+are\s+(\d+)\s+(?:[a-z]+\s+){0,3}[a-z]+:\s*[-\d(].*,", re.I)
_OR_ABOUT = re.compile(  # `√2, which is approximately 1.414`
    r",?\s+(?:which\s+is\s+)?(?:approximately|about|roughly)\s+(-?[\d.]*\d)"
    r"(?:\s?[a-z]{1,12}[²³]?)?$",
    re.I,
)
_REASON_CLAUSE = re.compile(  # `Since 4a = 24, `
    r"(?:since|because|as|if|when|given|with)\b.*?,\s+(?=.*(?:\d|\$))", re.I | re.S
)
_LABEL = re.compile(  # `Distance: √13`, `Odpowiedź: 100`
    r"^(?!lambda\b|print\b|return\b)[^\W\d_]{3,}(?:\s[^\W\d_]+){0,4}\s*[:：]\s*"
    r"(?=[-−\d$\\√πᵃ(\[])(?!.*[:：].*[:：])"
)
_FOREIGN = re.compile(r"[^\W\d_a-zA-Z\u0370-\u03ff\u2100-\u214f\u4e00-\u9fff\U0001d400-\U0001d7ff]")
_IE = re.compile(r",?\s+\(?i\.e\.,?\s+((?:\$|\\|[-−]?\d|√|π)[^;]{0,200})$", re.I)
_CONDITION = re.compile(  # `…, where k is an integer`
    r",?\s+(?:where|with|for)\s+(?:(?:any|all|every)\s+)?(?:integers?\s+)?\$?[a-z]\$?(?:"
    r"\s+(?:is|being)\s+(?:an?|any|some)\s+(?:integer|constant|real\s+\w+).*)?$",
    re.I,
)
_COUNTS = re.compile(
    r"\b(?:needs?|needed|takes?|requires?|required|remains?|left|altogether|total|possible|ways)\b",
    re.I,
)
_ASIDE = re.compile(
    r"(?<=[.!?])\s+\([A-Z][^()]*(?:\([^()]*\)[^()]*)*\)\s*$"
)  # `(Indeed 12 = 3 · 4.)`
_PARAMETER = re.compile(  # ` for $m\in\mathbb{Z}$`, ` with $t$ an arbitrary integer`, at the end
    r"(?<=[\w$)}])\s*,?\s+(?:for|where|with)\s+(?:(?:all|any|every|some|each)\s+)?"
    r"(?:\$?[a-z]\s*(?:\\in|∈)\s*[^\s,.]+|\$?[a-z]\s*(?:\\g?eq?|≥|>|\\geq)\s*\d+\$?"
    r"|(?:any\s+|all\s+)?(?:integers?|whole\s+numbers?)\s+\$?[a-z]\$?"
    r"|\$?[a-z]\$?\s+(?:is\s+)?(?:an?\s+|any\s+)?(?:arbitrary\s+)?integer)\s*$"
)
_CASE_TAIL = re.compile(
    r"(?:\b(?:is|are|equals?|be)|=)\s+(?=[^,]*\b(?:if|when|for)\b.*(?:,|\band\b))(.+)$", re.S
)
_BOUND_PHRASE = re.compile(  # `all real numbers greater than 3`, `all $x$ strictly between 0 and 1`
    r"\b(?:all|any|every)\s+(?:(?:positive|negative"
    r"|non-?negative)\s+)?(?:real\s+)?(?:numbers?|reals?|\$?[a-z]\$?"
    r"|values?(?:\s+of\s+\$?[a-z]\$?)?)"
    r"\s+(?:that\s+are\s+)?(?:(?:strictly\s+)?(?:greater|larger|less|smaller|more|between"
    r"|above|below)|at\s+least|at\s+most|from|except|other\s+than|satisfying|with)\b.*$"
)
_FOR_ALL = re.compile(  # `$f(x)=0$ for all $x$ and $f(x)=x$ for all $x$`
    r"(?<=\$)\s+for\s+(?:all|every)\s+(?:real\s+|positive\s+)?(?:numbers?\s+|integers?\s+)?\$[a-z]\$(?=\s+(?:and|or)\s|,|\.?$)"
)
_TABLE = re.compile(r"^\s*\|?\s*:?-{2,}", re.M)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_OF_ANOTHER = re.compile(  # `25 厘米的平方根`, `the square root of 3`: not the number itself
    r"[^\u4e00-\u9fff]*[\d$]\s*[\u4e00-\u9fff]{0,4}的[\u4e00-\u9fff]{2,8}[。.]?"
    r"|(?:(?:the|an?|all)\s+)?(?:[a-z-]+\s+){0,2}(?:roots?|multiples?|divisors?|factors?|powers?"
    r"|reciprocal|square|cube|half|third|double|logarithm|negative|inverse)\s+of\s+\S+",
    re.I,
)
_BOLD_END = re.compile(r"\*\*([^*\n]{1,200})\*\*\s*[.!]?\s*$")
_COUNTED = re.compile(  # `45 miles away from home after 4 hours`
    r"(?<![A-Za-z])(?:is|are|was|were|be|leaves?|needs?|makes?|takes?|costs?|earns?|pays?"
    r"|paid|has|have"
    r"|covers?|drives?|drove|spends?|spent|sells?|sold|gets?|=|(?:[Ss]?[Hh]e|[Ii]t"
    r"|[Tt]hey|[Tt]he\s[a-z]+)\s+[a-z]+s)\s+([$€£]?-?[\d.,]*\d%?)"
    r"(?!\s+out\b)(?:\s+[a-z]+){0,3}?\s+(?:after|from|for|during|within|before|of|in|on"
    r"|at|every|each|to(?!\s+\d)|when|with|until)"
    r"\s(?=[^=;:$]*\d)(?:[^,=;:$]*|[^,=;:$]*,\s(?:after|when|at|with|because|since)\s[^=;:$]*)$"
    r"|(?<![\w.,])([$€£]?-?\d(?:[\d.,]*\d)?%?)(?:\s+[a-z]+){0,3}?\s+(?:after|during"
    r"|within|before|over\s+the)\s"
    r"(?=[^,=;:$]*\d)(?![^,=;:$]*\b(?:is|are|has|had|have|was|were|leaves?|left|gives?"
    r"|gets?|get|plus)\b)[^,=;:$]*$"
)
_EQUATION = re.compile(  # `slope 2 and intercept 3: y = 2x+3`, at the end
    r"(?:[:,]|\b(?:is|get|have|equation|as|by))\s+((?:[a-z]|[a-zA-Z]\([a-z]\))\s?=\s?"
    r"(?=[^=,;:]*[a-z])(?:[-+*/^().√π²³\d\s]|(?<![A-Za-z])[a-z](?![A-Za-z])){1,60})$"
)
_RULE_SUBJECT = re.compile(  # `17 is the 7th prime number`
    r"^(?:(?:so|thus|hence|therefore),?\s+)?(-?\d(?:[\d,.]*\d)?)\s+is\s+(?:the|an?|our)\s", re.I
)
_INEQUALITY = re.compile(  # `We need x > 3`, at the end
    r"(?<![\w\\$])((?:[-\d./√π]+\s?(?:<=?|≤)\s?)?[a-z]\s?(?:<=?|>=?|≤|≥|≠)\s?[-\d./√π]+)$"
)
_CHANCE = re.compile(
    r"(?:\b(?:chance|probability|odds)\b[^\d]*|^.*?)\b(\d+)(?:\s+in\s+|-in-)(\d+)(?:$|(?<=\d)\s+(?:chance|probability)$)",
    re.I,
)
_WORDED_BOUND = re.compile(  # `x must be greater than 3`
    r"(?<![A-Za-z\\])([a-z])\s+(?:must\s+be|is|has\s+to\s+be)\s+"
    r"(greater|more|larger|less|fewer|smaller|at\s+least|at\s+most)\s+(?:than\s+)?(-?[\d.,/]*\d)$",
    re.I,
)
_BOUND_SIGNS = {
    **dict.fromkeys(("greater", "more", "larger"), ">"),
    **dict.fromkeys(("less", "fewer", "smaller"), "<"),
    "least": r"\ge", "most": r"\le",
}  # fmt: skip
_VERB_TAIL = re.compile(r"(?:^|(?<!which)\s)(?:is|are|equals|be|get|gets|have)\s*:?\s+(?=\S)", re.I)
_ASSIGNED = r"[a-z](?:_\d|[₀-₉])?\s?=\s?[^\s,;=]{1,40}"
_ASSIGNMENTS = re.compile(  # `x = 1 or x = -2`, at the end
    rf"(?<![\w\\$]){_ASSIGNED}(?:(?:,\s?(?:and\s|or\s)?|\s(?:and|or)\s){_ASSIGNED}){{1,9}}$"
)
_TYPESET_END = re.compile(  # `= 4√5`
    r"=((?:[^=,;:$A-Za-z]|(?<![A-Za-z])[A-Za-z](?![A-Za-z])){0,40}[√π∛²³]"
    r"(?:[^=,;:$A-Za-z]|(?<![A-Za-z])[A-Za-z](?![A-Za-z])){0,40})$"
)
_ONE_EQUATION = re.compile(r"([^=<>]{1,60})=([^=<>]{1,60})")
_BULLETS = re.compile(  # `The solutions are:` and a list, at the end
    r"\b(?:solutions|answers|pairs|triples|values|roots|functions)\b[^\n:]{0,60}:[ \t]*"
    r"((?:\n\s*[-*•][ \t]+(?=\S)[^\n]{1,120}){2,20})\s*$",
    re.I,
)
_VERIFICATION = re.compile(
    r"(?:we\s+(?:can\s+)?|let['’]?s\s+|let\s+us\s+|to\s+)?(?:verify|check|confirm"
    r"|verification|double-check)\b",
    re.I,
)
_NO_OTHER = re.compile(r"^no\s+other\s+(?:[a-z]+\s+){0,3}(?:than|but|except)\s+", re.I)
_YES_NO_AT_END = re.compile(r"[?.]\s+(?:yes|no|true|false)[.!]*$", re.I)
_CLAUSE_BEFORE = re.compile(  # `when `, before `x = 1 or x = 2`
    r"\b(?:when|if|at|for|with|where|since|given|let|by|as)\s[^.,]{0,20}$", re.I
)
MAX_BARE_WORDS = 12
MAX_SHORT = 200  # characters of a phrase that names a number by another
MAX_ANSWER_WORDS = 3  # more words make a sentence, out of which a name is taken
MAX_CHINESE = 8  # characters of a bare answer
MAX_PROSE = 4000  # characters after an announcement, or at the end of prose


def is_bare(text: str) -> bool:
    """Return whether the whole text is an answer rather than prose around one."""
    if _CHINESE.search(text) and not _CHINESE.search(translate(text)):
        return True
    if len(text) <= MAX_SHORT and _OF_ANOTHER.fullmatch(text):
        return True
    if chinese := len(_CHINESE.findall(text)):
        if re.search(r"\d", text) and re.search(r"[^和或与或者]", "".join(_CHINESE.findall(text))):
            return False
        return chinese <= MAX_CHINESE and not re.search(r"[，。；]\S", text)
    if not re.search(r"[^\W\d_]", text):
        return True
    if _LABEL.match(text) or (_FOREIGN.search(text) and re.search(r"\w\s+\S*[\d$]", text)):
        return False
    if split_cases(text) and not text.rstrip().endswith("."):
        return True
    text = _CONDITION.sub("", text)
    if len(text) > MAX_PROSE and "\\begin" not in text:
        return False
    if _SPEECH.search(text) or _TABLE.search(text):
        return False
    display = _DISPLAY.search(text)
    words_before = _WORD.findall(text[: display.start()]) if display else []
    if len(words_before) > 1 or _COUNTED_SUM.search(text):
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
        states = (
            chosen_letter(text)
            or (
                count > 3 and (spoken_time_in(text) or (_COUNTS.search(text) and only_number(text)))
            )
            or (count > 1 and (spelled_number(text) or yes_or_no(text)))
            or (count > MAX_ANSWER_WORDS and (words_of(text) or _YES_NO_AT_END.search(text)))
        )
        if states and read_number_words(text) is None:
            return False
        return count <= MAX_BARE_WORDS and not (bold and _word_after_verb(text, bold))
    if count > 2 and yes_or_no(text):
        return False
    if outside.strip().count("\n") > 1 or _LEAD_CLAUSE.match(text):
        return False
    if outside.strip().lower().startswith(("answer", "final answer")):
        return False
    if _BOUND.fullmatch(text):
        return True
    if count > 3 and text.rstrip().endswith(".") and main_number(text.strip().rstrip(".")):
        return False
    if _LEAD_WORDS.match(text) and not _EXCEPTION.match(outside):
        return False
    if (_CLAUSE.match(text) or _PRONOUN.search(outside)) and not _EXCEPTION.match(outside):
        return False
    return count <= 8 and not _PROSE_VERB.search(outside)


def tail_or_last(text: str) -> str:
    """Return what follows the last verb when that is an answer; else the last piece."""
    for pattern in (_RULE_SUBJECT, _EQUATION, _INEQUALITY, _ASSIGNMENTS, _TYPESET_END):
        m = pattern.search(text)
        if m and not _CLAUSE_BEFORE.search(text[: m.start()][-40:]):
            return m[m.lastindex or 0].strip()
    if bound := _BOUND_PHRASE.search(text):
        return bound[0]
    if (cases := _CASE_TAIL.search(text)) and split_cases(cases[1].replace("$", "")):
        return cases[1].replace("$", "")
    text = _OR_ABOUT.sub(r" ≈ \1", text)
    if rounded := _APPROXIMATED.search(text):
        return rf"{rounded[1]} \approx {rounded[2]}"
    if listed := _COUNT_AND_LIST.search(text):
        return listed[1]
    if chance := _CHANCE.search(text):
        return f"{chance[1]}/{chance[2]}"
    if bound := _WORDED_BOUND.search(text):
        return f"{bound[1]} {_BOUND_SIGNS[bound[2].lower().split()[-1]]} {bound[3]}"
    if number := main_number(text):
        return number + (f" {unit}" if (unit := unit_after(text.partition(number)[2])) else "")
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
        tail = _NO_OTHER.sub("", tail)
        starts_as_answer = not _WORD.match(tail) or _EXCEPTION.match(tail)
        if re.search(r"\d|\$|\\", tail) and starts_as_answer and is_bare(tail):
            whole = MATH.fullmatch(tail)
            return math_contents(whole) if whole else tail
    return value_of_names(text) or last_piece(text)


def value_of_names(text: str) -> str:
    """Return 11 for `$m=4$, $n=7$ and $m+n=11$`: the last equation uses the names before it."""
    equations = [m for _, _, p in pieces(text) if (m := _ONE_EQUATION.fullmatch(p.strip()))]
    names = {m[1].strip() for m in equations[:-1]}
    if len(names) < 2 or not all(re.fullmatch("[A-Za-z]", n) for n in names):
        return ""
    left = equations[-1][1]
    used = set(re.findall(r"(?<!\\)[A-Za-z]", left))
    return equations[-1][2].strip() if used == names and len(left.strip()) > 1 else ""


def from_prose(text: str) -> str:
    """Return the answer of a text without a box, from its last sentence with math or a number."""
    trimmed = _ASIDE.sub("", CLOSING_PHRASE.sub("", text[-MAX_PROSE:]).strip())
    for display in (MATH, ENVIRONMENT):  # is within one sentence
        trimmed = display.sub(lambda m: " ".join(m[0].split()), trimmed)
    if (listed := _BULLETS.search(trimmed)) and (items := _bullet_items(listed[1])):
        return items
    sentences = [
        s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n+|(?<=[。；])", trimmed) if s.strip()
    ]
    bold = _BOLD_END.search(sentences[-1]) if sentences else None
    if bold and (re.search(r"\d|\$|\\", bold[1]) or _word_after_verb(sentences[-1], bold)):
        answer = bold[1].strip(" .:")
        return answer if is_bare(answer) else tail_or_last(answer)
    if len(sentences) > 1 and sentences[-1].rstrip().endswith("?"):
        sentences.pop()  # `Would you like to see the other 2 cases?`
    while len(sentences) > 1 and _VERIFICATION.match(sentences[-1].strip()):
        sentences.pop()
    last = sentences[-1] if sentences else ""
    if read_number_words(last.strip(" .!*")) is not None:
        return last.strip(" .!*")
    if named := chosen_letter(last) or yes_or_no(last) or spoken_time_in(last) or name_at_end(last):
        return named
    if not re.search(r"\d|\$", last) and (spelled := spelled_number(last)):
        return spelled
    if not re.search(r"\d|\$|\\", last) and (concluded := concluded_phrase(last)):
        return concluded
    for sentence in reversed(sentences):
        if MATH.search(sentence) or ENVIRONMENT.search(sentence) or re.search(r"\d", sentence):
            return with_base(_from_sentence(sentence), sentence)
    return words_of(last) or (_COUNTS.search(last) and only_number(last)) or last_piece(trimmed)


def _bullet_items(text: str) -> str:
    """Return the items of a list in Markdown, joined by commas; "" when one is not math alone."""
    items = [re.sub(r"^\s*[-*•]\s+", "", line).strip(" .,;") for line in text.strip().splitlines()]
    if not all(
        MATH.fullmatch(i) or re.fullmatch(r"[-\d./()\s,=a-z]*\d[-\d./()\s,=]*", i) for i in items
    ):
        return ""
    return ", ".join(math_contents(m) if (m := MATH.fullmatch(i)) else i for i in items)


def _from_sentence(sentence: str) -> str:
    bold = re.findall(r"\*\*([^*\n]{0,99}\d[^*\n]{0,99})\*\*(?=.*\d)", sentence)
    if len(bold) == 1 and is_bare(bold[0]):
        return str(bold[0]).strip(" .:")
    if label := _LABEL.match(sentence.strip()):
        sentence = sentence.strip()[label.end() :].rstrip(". ")
        if "=" not in sentence and is_bare(sentence):
            return sentence
    if that_is := _IE.search(sentence):
        sentence = that_is[1]
    sentence = _FOR_ALL.sub("", sentence)
    sentence = re.sub(r"(?<=\d)!+$", "", without_bold(sentence).strip()).rstrip(". 。；").strip()
    if parameter := _PARAMETER.search(sentence):
        family = tail_or_last(sentence[: parameter.start()])
        whole = r"\mathbb{Z}" in parameter[0] or "integer" in parameter[0]
        letter = re.search(r"(?<![A-Za-z\\])[a-z](?=\$|\s|\\)", parameter[0])
        return rf"{family}, {letter[0]}\in\mathbb{{Z}}" if whole and letter else family
    reason = _REASON_CLAUSE.match(sentence)
    if reason and reason[0].count("$") % 2 == 0:
        sentence = sentence[reason.end() :]
    sentence = strip_trailing_text(sentence)
    if not re.search(r"\d|\$", sentence) and (spelled := spelled_number(sentence)):
        return spelled
    return tail_or_last(sentence)


def with_base(answer: str, sentence: str) -> str:
    """Return `101_{2}` for the 101 of a sentence that speaks of binary numbers."""
    m = _BASE.search(sentence) if answer.isalnum() and answer[:1].isdigit() else None
    if m is None:
        return answer
    base = _BASES.get(m[0].lower()) or m[1]
    base = base if base.isdigit() else read_number_words(base) or ""
    return f"{answer}_{{{base}}}" if base and set(answer) <= set("0123456789ABCDEF") else answer


def _word_after_verb(sentence: str, bold: re.Match[str]) -> bool:
    """Return whether few bold words follow a verb: `it will be **Wednesday**`."""
    verb = re.search(r"\b(?:is|are|be|was|were)\s*:?\s*$", sentence[: bold.start()])
    return bool(verb) and len(bold[1].split()) <= 4

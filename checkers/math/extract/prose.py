"""Find the answer in the last sentence of prose."""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.bare import (
    BOLD_END,
    CHINESE,
    COUNTS,
    EXCEPTION,
    LABEL,
    MAX_PROSE,
    TEX_WORDS,
    WORD,
    foreign_number,
    is_bare,
    word_after_verb,
)
from gradebox.checkers.math.extract.main_number import main_number
from gradebox.checkers.math.extract.markdown import without_bold
from gradebox.checkers.math.extract.pieces import (
    CLOSING_PHRASE,
    ENVIRONMENT,
    FOR_ALL,
    MATH,
    last_piece,
    listed_items,
    math_contents,
    pieces,
    solved,
    unit_after,
    value_of_names,
)
from gradebox.checkers.math.extract.plain_formulas import ends_with_equations, formula_at_end
from gradebox.checkers.math.extract.trailing_text import strip_trailing_text
from gradebox.checkers.math.extract.words import (
    chosen_letter,
    concluded_phrase,
    name_at_end,
    only_number,
    spelled_number,
    spoken_time_in,
    with_base,
    words_of,
    yes_or_no,
)
from gradebox.checkers.math.read.number_words import read_number_words
from gradebox.checkers.math.read.split import split_cases
from gradebox.checkers.math.read.units import add_units

_APPROXIMATED = re.compile(  # `P = 2/7 ≈ 28.6%`, at the end
    r"(?:=|\bis)\s*([^\s=,;:≈]{1,40})\s*(?:≈|\\approx)\s*(-?[\d.,]*\d\s*\\?%?)$"
)
_COUNT_AND_LIST = re.compile(r"\bthere\s+are\s+(\d+)\s+(?:[a-z]+\s+){0,3}[a-z]+:\s*[-\d(].*,", re.I)
_OR_ABOUT = re.compile(  # `√2, which is approximately 1.414`
    r",?\s+(?:or\s+)?(?:which\s+is\s+)?(?:approximately|about|roughly)\s+\$?(-?[\d.]*\d)\$?"
    r"(?:\s?[a-z]{1,12}[²³]?)?$",
    re.I,
)
_REASON_CLAUSE = re.compile(  # `Since 4a = 24, `
    r"(?:since|because|as|if|when|given|with)\b.*?,\s+(?=.*(?:\d|\$))", re.I | re.S
)
_BOLD_LABEL = re.compile(r"^\*\*([^*\n]{2,60}?)\s*(?::\s*\*\*|\*\*\s*:)\s*")  # `**Equation:** `
_WORD_LABEL = re.compile(  # `Winner: Alice`, `Solution set: ∅`
    r"^[*# ]*(?:the\s+)?(?:winner|solution(?:\s+set)?|result|conclusion|verdict|output|limit"
    r"|domain|range|name|type|shape|choice)[*]*\s*:[*\s]*"
    r"(?=\S)([^.:=]{1,40})\.?\s*$",
    re.I,
)
_MATH_LINE = re.compile(
    r"[^=<>→]{1,120}(?:[=<>≤≥→]|\\(?:to|[lg]eq?|rightarrow)(?![a-z]))[^.?!]{1,160}\.?"
)
_STATED_SUBJECT = re.compile(  # `n = 1 and n = 2 are the only solutions`
    r"\s*,?\s+(?:is|are)\s+(?:indeed\s+|therefore\s+|thus\s+|exactly\s+)?(?:the|our|all(?:\s+the)?)\s+(?:(?:only|unique|desired|required|final|correct|possible|two|three)\s+)*"
    r"(?:solutions?|answers?|functions?|roots?|pairs?|triples?|values?|such\s+[a-z]+)(?:\s+(?:of|to|for)\s+(?:the|this)\s+[a-z]+)?\.?\s*$",
    re.I,
)
_INFINITE = re.compile(
    r"(?:\b(?:is|to|equals|be)|=)\s+(?:equal\s+to\s+)?\$?([-+−]?\s?(?:∞|\\infty|(?:(?:positive|negative|minus|plus)\s+)?infinity))\$?$",
    re.I,
)
_COMPOUND = re.compile(r"(?<![\w.])\d[\d.]*\s+[a-z]+,?\s+(?:and\s+)?\d[\d.]*\s+[a-z]+$", re.I)
_IE = re.compile(
    r",?\s+\(?i\.e\.,?\s+(?:at\s+|by\s+|the\s+point\s+)?((?:[a-z]\s?=|\$|\\|[-−]?\d|√|π)[^;]{0,200})$",
    re.I,
)
_ASIDE = re.compile(
    r"(?:(?<=[.!?*])\s+|(?<=[.!?][$\])])\s*)"
    r"\((?=[A-Z]|[^()]*\.\))[^()]*(?:\([^()]*\)[^()]*)*\)\s*$"
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
_RULE_SUBJECT = re.compile(  # `17 is the 7th prime number`
    r"^(?:(?:so|thus|hence|therefore|indeed),?\s+)?(-?\d(?:[\d,.]*\d)?|\$[^$]*[=\d][^$]*\$)"
    r"\s+is\s+(?:the|an?|our)\s",
    re.I,
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
_RATIO = re.compile(r"\bratio\b.*?(\d+)\s+to\s+(\d+)$", re.S)
_AFTER_COLON = re.compile(r"[a-z]:\s+([-−]?[$€£]?\d[\d.,]*\d?%?)$")  # `half of them are white: 50`
_SAID_LAST = re.compile(  # `The slope is 4/0, which is undefined`
    r"\bwhich\s+(is\s+undefined|does\s+not\s+exist|diverges|is\s+impossible)$"
)
_ARROW = re.compile(r"→|⟹|⇒|=>|->")
_DENIAL = re.compile(r"(?:no|none|never|impossible|there\s+(?:is|are)\s+no)\b", re.I)
_VERB_TAIL = re.compile(r"(?:^|(?<!which)\s)(?:is|are|equals|be|get|gets|have)\s*:?\s+(?=\S)", re.I)
_SAID_IN_MATH = re.compile(  # `\\lim_{x\\to 0} f(x) \\text{ does not exist.}$$`
    r"\\text\{\s*(does\s+not\s+exist|is\s+undefined|diverges)\s*\.?\s*\}\s*\.?\s*(?:\$+|\\\])\.?$"
)
_VERIFICATION = re.compile(
    r"(?:indeed\b(?!.*\bso\b)|both\s+check\b|(?:for|with|at|when)\s+\$?[a-z]\s*=\s*\d+\$?,?\s+(?:this|it|the\s+formula)\s+(?:gives?|is)\b.*\b(?:match|agree|check)|(?:(?:and|now|finally|quick|as\s+a|sanity)[\s,]+){0,2}(?:(?:we|i|you)\s+(?:can\s+|may\s+|will\s+)?|let['’]?s\s+|let\s+(?:us|me)\s+|to\s+)?"
    r"(?:(?:also|quickly|now)\s+)?(?:it\s+is\s+(?:easily|easy|readily|straightforward)\b.{0,12}(?:check|verif|seen)|on\s+the\s+number\s+line|verify|check(?:ing)?|confirm|verification|verifying|double[\s-]check|sanity|proof|numerically)\b"
    r"(?!.*(?:\b(?:find|only|conclude)\b|,\s+so\s+\$)))",
    re.I,
)
_REFERS_BACK = re.compile(  # at the end: `As it tends to 0 at both ends, this is the maximum.`
    r"\b(?:this|it)\s+(?:is|must\s+be)\s+(?:indeed\s+|really\s+)?(?:complete|(?:an?|the)\s+(?:global\s+|absolute\s+)?"
    r"(?:min|max)im(?:um|al))[.!]?\s*$"
)
_CONCLUDES = re.compile(
    r"\W*(?:so|thus|hence|therefore|consequently|then|we\s+(?:get|conclude)|the)\b"
    r"|.*,\s+(?:so|thus|hence|therefore)\b",
    re.I,
)
_NO_OTHER = re.compile(r"^no\s+other\s+(?:[a-z]+\s+){0,3}(?:than|but|except)\s+", re.I)
_REMARK = re.compile(  # at the end: `Note that 24 and 7 have no common factor.`
    r"\W*(?:note(?:\s+that)?|alternatively|more\s+generally|remark|for\s+example|another\s+way"
    r"|to\s+say\s+it\s+another\s+way|this\s+also\s+follows|equality\s+(?:is|holds|occurs))\b"
    r"(?!.*\b(?:so|thus|hence|therefore|total)\b)",
    re.I,
)
_SENTENCE_BREAK = re.compile(
    r"(?:(?<=[.!?])(?<!\bM[rs]\.)(?<!\b[MD]rs\.)(?<!\bDr\.)\s+|(?<=[.!?]\$)\s+"
    r"|(?<=\.\\[\])])\s*|(?<=\.\$\$)\s*)(?=[A-Z])|\n+|(?<=[。；])"
)
_STATED_COUNT = re.compile(  # `there are $2^9 = 512$ subsets of the divisors of $72$`
    r"\bthere\s+(?:are|is|were|will\s+be|must\s+be)\s+(?:(?:exactly|only|precisely)\s+)*"
    r"(?:(\$[^$]*\d[^$]*\$)(?=\s+[a-z])|(\d[\d,]*)(?=\s+(?:such|[^$]*\$)))"
    r"(?!.*\b(?:so|thus|hence|therefore|giving|gives?|total|which|and)\b)"
    r"|\b(?:total\s+of|giving(?:\s+us)?)\s+(\$[^$]*\d[^$]*\$)(?=\s+[a-z])"
    r"(?!.*\b(?:so|thus|hence|therefore)\b)"
)
_TOTAL_OF = re.compile(
    r"^(?:exactly\s+|only\s+)?an?\s+(?:[a-z]+\s+)?total\s+of\s+(?=[$€£\d])", re.I
)
_AMOUNT_OF = re.compile(  # `30 elves remaining in the store's village`
    r"([$€£]?-?\d(?:[\d,]*\d)?(?:\.\d+)?%?)"
    r"((?!.*\b(?:(?:more|less|fewer|greater)\s+than|times|twice|half|except|multiples?|powers?|numbers?)\b)"
    r"(?:,?\s+['\"‘“]?[A-Za-z][\w'’”\"-]*\.?){4,20})"
)
_CLAUSE_BEFORE = re.compile(  # `when `, before `x = 1 or x = 2`
    r"\b(?:when|if|at|for|with|where|since|given|let|by|as)\s[^.,]{0,20}$", re.I
)
_ONLY_BOLD = re.compile(
    r"(?!.*\b(?:not|lost|loses|than|least|last|never|slow\w*|except)\b)"
    r"[^*]*\*\*([A-Z][A-Za-z' -]{1,40}|(?:con|di)verges?(?:nt)?|even|odd|increasing"
    r"|decreasing)\*\*[^*]*"
)  # `So **Evelyn** was the fastest.`
_TABLE_OF_NUMBERS = re.compile(  # as programs print a matrix, at the end
    r"(?:^|(?<=\n))[ \t]*(?:\[\[|\||\[)[-\d./ \t]*\d[-\d./ \t]*(?:\]|\|)(?:\s*\n[ \t]*["
    r"|\[]?[-\d./ \t]*\d[-\d./ \t]*(?:\]{1,2}|\|)){1,7}\s*$"
)
_IN_LETTERS = re.compile(r"(?!.*[A-Za-z]{2}).*[a-z]", re.S)  # an equation, not a calculation
_FUNCTION_NAME = re.compile(
    r"\b(?:sin|cos|tan|cot|sec|csc|ln|log|sqrt|exp|arctan|max|min|lim|pi)\b"
)

MAX_SENTENCE = 1500  # characters, from its end


def is_check(sentence: str) -> bool:
    """Return whether a sentence begins to verify an answer."""
    return bool(_VERIFICATION.match(sentence.strip(" *#>-")))


def tail_or_last(text: str) -> str:
    """Return what follows the last verb when that is an answer; else the last piece."""
    if infinite := _INFINITE.search(text) or _SAID_LAST.search(text):
        return infinite[1]
    if number := foreign_number(text):
        return number
    if (compound := _COMPOUND.search(text)) and add_units(compound[0]):
        return compound[0]
    if subject := _RULE_SUBJECT.search(text):
        return subject[1]
    start = ends_with_equations(text)
    if start is not None and not _CLAUSE_BEFORE.search(text[:start][-40:]):
        return last_piece(text)
    if counted := _STATED_COUNT.search(text):
        return str(counted[counted.lastindex or 0]).strip("$").rpartition("=")[2].strip()
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
        tail = _TOTAL_OF.sub("", _NO_OTHER.sub("", tail))
        if amount := _AMOUNT_OF.fullmatch(tail):
            unit = unit_after(amount[2])
            return f"{amount[1]} {unit}" if unit else amount[1]
        starts_as_answer = not WORD.match(tail) or EXCEPTION.match(tail)
        if re.search(r"\d(?!-[a-z])|\$|\\", tail) and starts_as_answer and is_bare(tail):
            if len(MATH.findall(tail)) > 1 and "=" in tail:
                return last_piece(tail)
            whole = MATH.fullmatch(tail)
            return math_contents(whole) if whole else tail
    if ratio := _RATIO.search(text):
        return f"{ratio[1]}:{ratio[2]}"
    if after := _AFTER_COLON.search(text):
        return after[1]
    return value_of_names(text) or last_piece(text)


def from_prose(text: str) -> str:
    """Return the answer of a text without a box, from its last sentence with math or a number."""
    trimmed = _trimmed(text)
    if said := _SAID_IN_MATH.search(trimmed):
        return said[1]
    if items := listed_items(trimmed):
        return items
    if table := _TABLE_OF_NUMBERS.search(trimmed):
        return table[0].strip()
    sentences = [s for s in _SENTENCE_BREAK.split(trimmed) if s.strip()]
    if len(sentences) == 1 and re.match(r"\([A-J]\)\s+[A-Z]", trimmed):
        return trimmed  # a choice with its text
    bold = BOLD_END.search(sentences[-1]) if sentences else None
    if bold and re.search(r"\*\*\s*(?:,|,?\s*and|,?\s*or)\s*$", sentences[-1][: bold.start()]):
        bold = None  # `**3** and **1**`
    if bold and (
        _DENIAL.match(bold[1])
        or re.fullmatch(r"\(?[A-J]\)?\.?", bold[1])
        or re.search(r"\d|\$|\\", bold[1])
        or word_after_verb(sentences[-1], bold)
    ):
        answer = bold[1].strip(" .:")
        return answer if is_bare(answer) else tail_or_last(answer)
    sentences = _without_remarks(sentences)
    last = _after_arrow(sentences[-1]) if sentences else ""
    if len(sentences) > 1 and re.fullmatch(r"\(?[A-E]\)?\.?", last.strip()):
        return last.strip(" .")
    if read_number_words(last.strip(" .!*")) is not None:
        return last.strip(" .!*")
    if said := _WORD_LABEL.match(last.strip()):
        return said[1].strip(" *")
    if (
        _MATH_LINE.fullmatch(last.strip(" *"))
        and not CHINESE.search(last)
        and not WORD.search(_FUNCTION_NAME.sub("", TEX_WORDS.sub("", last)))
    ):
        return last.strip(" *")
    if named := chosen_letter(last) or yes_or_no(last) or spoken_time_in(last) or name_at_end(last):
        return named
    within = re.sub(r"\s+(?:in|on|over)\s+\$[^$]*\$[.\s]*$", "", last)  # `no solution in $[0,1]$`
    if within != last and (phrase := concluded_phrase(within)):
        return phrase
    _, comma, end = last.rpartition(", ")
    if comma and not end.startswith("not ") and (phrase := concluded_phrase(f"So {end}")):
        return phrase
    clause = re.split(r",\s+(?:and\s+)?(?:so|hence|thus|therefore)\s+", last)[-1]
    if clause != last and not re.search(r"\d|\$", clause) and (spelled := spelled_number(clause)):
        return spelled
    if not re.search(r"\$|\\", last) and (only := _ONLY_BOLD.fullmatch(last.strip())):
        return only[1]
    if not re.search(r"\d|\$", last) and (spelled := spelled_number(last)):
        return spelled
    if not re.search(r"\d|\$|\\", last) and (concluded := concluded_phrase(last)):
        return concluded
    for sentence in reversed(sentences):
        if pieces(sentence):
            return with_base(_from_sentence(sentence[-MAX_SENTENCE:]), sentence)
    return words_of(last) or (COUNTS.search(last) and only_number(last)) or last_piece(trimmed)


def closing_sentence(text: str) -> str:
    """Return the last sentence of prose that has a formula or a number; "" without one."""
    sentences = [s for s in _SENTENCE_BREAK.split(_trimmed(text)) if s.strip()]
    return next((s for s in reversed(_without_remarks(sentences)) if pieces(s)), "")


def _trimmed(text: str) -> str:
    """Return prose without asides at its end, and each display on one line."""
    trimmed = _ASIDE.sub("", CLOSING_PHRASE.sub("", text[-MAX_PROSE:]).strip())
    for display in (MATH, ENVIRONMENT):  # is within one sentence
        trimmed = display.sub(lambda m: " ".join(m[0].split()), trimmed)
    return re.sub(r",\s*\$\$\s*\$\$", "$$, $$", solved(trimmed))  # one display after the other


def _without_remarks(sentences: list[str]) -> list[str]:
    """Return the sentences without questions, remarks and checks at their end."""
    if len(sentences) > 1 and sentences[-1].rstrip().endswith("?"):
        sentences.pop()  # `Would you like to see the other 2 cases?`
    while len(sentences) > 1 and (
        _REMARK.match(sentences[-1].strip()) or _REFERS_BACK.search(sentences[-1])
    ):
        sentences.pop()
    checks = [i for i, s in enumerate(sentences) if i and is_check(s)]
    if checks and not any(_CONCLUDES.match(s.strip()) for s in sentences[checks[-1] + 1 :]):
        first = next(
            i for i in checks if not any(_CONCLUDES.match(s.strip()) for s in sentences[i + 1 :])
        )
        sentences = sentences[:first]
    return sentences


def _from_sentence(sentence: str) -> str:
    bold = re.findall(r"\*\*([^*\n]{0,99}\d[^*\n]{0,99})\*\*", sentence)
    if len(bold) == 1 and sentence.count("**") == 2 and is_bare(bold[0]):
        unit = unit_after(sentence.rpartition("**")[2])
        return f"{str(bold[0]).strip(' .:')} {unit}".strip()
    sentence = without_bold(_BOLD_LABEL.sub(r"\1: ", sentence.strip()))
    if label := LABEL.match(sentence):
        sentence = sentence[label.end() :].rstrip(". ")
        if is_bare(sentence) and (
            "=" not in sentence or _IN_LETTERS.match(TEX_WORDS.sub("", sentence))
        ):
            return without_bold(sentence).strip(" *")
    sentence = _after_arrow(sentence)
    if formula := formula_at_end(strip_trailing_text(sentence.rstrip(". 。"))):
        return formula
    if that_is := _IE.search(sentence):
        sentence = that_is[1]
    sentence = FOR_ALL.sub("", _STATED_SUBJECT.sub("", sentence))
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


def _after_arrow(sentence: str) -> str:
    """Return `x = 3` for `2x = 6 → x = 3`."""
    arrows = list(_ARROW.finditer(sentence, sentence.find("=") + 1, sentence.rfind("=")))
    return sentence[arrows[-1].end() :].strip() if "=" in sentence and arrows else sentence

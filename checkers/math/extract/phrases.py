"""The phrases around answers, by what they tell: announced, no answer, remarks; answers in words.

phrases.txt has the tables and their notation.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.document import without_bold
from gradebox.checkers.math.read.tables import (
    FRACTION_WORDS,
    NUMBER_WORDS,
    SCALE_WORDS,
    read_number_words,
    sections,
)

VALUE = (
    r"(?:\$(?:(?!\\boxed)[^$]){1,200}\$|\\\((?:(?!\\boxed).){1,200}?\\\)"
    r"|[-−]?[$€£]?\d(?:[\d,./]{0,40}\d)?%?(?![\w^])|(?-i:\(?\b[A-HJ]\b\)?)(?!['’]))"
)
_NOTATION = (
    (" ", r"\s{1,9}"),
    ("...", r"(?:[^.!?\n]|\.(?=\d)){0,60}?"),
    ("'", "['’]"),
    ("#", VALUE),
)
_TABLES = sections(__file__, "phrases.txt")


def phrase(table: str) -> str:
    """Return the regular expression of a table of phrases.txt."""
    out = "|".join(_TABLES[table]).replace("|+ ", "")
    for sign, pattern in _NOTATION:
        out = out.replace(sign, pattern)
    return f"(?:{out})"


def compiled(before: str, table: str = "", after: str = "", flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of a table between two regular expressions; case does not count."""
    return re.compile(before + (phrase(table) if table else "") + after, re.I | flags)


# ---- announced ----

_OF = r"(?:\s{1,9}(?:to|for|of)\s{1,9}[^.:\n]{0,80}?)?(?:\s{1,9}\([^()\n]{1,40}\))?[\s*]{0,9}"
_IS = r"(?:is|are|was|should\s+be|must\s+be|equals|=|:|：|[→⇒]|[-–—](?=\s))"
_ANNOUNCED, _LABELS = phrase("announced"), phrase("labels")
_ELSEWHERE = (  # `La réponse est 7`, `Die Antwort lautet 7`, `Ответ: 7`
    "(?:réponse|antwort|lösung|ergebnis|respuesta|solución|resultado|résultat|risposta|resposta"
    r"|ответ|答え|정답|답)(?:\s+(?:final[e]?|del?\s+\w+))?\s*"
    r"(?:est|ist|lautet|beträgt|es|è|é|は|은|는|[:：=—-])\s*[:：]?\s*(?:(?:donc|also|entonces)\s+)?"
)
_CHINESE = (
    r"的?值[为是]|所求[^，。；：$\d\n]{0,12}[为是]|答案\s*(?:应该|应)?\s*(?:是|为|：|:)\s*[：:]?"
    r"|答\s*[：:]|[故应]选(?!项)\s*[：:]?|选项\s*(?:应该|应)?\s*[是为]\s*[：:]?\s*(?=[(（]?[A-J])"
    r"|(?<!不)选(?:择)?\s*[：:]?\s*(?=\**[A-J](?![A-Za-z项选]))"
)
_LINE = (  # `A: 36`, `Output: 42`, `**Answer** 5`, `### Final Answer` on a line of its own
    r"^(?:[\[【#*_ \t]{0,20}(?:final\s+(?:answer|result)|answer)"
    r"(?:[#*_\]】 \t]{0,20}\n\s{0,9}|[*\]】]{1,3}[ \t]{0,9}(?!(?:is|are)\b|[:：=—-]))(?=\S)"
    r"|[>*# \t]{0,20}(?:final\s+)?answers?\.[* \t]{1,9}(?=\S)"
    r"|[>* \t]{0,20}(?:(?:A|Ans|Output|Result)\b[.* \t]{0,9}[:：](?!\s{0,9}[A-Z]\s{0,9}[=:])|Ans\.)"
    r"[* \t]{0,9}(?=\S))"
)
ANNOUNCED = re.compile(
    rf"{_LINE}|(?:{_ANNOUNCED}{_OF}{_IS}|{_LABELS}[\s*]{{0,3}}[:：=-])[\s*]{{0,9}}:?\s{{0,9}}"
    rf"|{_ELSEWHERE}|(?:{_CHINESE})\s{{0,9}}|agreed[.,:]?\s{{1,9}}submit\s{{1,9}}",
    re.I | re.M,
)
HASHES = re.compile(r"####\s*(.{1,4000})")
OUR_ANSWER = compiled(  # `$6$ is our answer`, `Option (D) is the correct answer`
    r"(?:(?:^|[\s,])(\$[^$]{1,200}\$|\\\(.{1,200}?\\\)|-?[\d.,/]{0,40}\d)"
    r"|(?:option|choice)\s{1,9}(\(?[A-J]\)?))",
    "our answer",
)
MARKED_WORD = re.compile(  # `\text{Answer: }64`
    r"(?<!\{)\\(?:text(?:bf|it)?|mathbf|mathrm)\s*\{\s*"
    r"((?:the\s+)?(?:final\s+)?answer\s{0,9}(?:is|=|:)?)\s{0,9}:?\s{0,9}\}(\s{0,9}:)?",
    re.I,
)
CLOSING_PHRASE = re.compile(r"\.?\s{0,9}I hope (?:it|this) is correct\.?.*$", re.I | re.S)
SELF_CHECK = compiled(r"\W*(?:\w+ly\s+)?", "self check")

# ---- taken back ----

DOUBTED = compiled("", "doubted")
CORRECTED = compiled("", "corrected")
HEDGED = compiled(r"(?<![a-z])", "hedged", r"(?!\w)")

# ---- no answer ----

DENIED = re.compile(  # `is not 12`, `12 is wrong`, `24 (not 42)`
    rf"(?:(?P<aside>\s\()|,\s{{1,9}})?\b(?:(?:(?:is|are|was|be|does|do|can)\s{{1,9}})?(?:\w+ly\s{{1,9}})?not|cannot|\w+n['’]t)\s{{1,9}}"
    rf"(?:(?:be|equals?|to)\s{{1,9}}){{0,3}}{VALUE}(?(aside)\))(?P<but>\s{{1,9}}but\s{{1,9}})?"
    rf"|{VALUE}\s{{1,9}}(?:is|was)\s{{1,9}}(?:not\s(?:the\s)?(?:correct|right|answer)|wrong\b|incorrect\b)",
    re.I,
)
DENIED_BOX = compiled(r"[\s$)\]\\]{0,9}", "denied box", r"\b")
REFUSED = compiled(  # at the end
    r"\b(?:can['’]t|cannot|could\s+not|unable\s+to|not\s+able\s+to|impossible\s+to)\s{1,9}",
    "refused",
    r"\s{0,9}$",
)
NON_ANSWER = compiled(
    r"(?<![A-Za-z])",
    "no answer",
    r"|无法|无正确|(?:都|均)不正确|信息不足|数据有误|没有正确",
)

# ---- remarks behind the answer ----

CHECK = compiled("", "check")
REMARK = compiled(r"\W*", "remark", r"\b(?!.*\b(?:so|thus|hence|therefore|total)\b)")
CONCLUDES = compiled(r"\W*", "concludes")
EXPLANATION = re.compile(  # after an answer that comes first
    r"(\S[^\n]{0,160}?)[.!]?\s{1,9}(?:Explanation|Reason(?:ing)?:|Proof|Here(?:['’]s|\s+is)\s+why"
    r"|To\s+see\s+(?:this|why)|The\s+reason\s+is|This\s+is\s+because)\b"
)
TRAILING = compiled("", "trailing", r"|，\s*(?:而)?其(?!中).*$", re.S)
_ANSWER = re.compile(
    rf"[\d\\$]|\b(?:{'|'.join(NUMBER_WORDS)})\b|^\W*(?:(?:option|choice)\s+\W?)?[A-J]\W*$|^(?i:yes|no|true|false)$"
)
# `5 when n = 1 and 3 when n = 2`; `9, and so 3`
_CASES = re.compile(
    r"\b(?:if\b.*\bif|otherwise|respectively|when\b.*\bwhen|for\b.*\bfor)\b", re.I | re.S
)
_CONCLUDED = re.compile(r"(?:,\s+|\b(?:and|but)\s+)(?:so|hence|thus|therefore)\s.*\d", re.S)
_CUT = re.compile(  # a response that ends within a sentence
    r"(?:[A-Za-z]{2,},?|[)\]}$])\s+(?:the|an?|of|and|or|that|where|which|with|to|for|is|are|was|gets"
    r"|get|we|then|so|because|if|in|by|each|those|these|there|this|it|from|as|at|on|let|have|has)$"
    r"|\w\s*(?:[-+*/×÷=&]|\\(?:times|cdot|frac|sqrt))\s*$"
)
_PROSE_WORD = re.compile(r"(?<![\\\w])[A-Za-z]{3,}(?!\w)")
MIN_CUT_WORDS = 8


def is_cut(text: str) -> bool:
    """Return whether a text ends in the middle of a sentence, before its answer."""
    if len(text.split()) < MIN_CUT_WORDS or _CUT.search(text) is None:
        return False
    return len(_PROSE_WORD.findall(text)) >= MIN_CUT_WORDS // 2


def without_trailing(text: str) -> str:
    """Return `\\sqrt{2}` for `\\sqrt{2}, attained when a=b`, and `9` for `9, not 11`.

    An answer with several cases (`5 when n = 1 and 3 when n = 2`) stays whole.
    """
    m = TRAILING.search(text)
    if m is None or _CONCLUDED.search(m[0]) or _CASES.search(text):
        return text
    kept = text[: m.start()]
    return kept if _ANSWER.search(kept) or phrase_at_end(kept) else text


# ---- answers in words ----

_PHRASE = re.compile(
    r"\b(do(?:es)?(?:n['’]t|\s+not)\s+exist|undefined|no\s+(?:[a-z]+\s+){0,2}solutions?|no\s+such\s+[a-z]+(?:\s+exists?)?"
    r"|infinitely\s+many(?:\s+solutions)?|all\s+real\s+numbers)$",
    re.I,
)
_YES_NO = re.compile(
    r"(?:(?:so|thus|hence|therefore),?\s+)?(?:(yes|no)(?=,\s+(?:because|since|as|for)\b)"
    r"|(yes|no),\s+(?:the|it|this|that|they|there|he|she|we|f|such)\b(?!.*\b(?:is|are|=)\s+[-$\d])"
    r"|(yes|no|true|false)$)",
    re.I,
)
_LETTER = re.compile(
    r"(?:\b(?:choose|select|pick|mark|go\s+with|^(?:So|Hence|Thus|Therefore),?(?=\s+\W?[A-J]\W*$)"
    r"|[Oo]ption|[Cc]hoice|answer(?:\s+is)?|[Oo]nly)\s+(?:option\s+|choice\s+|answer\s+)?"
    r"\(?([A-J])\b\)?)(?!['’]|.*\b[B-HJ]\b)"
    r"|\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\b[^.!?\n]{0,80}\bis:?\s+\(([A-J])\)"
    r"|\(?\b([B-HJ])\b\)?\s+is\s+(?:the\s+)?(?:correct|right|true|best|only)\b"
)
_LABELLED = re.compile(  # `B (42)`, `(b) 42`, `B, 42`, `B - forty`: a choice and its text
    r"(?:(?:option|choice)\s+|选\s*)?(?:\(([A-HJa-h])\)\s*[:.,-]?\s*(.+)|([A-HJ])(?:(?:\s+\(|（)([^()（）]+)[)）]|\s+[-–]\s+(?=[A-Za-z]{3})(?!a?(?:sin|cos|tan|cot|sec|csc|log|exp|sqrt|abs)h?\s?[\d(^_|\\\\x])(.+)"
    r"|[,:]\s+(.+)|[:.：．、]\s*(?=[^\n]*[\u4e00-\u9fff])(.+)))",
    re.S,
)
CHOICE_AND_TEXT = re.compile(
    r"\W{0,9}\b([A-HJ])\.\s{1,9}(?=[^\n]{0,200}[a-z\d])([^\n]{1,200})"
)  # `D. 42`
_OTHER_LABEL = re.compile(r"\W*(?:(?:and|or)\b|[A-J]\b(?!['’]))|.*\([b-j]\)", re.S)
MAX_LABELLED = 200  # characters
_NUMBER_WORD = "|".join([*NUMBER_WORDS, *SCALE_WORDS, *(f"{w}s?" for w in FRACTION_WORDS)])
_SPELLED = re.compile(  # `There are exactly four solutions`
    r"(?:\b(?:is|are|be|equals?|gets?|got|have|has|takes?|gives?|worth|costs?|pays?|paid(?:\s+for)?|earns?|needs?"
    r"|makes?|it['’]s|that['’]s|(?:equal|comes|amounts)\s+to|(?:total|sum)\s+of)\s+(?:(?:exactly|about"
    r"|only|a\s+total\s+of)\s+)?|^(?:so|thus|hence|therefore),?\s+|:\s+)"
    rf"((?:\b(?:{_NUMBER_WORD})\b[\s-]*){{1,9}})(?=\s|$)",
    re.I,
)
MAX_SENTENCE = 600  # characters that are searched


def _plain(sentence: str) -> str:
    return without_bold(sentence).strip(" .!")[-MAX_SENTENCE:]


def chosen_letter(sentence: str) -> str:
    """Return the choice letter, or the list of letters, that a sentence selects; else ""."""
    m = _LETTER.search(_plain(sentence))
    return next(filter(None, m.groups())) if m else ""


def labelled_choice(text: str) -> str:
    """Return `(B) 42` for `B (42)`, `b) 42`, `B, 42` and the like; "" for anything else."""
    m = _LABELLED.fullmatch(text) if len(text) <= MAX_LABELLED else None
    if m is None:
        return ""
    letter, content = (group for group in m.groups() if group)
    return "" if _OTHER_LABEL.match(content) else f"({letter.upper()}) {content.strip()}"


def yes_or_no(sentence: str) -> str:
    """Return the yes or no that a sentence begins with, or is."""
    m = _YES_NO.match(sentence.strip(" .!*"))
    return next(filter(None, m.groups())) if m else ""


def phrase_at_end(sentence: str) -> str:
    """Return `no solution` for `Hence there is no solution`; "" without such an end."""
    m = _PHRASE.search(_plain(sentence))
    return m[1] if m and not re.search(r"\bother", sentence, re.I) else ""


def spelled_number(sentence: str) -> str:
    """Return the only number in words of a sentence without digits: `There are seven ways`."""
    clause = re.split(r",\s+(?:and\s+)?(?:so|hence|thus|therefore)\s", _plain(sentence))[-1]
    found = [] if re.search(r"\d|\$", clause) else _SPELLED.findall(clause)
    one = found[0].strip(" -") if len(found) == 1 else ""
    return one if one.lower() != "one" and read_number_words(one) is not None else ""

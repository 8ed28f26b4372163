"""Find an answer in words in a sentence: a choice letter, yes or no, a name, a number in words.

phrase       `the limit does not exist`, `there are infinitely many`
yes or no    `Yes, the function is continuous`
letter       `we choose B`, `only B works`, `option B is right`
conclusion   `so the function is odd`
day or name  `it will be Saturday`, `Bob wins the game`
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.document import without_bold
from gradebox.checkers.math.read.number_words import FRACTION_WORDS, NUMBER_WORDS, read_number_words

_PHRASE = re.compile(
    r"\b(do(?:es)?(?:n['’]t|\s+not)\s+exist|undefined|no\s+(?:[a-z]+\s+){0,2}solutions?|no\s+such\s+[a-z]+(?:\s+exists?)?"
    r"|infinitely\s+many(?:\s+solutions)?|all\s+real\s+numbers)$",
    re.I,
)
_YES_NO = re.compile(
    r"(?:(?:so|thus|hence|therefore),?\s+)?(?:(yes|no)(?=,\s+(?:because|since|as|for)\b)"
    r"|(yes|no),\s+(?:the|it|this|that|they|there|he|she|we|f|such)\b(?!.*\b(?:is|are|=)\s+[-$\d])"
    r"|(ja|nein|sí|si|oui|non),\s|(yes|no|true|false)$)",
    re.I,
)
_LIST = r"[A-J](?:,\s*[A-J])*,?\s+and\s+[A-J]"
_ROMAN = r"(?:I{1,3}|IV|V)"
_LETTER = re.compile(
    rf"\b(?:exactly|only|[Ss]tatements?)\s+({_ROMAN}(?:(?:,\s*|,?\s+and\s+){_ROMAN})*)\s+(?:holds?|are|is|must|can)\b"
    rf"|(?:\b(?:[Ss]tatements?|[Oo]ptions?|[Cc]hoices?)\s+|^)({_LIST})\s+are\s+(?:both\s+)?(?:correct|true|right)\b"
    rf"|\b(?:correct|true|right)\s+(?:ones|statements|options|choices)\s+are\s+({_LIST})\b"
    r"|(?:\b(?:choose|select|pick|mark|go\s+with|is\s+only|leaves(?:\s+only)?|^(?:So|Hence|Thus|Therefore),?(?=\s+\W?[A-J]\W*$)"
    r"|[Oo]ption|[Cc]hoice|answer\s+is|[Oo]nly)\s+(?:option\s+|choice\s+|answer\s+)?\(?([A-J])\b\)?)(?!['’]|.*\b[B-HJ]\b)"
    r"|\bit['’]s\s+\(?([A-J])\b\)?$|\bAntwort\s+([A-J])\b"
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
_CONCLUDES = re.compile(r"(?:so|thus|hence|therefore|consequently)\b", re.I)
_CONCLUSION = re.compile(
    r"(?:(?:so|thus|hence|therefore|clearly|finally|consequently)\b"
    r"|.*\b(?:conclude|see|find|know|means|shows?|follows|deduce|implies)(?:\s+that)?\b).*"
    r"\b(?:is|are|be|was|were)\s+(\S+(?:\s+\S+){0,3})$",
    re.I | re.S,
)
_ARTICLE_OF_NAME = re.compile(r"(?:an?|the)\s+(?=[A-Z][a-z]+$)")
_NAME_AT_END = re.compile(r"\b(?:is|be|was|on|facing|named)\s+(?:an?\s+)?([A-Z][a-z]{2,})$")
_NUMBER_WORD = "|".join([*NUMBER_WORDS, *FRACTION_WORDS, "hundred", "thousand", "million"])
_RUN = rf"(?:(?:{_NUMBER_WORD})\b[\s-]*(?:and\s+(?:a\s+)?)?){{1,9}}"
_SPELLED = re.compile(  # `There are exactly four solutions`, `it takes one and a half hours`
    r"(?:\b(?:is|are|be|equals?|gets?|got|have|has|takes?|gives?|worth|costs?|pays?|paid|earns?|needs?|makes?"
    r"|means?|say|it['’]s|that['’]s|(?:equal|comes|amounts)\s+to|(?:total|sum)\s+of)\s+"
    r"(?:(?:exactly|about|only|approximately|a\s+total\s+of|in\s+total)\s+)*"
    rf"|paid\s+for\s+|:\s+(?=(?:(?:{_NUMBER_WORD})[\s-]*){{1,9}}(?:[a-z]+)?$)|^(?:so|thus|hence|therefore),?\s+"
    rf"|^(?=(?:(?:{_NUMBER_WORD})[\s-]+){{1,9}}of\s))((?:(?:minus|negative)\s+)?{_RUN})(?=\s|$)",
    re.I,
)
MAX_SENTENCE = 600  # characters that are searched for a number in words


def _plain(sentence: str) -> str:
    return without_bold(sentence).strip(" .!")[-MAX_SENTENCE:]


def spelled_number(sentence: str) -> str:
    """Return the number in words that a sentence states (`a total of seven`); "" without one."""
    sentence = _plain(sentence)
    found = [re.sub(r"\s+and(?:\s+a)?$", "", t.strip(" -")) for t in _SPELLED.findall(sentence)]
    numbers = [t for t in found if t.lower() != "one" and read_number_words(t) is not None]
    return numbers[0] if len(numbers) == 1 else ""


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


def concluded_phrase(sentence: str) -> str:
    """Return `no solution` for `Hence there is no solution`; "" without such a conclusion."""
    sentence = _plain(sentence)
    phrase = _PHRASE.search(sentence) if _CONCLUDES.match(sentence) else None
    return phrase[1] if phrase else ""


def name_at_end(sentence: str) -> str:
    """Return Saturday for `it will be Saturday`, Anna for `the winner is Anna`; "" without one."""
    m = _NAME_AT_END.search(_plain(sentence))
    return m[1] if m else ""


def words_of(sentence: str) -> str:
    """Return the words in a sentence that are its answer; "" without any."""
    sentence = _plain(sentence)
    if phrase := _PHRASE.search(sentence):
        return phrase[1]
    if answer := yes_or_no(sentence) or chosen_letter(sentence):
        return answer
    if conclusion := _CONCLUSION.match(sentence):
        return _ARTICLE_OF_NAME.sub("", conclusion[1].strip(" *"))
    return name_at_end(sentence)

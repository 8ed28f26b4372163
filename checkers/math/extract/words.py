"""Find an answer in words in a sentence: a choice letter, a name, a phrase, a number in words.

The first of these that a sentence has is its answer:

    phrase       `the limit does not exist`, `there are infinitely many`
    yes or no    `Yes, the function is continuous`
    letter       `we choose B`, `only B works`, `option B is right`
    conclusion   `so the function is odd`
    day or name  `it will be Saturday`, `Bob wins the game`
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.markdown import without_bold
from gradebox.checkers.math.read.number_words import (
    FRACTION_WORDS,
    NUMBER_WORDS,
    read_number_words,
)

_PHRASE = re.compile(
    r"\b(do(?:es)?(?:n['’]t|\s+not)\s+exist|undefined|no\s+(?:(?:real|integer|integral|rational|positive|such|further)\s+)*solutions?|no\s+such\s+[a-z]+(?:\s+exists?)?"
    r"|infinitely\s+many(?:\s+solutions)?|all\s+real\s+numbers)$",
    re.I,
)
_YES_NO = re.compile(
    r"(?:(?:so|thus|hence|therefore),?\s+)?(?:(yes|no)(?=,\s+(?:because|since|as|for)\b)"
    r"|(yes|no),\s+(?:the|it|this|that|they|there|he|she|we|f|such)\b"
    r"(?!.*\b(?:is|are|=)\s+[-$\d])|(ja|nein|sí|si|oui|non),\s|(yes|no|true|false)$)",
    re.I,
)
_LETTER = re.compile(
    r"(?:\b(?:choose|select|pick|mark|go\s+with|is\s+only|leaves(?:\s+only)?|^(?:So|Hence|Thus|Therefore),?(?=\s+\W?[A-J]\W*$)|[Oo]ption"
    r"|[Cc]hoice|answer\s+is|only)\s+"
    r"(?:option\s+|choice\s+|answer\s+)?\(?([A-J])\b\)?)(?!['’]|.*\b[B-HJ]\b)"
    r"|\bit['’]s\s+\(?([A-J])\b\)?$|\bAntwort\s+([A-J])\b"
    r"|\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\b[^.!?\n]{0,80}\bis:?\s+\(([A-J])\)"
    r"|\(?\b([B-HJ])\b\)?\s+is\s+(?:the\s+)?(?:correct|right|true|best|only)\b"
)
_LETTERS = re.compile(  # `B and C are correct`, `Statements A and C are correct`
    r"(?:\b(?:statements?|options?|choices?)\s+([A-J](?:,\s*[A-J])*,?\s+and\s+[A-J])"
    r"\s+are\s+(?:correct|true|right)\b"
    r"|^([A-J](?:,\s*[A-J])*,?\s+and\s+[A-J])\s+are\s+(?:both\s+)?(?:correct|true|right)\b"
    r"|\b(?:correct|true|right)\s+(?:ones|statements|options"
    r"|choices)\s+are\s+([A-J](?:,\s*[A-J])*,?\s+and\s+[A-J])\b)",
    re.I,
)
_LABELLED = re.compile(  # `B (42)`, `(b) 42`, `B, 42`, `B - forty`: a choice and its text
    r"(?:(?:option|choice)\s+|选\s*)?(?:\(([A-HJa-h])\)\s*[:.,-]?\s*(.+)|([A-HJ])(?:(?:\s+\(|（)([^()（）]+)[)）]|\s+[-–]\s+(?=[A-Za-z]{3})(?!a?(?:sin|cos|tan|cot|sec|csc|log|exp|sqrt|abs)h?\s?[\d(^_|\\\\x])(.+)"
    r"|[,:]\s+(.+)|[:.：．、]\s*(?=[^\n]*[\u4e00-\u9fff])(.+)))",
    re.S,
)
CHOICE_AND_TEXT = re.compile(r"\W*\b([A-HJ])\.\s+(?=[^\n]*[a-z\d])([^\n]{1,200})")  # `D. 42`
_OTHER_LABEL = re.compile(r"\W*(?:(?:and|or)\b|[A-J]\b(?!['’]))|.*\([b-j]\)", re.S)
MAX_LABELLED = 200  # characters
_ROMAN = r"(?:I{1,3}|IV|V)"
_STATEMENTS = re.compile(  # `exactly I and II hold`
    rf"\b(?:exactly|only|statements?)\s+({_ROMAN}(?:(?:,\s*"
    rf"|,?\s+and\s+){_ROMAN})*)\s+(?:holds?|are|is|must|can)\b"
)
_CONCLUDES = re.compile(r"(?:so|thus|hence|therefore|consequently)\b", re.I)
_CONCLUSION = re.compile(
    r"(?:(?:so|thus|hence|therefore|clearly|finally|consequently)\b"
    r"|.*\b(?:conclude|see|find|know|means|shows?|follows|deduce|implies)(?:\s+that)?\b).*"
    r"\b(?:is|are|be|was|were)\s+(\S+(?:\s+\S+){0,3})$",
    re.I | re.S,
)
_IS_THE = re.compile(  # `So Carol is the tallest`, `Carol did it`, `Carol finished first`
    r"(?:(?:So|Thus|Hence|Therefore),?\s+|Only\s+)?(?!(?:So|Thus|The|This|That|It|There"
    r"|Hence|Only)\b)([A-Z][a-z]{2,})\s+"
    r"(?:(?:is|was|must\s+be|can\s+be|has\s+to\s+be)\s+the\s+[a-z]+|did\s+it|must\s+be\s+telling\s+the\s+truth|(?:finished"
    r"|came)\s+first)\b(?!.*\b(?:not|than)\b)"
)
_LOSES = re.compile(r"^(?:(?:So|Thus|Hence|Therefore),?\s+)?[A-Z][a-z]+\s+(?:lost|loses)\b")
_ARTICLE_OF_NAME = re.compile(r"(?:an?|the)\s+(?=[A-Z][a-z]+$)")
_NAME_AT_END = re.compile(r"\b(?:is|be|was|on|facing|named)\s+(?:an?\s+)?([A-Z][a-z]{2,})$")
_NAME = re.compile(
    r"(?<=[a-z,;:]\s)(?<!after\s)(?<!before\s)(?<!than\s)[A-Z][a-z]{2,}"
    r"(?:\s[A-Z][a-z]+)?\b(?!['’]s)"
)
_SUBJECT = re.compile(
    r"(?!The|So|Thus|Hence|This|That|There|They|These|Then|Each|Both|One|Here|Now|Our|All|She|Any)"
    r"([A-Z][a-z]{2,})\s+(?:has|wins|won|will|can|must|gets|finishes|comes)\b"
)
_NUMBER_WORD = "|".join([*NUMBER_WORDS, *FRACTION_WORDS, "hundred", "thousand", "million"])
_SPELLED = re.compile(  # `There are exactly four solutions`, `it takes one and a half hours`
    r"(?:\b(?:is|are|be|equals?|gets?|got|have|has|takes?|gives?|worth|costs?|pays?|paid"
    r"|earns?|needs?|makes?|means?|say|it['’]s|that['’]s|(?:equal|comes|amounts)\s+to"
    r"|(?:total|sum)\s+of)\s+(?:(?:exactly|about|only|approximately|a\s+total\s+of|in\s+total)\s+)*"
    rf"|paid\s+for\s+|:\s+(?=(?:(?:{_NUMBER_WORD})[\s-]*)+(?:[a-z]+)?$)|^(?:so|thus|hence|therefore),?\s+"
    rf"|^(?=(?:(?:{_NUMBER_WORD})[\s-]+)+of\s))"
    rf"((?:(?:minus|negative)\s+)?(?:(?:{_NUMBER_WORD})\b[\s-]*(?:and\s+(?:a\s+)?)?)+)(?=\s|$)",
    re.I,
)

_BASES = {"binary": "2", "octal": "8", "hexadecimal": "16"}
_BASE = re.compile(r"\b(?:binary|octal|hexadecimal|(?:in\s+)?base[\s-](\d{1,2}|[a-z]+))\b", re.I)
_AND_CENTS = re.compile(  # `twelve dollars and fifty cents`
    rf"(?:(?:{_NUMBER_WORD})[\s-]+)+[a-z]+\s+(?:and\s+)?(?:(?:{_NUMBER_WORD})[\s-]+)+"
    rf"(?:cents?|min(?:ute)?s?|inch(?:es)?|sec(?:ond)?s?)\b",
    re.I,
)
_PART_OF_A_UNIT = re.compile(rf"(?:(?:{_NUMBER_WORD}|an?)[\s-]+)+of\s+an?\s+\w+", re.I)
MAX_SENTENCE = 600  # characters that are searched for a number in words
_NUMBER_RUN = re.compile(rf"\b((?:(?:{_NUMBER_WORD})\b[\s-]*(?:and\s+(?=\w+))?)+)", re.I)
_SPOKEN_TIME = re.compile(
    r"\b(?:quarter|half|[a-z]+(?:-[a-z]+)?\s+minutes?)\s+(?:past|to)\s+(?:[a-z]+|\d{1,2})\b"
    r"(?:\s+in\s+the\s+(?:morning|afternoon|evening)|\s*[ap]\.?m\.?)?",
    re.I,
)


def spelled_number(sentence: str) -> str:
    """Return the number in words that a sentence states (`a total of seven`); "" without one."""
    sentence = without_bold(sentence).strip(" .!")[-MAX_SENTENCE:]
    if _PART_OF_A_UNIT.fullmatch(sentence):
        return sentence
    matches = list(_SPELLED.finditer(sentence))
    found = [re.sub(r"\s+and(?:\s+a)?$", "", m[1].strip(" -")) for m in matches]
    numbers = [t for t in found if t.lower() != "one" and read_number_words(t) is not None]
    if len(numbers) == 1 and (money := _AND_CENTS.search(sentence, matches[-1].start())):
        return money[0]
    return numbers[0] if len(numbers) == 1 else ""


def only_number(sentence: str) -> str:
    """Return the only number in words of a sentence, `thirteen posts are needed`; else ""."""
    if len(sentence) > MAX_SENTENCE:
        return ""
    found = _NUMBER_RUN.findall(without_bold(sentence))
    found = [re.sub(r"[\s-]+(?:and)?[\s-]*$", "", t) for t in found]
    numbers = [t for t in found if t.lower() not in ("one", "second") and read_number_words(t)]
    return numbers[0] if len(numbers) == 1 else ""


def spoken_time_in(sentence: str) -> str:
    """Return `quarter to four in the afternoon` of a sentence; "" without such a time."""
    m = _SPOKEN_TIME.search(sentence)
    return m[0] if m else ""


def chosen_letter(sentence: str) -> str:
    """Return the choice letter, or the list of letters, that a sentence selects; else ""."""
    sentence = without_bold(sentence).strip(" .!")
    m = _STATEMENTS.search(sentence) or _LETTERS.search(sentence) or _LETTER.search(sentence)
    return next(filter(None, m.groups())) if m else ""


def labelled_choice(text: str) -> str:
    """Return `(B) 42` for `B (42)`, `b) 42`, `B, 42` and the like; "" for anything else."""
    m = _LABELLED.fullmatch(text) if len(text) <= MAX_LABELLED else None
    if m is None:
        return ""
    letter, content = (group for group in m.groups() if group)
    return "" if _OTHER_LABEL.match(content) else f"({letter.upper()}) {content.strip()}"


def yes_or_no(sentence: str) -> str:
    m = _YES_NO.match(sentence.strip(" .!*"))
    return next(filter(None, m.groups())) if m else ""


def concluded_phrase(sentence: str) -> str:
    """Return `no solution` for `Hence there is no solution`; "" without such a conclusion."""
    sentence = without_bold(sentence).strip(" .!")
    phrase = _PHRASE.search(sentence) if _CONCLUDES.match(sentence) else None
    return phrase[1] if phrase else ""


def name_at_end(sentence: str) -> str:
    """Return the name that ends a sentence after is, be, was or on; "" without one.

    Saturday for `it will be Saturday`, Anna for `the winner is Anna`.
    """
    m = _NAME_AT_END.search(without_bold(sentence).strip(" .!"))
    return m[1] if m else ""


def words_of(sentence: str) -> str:
    """Return the words in a sentence that are its answer; "" without any."""
    sentence = without_bold(sentence).strip(" .!")
    if phrase := _PHRASE.search(sentence):
        return phrase[1]
    if answer := yes_or_no(sentence) or chosen_letter(sentence):
        return answer
    if _LOSES.search(sentence):
        return ""
    if is_it := _IS_THE.match(sentence):
        return is_it[1]
    if conclusion := _CONCLUSION.match(sentence):
        return _ARTICLE_OF_NAME.sub("", conclusion[1].strip(" *"))
    subject = _SUBJECT.match(sentence)
    names = [subject[1]] if subject else _NAME.findall(sentence)
    return name_at_end(sentence) or (names[0] if len(names) == 1 else "")


def with_base(answer: str, sentence: str) -> str:
    """Return `101_{2}` for the 101 of a sentence that speaks of binary numbers."""
    m = _BASE.search(sentence) if answer.isalnum() and answer[:1].isdigit() else None
    if m is None:
        return answer
    base = _BASES.get(m[0].lower()) or m[1]
    base = base if base.isdigit() else read_number_words(base) or ""
    return f"{answer}_{{{base}}}" if base and set(answer) <= set("0123456789ABCDEF") else answer

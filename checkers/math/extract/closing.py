"""Find what a text without a box or an announcement states at its end.

A bare answer, `12 cm` or *all real numbers except 2*, has none of the words of prose.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract import phrases
from gradebox.checkers.math.extract.document import FORMULA, MAX_PROSE, without_bold
from gradebox.checkers.math.extract.formulas import after, last_piece, pieces
from gradebox.checkers.math.read.tables import read_number_words, translate
from gradebox.checkers.math.read.units import add_units

WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,}(?![A-Za-z])")
TEX_WORDS = re.compile(
    r"\\(?:text|mbox|textbf|textit|mathrm|operatorname|begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+"
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_FOREIGN = re.compile(  # a letter of another language
    r"[^\W\d_a-zA-Z\u00b2\u00b3\u00b9\u00bc-\u00be\u00c5\u2070-\u209f\u0370-\u03ff\u2100-\u218f\u4e00-\u9fff\U0001d400-\U0001d7ff]"
)
_AMOUNT = re.compile(  # `1.5`, `$20`, `20,00 $`, `1/2`, `114 200`, `5%`
    r"(?<![A-Za-z\d.,])[-−]?[$€£]?(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+|\d[\d,.]*(?:/\d+)?)"
    r"(?<![.,])(?:\s?[$€£%])?(?![.,]?\d)"
)
_OF_ANOTHER = re.compile(r"\d\D{0,4}的[\u4e00-\u9fff]+$")  # `3 的倍数` is not 3
_PROSE = re.compile(  # a verb, a pronoun or a conjunction of a sentence
    r"(?<![A-Za-z\\])(?:it['’]s|is|are|was|were|had|can|could|did|equals?|gets?|find|have|has|gives?"
    r"|(?<!such )that|beträgt|ist|sind|es|son|est|sont|which|then|therefore|thus|hence|since|so"
    r"|because|we|let|there"
    r"|obtain|yields?|must|will|be|would|takes?|needs?|costs?|holds?|starts?|ends?|lasts?|leaves?|rejected|altogether"
    r"|happens?|occurs?|satisf(?:y|ies)|wins?|earns?|weighs?|contains?|requires?|remains?|becomes?|regardless"
    r"|I(?=\s+[a-z]{2})|I['’]d|he|she|you|they|my|his|her|their|our|means|says?)(?![A-Za-z^_])",
    re.I,
)
_LEAD = re.compile(  # `The total cost $45`, `In 3 hours he walks 12 miles.`, `Adding, $5+7=12$`
    r"(?!(?:option|choice|answer|all|any|every|no|not|up\s+to|at\s+(?:least|most)|(?:more|less|fewer|greater)\s+than)\b"
    r"|.*\b(?:roots?|multiples?|powers?|square|half)\s+of\s)"
    r"(?:[A-Za-z]{2,}(?:['’]s|\.)?,?(?:\s+[a-z]+(?:['’]s)?)+\s+[$\\*(\[]*[-\d]"
    r"|(?-i:[A-Z][a-z]+ing(?:\s[^,.]{0,60})?,\s"
    r"|(?:When|If|As|In|At|With|For|On|From|By|After|Now|Next|Finally|So|Then)\s.{1,80}?(?:,\s|\s[a-z]+s\s)"
    r"|[A-Z][a-z]+\s(?=.*\s[a-z]{3,}\s.*\s[a-z]{3,}\s.*\.$)))",
    re.I,
)
_SPEECH = re.compile(  # `Her earnings: $460`, `Output:` and a line, two sentences
    r"^[A-Z][a-z]+(?:['’][a-z]*)?(?: [a-z]+){2,}:\s|:[ \t]*\n|[→⟹⇒].*="
    r"|(?:\d|[a-z]{3}|[$)°])\.\s+(?:[A-Z$]|\d+\s*[-+×*·/=])"
    r"|\$,\s(?!and\s|or\s|if\s|when\s|for\s|where\s|with\s)[a-z]{3,}\s\$",
    re.M,
)
_LABEL = re.compile(  # `Distance: √13`, `Odpowiedź: 100`
    r"^\**(?!lambda\b|print\b|return\b)[^\W\d_]{3,}(?:\s[^\W\d_]+){0,4}\s*[:：]\**\s*"
    r"(?=[-−\d$\\√πᵃ(\[])(?!.*[:：].*[:：])"
)
_BOLD_END = re.compile(r"\*\*([^*\n]{1,200})\*\*\s*[.!]?\s*$")
_VERB_BEFORE = re.compile(r"\b(?:is|are|be|was|were)\s*:?\s*$")
MAX_BARE_WORDS = 12
MAX_CHINESE = 8  # characters of a bare answer
MAX_SENTENCE = 1500  # characters, from its end


def is_bare(text: str) -> bool:
    """Return whether the whole text is an answer rather than prose around one."""
    if chinese := _CHINESE.findall(text):
        if not _CHINESE.search(translate(text)) or _OF_ANOTHER.search(text):
            return True
        if re.search(r"\d", text) and re.search(r"[^和或与者]", "".join(chinese)):
            return False
        return len(chinese) <= MAX_CHINESE and not re.search(r"[，。；]\S", text)
    if not re.search(r"[^\W\d_]", text):
        return True
    if len(text) > MAX_PROSE and "\\begin" not in text:
        return False
    if _LABEL.match(text) or foreign_number(text):
        return False
    if _FOREIGN.search(text) and re.search(r"\w\s+\S*[\d$]", text):
        return False
    outside = TEX_WORDS.sub(" ", FORMULA.sub(" ", text))
    count = len(WORD.findall(outside))
    if _SPEECH.search(text) or ("\n\n" in text and count > MAX_BARE_WORDS):
        return False
    if count == 0:
        return True
    if not (re.search(r"\d", text) or FORMULA.search(text)):
        return count <= MAX_BARE_WORDS and not (
            phrases.chosen_letter(text)
            or (count > 1 and phrases.spelled_number(text) and read_number_words(text) is None)
            or (count > 3 and (phrases.phrase_at_end(text) or _BOLD_END.search(text)))
        )
    if (count > 2 and phrases.yes_or_no(text)) or outside.strip().count("\n") > 1:
        return False
    return count <= 8 and not (_LEAD.match(text) or _PROSE.search(outside))


def foreign_number(text: str) -> str:
    """Return the only number or amount of money, `5` for `5 мальчиков`; "" for math and English."""
    if _FOREIGN.search(text) is None or re.search(r"[=\\^<>]|[+*×·]\s*\d", text):
        return ""
    found = [m.strip() for m in _AMOUNT.findall(text)]
    money = [m for m in found if re.search("[$€£]", m)]
    return next((amounts[0] for amounts in (found, money) if len(amounts) == 1), "")


# ---- the closing sentence ----

_BREAK = re.compile(
    r"(?:(?<=[.!?])(?<!\bM[rs]\.)(?<!\b[MD]rs\.)(?<!\bDr\.)\s+|(?<=[.!?]\$)\s+"
    r"|(?<=\.\\[\])])\s*|(?<=\.\$\$)\s*)(?=[A-Z(])|\n+|(?<=[。；])"
)
_ASIDE = re.compile(r"\((?![A-J]\))[^\n]*\)\W*$")  # `(And $y = 2$.)`
_LISTED = re.compile(  # `The solutions are:` and a list, at the end
    r"\b(?:solutions|answers|pairs|triples|values|roots|functions)\b[^\n]{0,60}:\**[ \t]*"
    r"((?:\n\s*[-*•][ \t]+(?=\S)[^\n]{1,120}){2,20})\s*$",
    re.I,
)
_ONE_LETTER = re.compile(r"\(?[A-E]\)?\.?")
_IS_THE = re.compile(  # `17 is the 7th prime number`
    r"(?:(?:so|thus|hence),?\s+)?(-?\d(?:[\d,.]*\d)?|\$[^$]*[=\d][^$]*\$)\s+is\s+(?:the|an?|our)\s",
    re.I,
)
_CHANCE = re.compile(  # `1 in 6`, `3 out of 8`
    r"\b(\d{1,3})(?:\s+in\s+|-in-|\s+out\s+of\s+)(\d{1,3})(?:\s+(?:chance|probability))?$"
)
_COMPOUND = re.compile(r"(?<![\w.])\d[\d.]*\s+[a-z]+,?\s+(?:and\s+)?\d[\d.]*\s+[a-z]+$", re.I)


def prose_answer(text: str) -> str:
    """Return what a text states at its end: its last sentence counts, without remarks and checks.

    In this order: bold text, a letter, words, a number in words, the last value.
    """
    text = phrases.CLOSING_PHRASE.sub("", text[-MAX_PROSE:]).strip()
    text = FORMULA.sub(lambda m: " ".join(m[0].split()), text)  # each display within a sentence
    text = re.sub(r",\s*\$\$\s*\$\$", "$$, $$", text)  # one display after the other
    sentences = _without_remarks([s for s in _BREAK.split(text) if s and s.strip()])
    last = sentences[-1].strip() if sentences else ""
    if len(sentences) == 1 and re.match(r"\([A-J]\)\s+[A-Z]", text):
        return text  # a choice with its text
    if len(sentences) > 1 and _ONE_LETTER.fullmatch(last):
        return last.strip(" .*")
    if listed := _LISTED.search(text):
        return ", ".join(re.findall(r"[-*•]\s+(.*\w.*?)[.,;]?$", listed[1], re.M))
    said = _bold_end(last) or phrases.chosen_letter(last) or phrases.yes_or_no(last)
    said = said or phrases.phrase_at_end(phrases.without_trailing(last))
    said = said or phrases.spelled_number(last)
    valued = next((s for s in reversed(sentences) if pieces(s)), "")
    closing = phrases.without_trailing(valued).strip(" .!*"), last.strip(" .,:")
    if any(map(phrases.HEDGED.search, closing)) or last.endswith("?"):
        return said
    return said or (_from_sentence(valued[-MAX_SENTENCE:]) if valued else last_piece(text))


def is_check(sentence: str) -> bool:
    """Return whether a sentence begins to verify an answer."""
    return bool(phrases.CHECK.match(sentence.strip(" *#>-")))


def _without_remarks(sentences: list[str]) -> list[str]:
    """Return the sentences without questions, remarks and checks at their end."""
    if len(sentences) > 1 and sentences[-1].rstrip().endswith("?"):
        sentences.pop()  # `Would you like to see the other 2 cases?`
    while len(sentences) > 1 and (
        phrases.REMARK.match(sentences[-1].strip()) or _ASIDE.match(sentences[-1])
    ):
        sentences.pop()
    for i in range(1, len(sentences)):
        concluded = any(phrases.CONCLUDES.match(s.strip()) for s in sentences[i + 1 :])
        if is_check(sentences[i]) and not concluded:
            return sentences[:i]
    return sentences


def _bold_end(sentence: str) -> str:
    """Return the bold text that ends a sentence, when it is a value or follows a verb."""
    bold = _BOLD_END.search(sentence)
    before = sentence[: bold.start()] if bold else ""
    if bold is None or re.search(r"\*\*\s*(?:,|,?\s*and|,?\s*or)\s*$", before):
        return ""  # `**3** and **1**`
    words = not re.search(r"\d|\$|\\|^no\b", bold[1]) and not _ONE_LETTER.fullmatch(bold[1])
    if words and not (_VERB_BEFORE.search(before) and len(bold[1].split()) <= 4):
        return ""
    answer = bold[1].strip(" .:")
    return answer if is_bare(answer) else last_value(answer)


def _from_sentence(sentence: str) -> str:
    sentence = without_bold(sentence.strip())
    if label := _LABEL.match(sentence):
        sentence = sentence[label.end() :].rstrip(". ")
        if is_bare(sentence) and (
            "=" not in sentence or not WORD.search(TEX_WORDS.sub("", sentence))
        ):
            return sentence.strip(" *")
    sentence = re.sub(r"(?<=\d)!+$", "", sentence.strip()).rstrip(". 。；").strip()
    return last_value(phrases.without_trailing(sentence))


def last_value(text: str) -> str:
    """Return the value that ends a text, as one answer."""
    if named := _IS_THE.match(text):
        return named[1]
    text = _CHANCE.sub(r"\1/\2", text)
    if number := foreign_number(text):
        return number
    if (compound := _COMPOUND.search(text)) and add_units(compound[0]):
        return compound[0]
    return last_piece(_stated(text))


_MENTIONED = re.compile(  # the word before a number that is not what a sentence states
    r"(?:#|\b(?:(?<!total )(?<!sum )(?<!remainder )(?<!average )of"
    r"|(?<!up )(?<!ed )(?<!equal )(?<!equivalent )to|with|at|from|between|than|for|in|by|on|after"
    r"|before|per|each|when|if|once|since|because|while|every|within|during|over|under|above|below"
    r"|into|through|past|until|all|the|those|these|first|last|next)\s+)[$€£]?$",
    re.I,
)
_PURPOSE = re.compile(  # `31 cakes so that he will have 4`
    r"(?<!\bneeds)(?<!\bhas)(?<!\bhave)(?<!\bdue)\s"
    r"(?:so\s+that|to\s+(?!be\b)[a-z]+|(?:after|before|by|without)\s+[a-z]+ing)\s"
)
_FORMULA_SIGN = re.compile(r"[=\\<>≤≥×·^+*:]|\$[^$]*\$(?!\d)|\d,\s+[-$\d]|\b(?:and|or)\s+\$?\d")
_COUNTED = re.compile(  # `15 * 3 = 45 miles in 3 hours`
    r"(.*=\s?\$?-?\d[\d,.]*\$?(?:\s[A-Za-z]+){1,5})"
    r"\s(?:in|for|over|with|by|during|within|per)\s(?:the\s)?\d[\d.,]*\s[A-Za-z]{3,}$"
)
MAX_CLAUSE = 300  # characters


def _stated(text: str) -> str:
    """Return a sentence up to the one number that it states, `45` for *45 miles in 3 hours*."""
    clause = re.split(r"[,;]\s+(?:and\s+)?(?:so|hence|thus|therefore)\s+", text)[-1]
    if len(clause) > MAX_CLAUSE or _FORMULA_SIGN.search(clause):
        counted = _COUNTED.match(text)
        return text if counted is None else counted[1]
    found = pieces(clause)
    purpose = _PURPOSE.search(clause, found[0][1]) if found else None
    last = purpose.start() if purpose else len(clause)
    stated = [b for a, b, _ in found if a < last and not _MENTIONED.search(clause[:a])]
    if len(stated) != 1 or len(found) < 2:
        return text
    return clause[: stated[0]] + after(clause[stated[0] :])

"""Remove what follows an answer in its own sentence: `9 (since …)`, `64 squares (8 rows of 8)`."""

from __future__ import annotations

import re

from gradebox.checkers.math.read.number_words import NUMBER_WORDS

_TRAILING = re.compile(  # `, attained when a=b`, ` since …`, `, not 11`, ` of the pie`
    r",?\s+(?:which\s+(?:is|are)\s+)?(?:attained|achieved|reached|obtained|with\s+equality)\s.*$"
    r"|,?\s+(?:since|because)\s.*$|,\s+(?:and\s+)?not\s.*$|,?\s+(?:rather\s+than"
    r"|instead\s+of|as\s+opposed\s+to)\s.*$"
    r"|,?\s+(?:when|at|for)\s+(?!.*\b(?:is|are|equals|gives?"
    r"|get)\b)[^=,]{1,40}=[^,]*(?:,[^=,]{1,12}=[^,]*){0,3}$"
    r"|,\s+as\s+(?!(?:is|are|well|follows)\b)[^,;]*\b(?:is|are|was|were"
    r"|has|have|equals|add|sum)\b[^,;]*$"  # a reason
    r"|,\s+(?:while|whereas|with|as)\s+its\s.*$|，\s*(?:而)?其(?!中).*$"  # of something else
    r"|,\s+(?:but|although|though|however|including|excluding)\s.*$"
    r"|,\s+which\s+(?:occurs|happens|can\s+be|follows|scales|tends|approaches|behaves|grows|we\s+can|is\s+an?|is\s+(?:twice|half|the\s+same|more|less|exactly"
    r"|\w+\s+(?:times|more|less)))\s.*$"
    r"|(?<=[\d$)}%])\s+of\s+(?:the|his|her|its|their|all)\s[a-z ]+$"
    r"|,?\s+(?:and\s+)?(?:substituting|checking|plugging|verifying)\b.*$"
    r"|\s+for\s+(?:every|all|each|any)\s+(?:(?:positive|real|natural"
    r"|non-?negative)\s+)*(?:integers?|numbers?)?\s*\$?[a-z]\$?$"
    r"|\s+for\s+(?:every|all|each|any)\s+\$[a-z]\s*\\g(?:t|eq?|eqslant)\s*\d+\$(?:,\s+which\s.*)?$"
    r"|(?<=\w),\s+that\s+is,\s.*$|(?<=\$),\s+i\.e\.\s.*$|,\s+\w+\s+in\s+total$|\s+\(=[^()]*\)$"
    r"|\s+when\s+(?:it\s+is\s+)?divided\s+by\s.*$|\s+when\s+[A-Z][a-z]+\s.*$"
    r"|\s+if\s+[a-z]\s*=[^,]*$"
    r"|,?\s+as\s+(?:required|claimed|desired|expected|wanted|needed|stated|we\s+(?:wanted"
    r"|claimed|expected)|was\s+to\s+be\s+shown)$"
    r"|\s+after\s+(?:an?|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?:second"
    r"|minute|hour|day|week|month|year)s?$"
    r"|[;,]\s+(?:the|its|while\s+the)\s+other\b.*\b(?:rejected|discarded|extraneous"
    r"|invalid|ignored|not\s+valid|impossible)$"
    r"|,\s+(?:with|where|whose)\s.*$|\s+as\s+(?:my|our|the)\s+(?:final\s+)?answer$"
    r"|\s+for\s+[$€£]?[\d.]+\s+(?:each|apiece|(?:second|minute|hour|day|week|month|year)s?)$"
    r"|(?<=%)\s+off\s.*$"
    r"|,?\s+(?:no\s+matter|regardless\s+of|irrespective\s+of|independent(?:ly)?\s+of)\s.*$"
    r"|,?\s+(?:valid\s+)?(?:for|when|where|provided(?:\s+that)?)\s+\$?[a-z]\s*(?:\\neq?(?![a-z])|≠|!=)\s*[^\s,]+$"
    r"|;\s+(?:indeed|in\s+particular|note\s+that|equality)\b.*$"
    r"|\s+as\s+(?:the|its|our|an?)\s+(?:smallest|largest|least|greatest|only|unique|minimum|maximum|final|required"
    r"|desired|correct|possible)\s.*$",
    re.I | re.S,
)
_ANSWER = re.compile(
    rf"[\d\\$]|\b(?:{'|'.join(NUMBER_WORDS)})\b|^\W*(?:(?:option|choice)\s+\W?)?[A-J]\W*$"
)
# `5 when n = 1 and 3 when n = 2`; ` (8 rows of 8)`
_CONCLUDED = re.compile(r"(?:,\s+|\b(?:and|but)\s+)(?:so|hence|thus|therefore)\s.*\d", re.S)
_CASES = re.compile(r"\b(?:if\b.*\bif|otherwise|respectively|when\b.*\bwhen)\b", re.I | re.S)
_ASIDE = re.compile(  # ` (so $x = 3$)`, ` ($x \\ne 0$)`
    r"(?<=[\w$)}%])\s+\((?:(?:so|since|as|because|where|i\.e\.|check|with|for|when)\b"
    r"|\$?[a-z]\s*(?:\\neq?(?![a-z])|≠|!=))[^()]*(?:\([^()]*\)[^()]*)*\)$"
)
_PARENTHESES = re.compile(
    r"(?<=[\w$)}%]) [(\[](?!mod)([^()\[\]$\\]{3,200}"
    r"|(?=[^()]*[a-z]{3,} [^()]*[a-z]{3,} |(?!base\b)[a-z]{2,}\s)[^()]{3,200})[)\]]$"
)


def strip_trailing_text(text: str) -> str:
    """Return `\\sqrt{2}` for `\\sqrt{2}, attained when a=b`, and `9` for `9, not 11`.

    An answer with several cases (`5 when n = 1 and 3 when n = 2`) stays whole.
    """
    text = _ASIDE.sub("", text)
    m = _PARENTHESES.search(text)
    if m and re.search(r"[a-z]{2}[ :]", m[1]):
        text = text[: m.start()]
    m = _TRAILING.search(text)
    if (
        m is None
        or _CONCLUDED.search(m[0])
        or _CASES.search(text)
        or not _ANSWER.search(text[: m.start()])
    ):
        return text
    return text[: m.start()]

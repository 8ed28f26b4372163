"""Leave out the condition of an answer, or read the value of a bound, where the gold has neither.

1/(s + a)   *which is* `1/(s + a)` *for* `s > -a`
3           `|w - z| \\ge 3`*, with equality for* `w = 5, z = 2`
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.segments import last_segment

_RELATION = re.compile(r"[<>≤≥≠]|\\(?:[lg]eq?|[lg]t|neq?|[lg]eqslant)(?![A-Za-z])")
_CONDITIONED = re.compile(r"\b(?:for|if|when|where|with)\b")
_CONDITION = re.compile(
    r"(?P<value>.*?[\w})$])[,;]?\s+(?:(?:which\s+is\s+)?valid\s+)?(?:for|when|where|provided(?:\s+that)?|assuming)\s+"
    r"(?:all\s+)?\$?[A-Za-z]\s*(?:[<>≤≥≠]|!=|\\(?:[lg]eq?|[lg]t|neq?)(?![A-Za-z]))\s*[^\s,;=<>]{1,30}",
    re.S,
)
_ATTAINED = re.compile(
    r"(?!.*(?:\b(?:not|never|cannot)\b|n['’]t|不))"
    r".*(?:\b(?:equality|attained|achieved|reached)\b|等号|取等)",
    re.I | re.S,
)
MAX_ANSWER = 400  # characters


def unconditioned(gold: str, answer: str) -> str:
    """Return an answer without the condition that it ends with; as it is where the gold has one."""
    if max(len(gold), len(answer)) > MAX_ANSWER or _RELATION.search(gold):
        return answer
    found = _CONDITION.fullmatch(answer.strip(" ."))
    if found is None or _CONDITIONED.search(gold + found["value"]):
        return answer
    return found["value"] if found["value"].count("$") % 2 == 0 else answer


def bound_for(gold: str, answer: str, response: str) -> str:
    """Return the last side of an inequality that the response says to be attained, or ""."""
    if len(answer) > MAX_ANSWER or "=" in gold or _RELATION.search(gold):
        return ""
    *others, last = (side.strip() for side in _RELATION.split(answer.strip(" .$")))
    if not others or not last:
        return ""
    after = last_segment(response)[-MAX_ANSWER:].rpartition(last)[2]
    return last.rpartition("=")[2].strip() if _ATTAINED.match(after) else ""

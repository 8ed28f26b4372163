"""Compare answers that are statements, word by word: `$n$ is even`, *all n that are even*.

Left out are articles, forms of *be*, *all* and the like; words lose their plural; *at least 3* is
`\\ge 3`. The order counts, but `even n` is `n is even`.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.tables import strip_marks, word_list

MAX_TOKENS = 60
_SIGNS = (
    (
        r"(?:greater|more|larger)\s+than\s+or\s+equal\s+to|at\s+least",
        r" \\ge ",
    ),
    (r"(?:less|smaller|fewer)\s+than\s+or\s+equal\s+to|at\s+most", r" \\le "),
    (r"(?:strictly\s+)?(?:greater|more|larger|bigger)\s+than", " > "),
    (r"(?:strictly\s+)?(?:less|smaller|fewer)\s+than", " < "),
    (r"congruent\s+to", " = "),
    (r"modulo", "mod"),
    (r"other\s+than|but", "except"),
)
_TOKEN = re.compile(r"\\?[A-Za-z]+|\d+(?:\.\d+)?|[^\sA-Za-z\d]")
_LEFT_OUT = frozenset(
    word_list(
        "the a an is are be being was were must it they this that which there all every any "
        "each such set of only if and iff when precisely exactly numbers number $ . , \\ \\pmod"
    )
)
_WORD = re.compile(r"[a-z]{3,}")


def same_statement(gold: str, answer: str) -> bool:
    """Return whether two normalised answers, both with words, say the same word by word."""
    left, right = _tokens(gold), _tokens(answer)
    if not left or not any(_WORD.fullmatch(t) for t in left) or len(left) > MAX_TOKENS:
        return False
    if left == right:
        return True
    swapped = len(left) == 2 and left == right[::-1]
    return swapped and sum(len(t) == 1 and t.isalpha() for t in left) == 1


def _tokens(text: str) -> list[str]:
    text = strip_marks(text)
    for pattern, sign in _SIGNS:
        text = re.sub(rf"\b(?:{pattern})\b", sign, text, flags=re.I)
    found = []
    for token in _TOKEN.findall(text):
        token = token.lower() if len(token) > 1 else token
        if token not in _LEFT_OUT:
            found.append(re.sub(r"(?<=[a-z]{3})(?<!s)s$", "", token))
    return found

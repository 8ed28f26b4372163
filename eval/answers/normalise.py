"""How the math harness decides that an answer is right, by name.

"harness"                 last \\boxed{…}, LaTeX markers and white space dropped, lower case
"exact"                   the reply's text without the white space around it
"strict", "dart", …       a policy of `checkers.math`
"package.module:function" the user's own (reference, response) -> bool
"""

from __future__ import annotations

import re
from collections.abc import Callable

from eval.input_error import InputError
from eval.own_module import import_own

Judge = Callable[[str, str], bool]

POLICIES = ("strict", "dart", "lm-open-science")

# Commands that only place or size what follows; the braces of \text{…} go with the others.
_MARKERS = re.compile(
    r"\\(?:left|right|displaystyle|text|mathrm|mathbf|mathit|operatorname|quad|qquad)(?![a-zA-Z])"
    r"|\\[()\[\],;:! ]|\$|~|\\$"
)
_BRACES = re.compile(r"\\boxed\s*\{|\\.|[{}]", re.DOTALL)
_SPACE = re.compile(r"\s+")


def last_boxed(text: str) -> str | None:
    r"""What stands in the last closed \boxed{…}, braces balanced; None without one.

    One pass with a stack: an answer of a million unclosed boxes costs no more than another.
    """
    opened: list[int | None] = []
    found: tuple[int, int] | None = None
    for match in _BRACES.finditer(text):
        token = match[0]
        if token == "}":
            start = opened.pop() if opened else None
            if start is not None and (found is None or start > found[0]):
                found = (start, match.start())
        elif token[-1] == "{" and token != "\\{":
            opened.append(match.end() if len(token) > 1 else None)
    return text[found[0] : found[1]] if found else None


def harness_form(text: str) -> str:
    """The harness's form of an answer; two answers are equal when their forms are."""
    boxed = last_boxed(text)
    bare = _MARKERS.sub("", text if boxed is None else boxed)
    return _SPACE.sub("", bare).lower()


def harness(reference: str, response: str) -> bool:
    """The harness's own rule; an answer without anything in it is never right."""
    form = harness_form(response)
    return form != "" and form == harness_form(reference)


def exact(reference: str, response: str) -> bool:
    """Equal texts, the white space around them apart."""
    return response.strip() != "" and reference.strip() == response.strip()


BUILT_IN: dict[str, Judge] = {"harness": harness, "exact": exact}


def judge_by_name(name: str) -> Judge:
    """The rule of that name; InputError lists the names there are."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name in POLICIES:
        from eval.answers.equality import math_judge

        return math_judge(name)
    module, colon, function = name.partition(":")
    if not colon:
        known = ", ".join([*BUILT_IN, *POLICIES])
        raise InputError(f"--normalisation {name!r}: known are {known}, or module:function")
    flag = f"--normalisation {name!r}"
    found = getattr(import_own(module, flag, "give a module on PYTHONPATH"), function, None)
    if not callable(found):
        raise InputError(f"{flag} is no function (reference, response) -> bool")
    own: Judge = found
    return own

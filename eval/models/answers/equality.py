r"""The \boxed{…} answers of a text, found in one pass, and the rules by which answers are equal."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

from gradebox.eval.common.errors import InputError

if TYPE_CHECKING:
    from gradebox.checkers.math.grading import GradeOutcome

MOST_READ = 1 << 15  # characters read of a response; they take 15 ms if all are braces
_BOX = re.compile(r"\\boxed\s*\{|\\.|[{}]", re.DOTALL)
_BOX_WITHOUT_BACKSLASH = re.compile(r"\\?boxed\s*\{|\\.|[{}]", re.DOTALL)


def last_boxed(text: str) -> str | None:
    r"""Return the contents of the last closed \boxed{…}, the inner one of nested boxes."""
    spans = _boxed_spans(_BOX, text)
    return text[slice(*spans[-1])] if spans else None


def all_boxed(text: str) -> list[str]:
    r"""Return the stripped contents of every closed \boxed{…} or boxed{…}, outer ones only."""
    found = []
    outer_end = 0
    for start, end in _boxed_spans(_BOX_WITHOUT_BACKSLASH, text):
        if start >= outer_end:
            found.append(text[start:end].strip())
            outer_end = end
    return found


def _boxed_spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return the span of the contents of every closed box, in the order of their starts."""
    opened: list[int | None] = []  # per open brace: where its box's contents start; None: no box
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        token = match[0]
        if token == "}":
            start = opened.pop() if opened else None
            if start is not None:
                spans.append((start, match.start()))
        elif token[-1] == "{" and token != "\\{":
            opened.append(match.end() if len(token) > 1 else None)
    return sorted(spans)


Judge = Callable[[str, str], bool]

POLICIES = ("strict", "dart", "lm-open-science")
TIMEOUT_S = 5.0

# Commands that only place or size what follows. The braces of \text{…} stay.
_MARKERS = re.compile(
    r"\\(?:left|right|displaystyle|text|mathrm|mathbf|mathit|operatorname|quad|qquad)(?![a-zA-Z])"
    r"|\\[()\[\],;:! ]|\$|~|\\$"
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class MathEquality:
    """Math equality of two answers under a policy of `gradebox.checkers.math`.

    timeout_s  CPU seconds for a comparison; answers that take longer are not equal
    outcomes   those of the comparisons so far
    """

    policy: str = "lm-open-science"
    timeout_s: float = TIMEOUT_S
    outcomes: list[GradeOutcome] = field(default_factory=list, compare=False)

    def equal(self, reference: str, answer: str) -> bool:
        """Return whether the answers are equal. May be called from any thread."""
        from gradebox.checkers.math import grade

        found = grade(reference, answer, self.policy, self.timeout_s)
        self.outcomes.append(found.outcome)
        return found.equal


def harness(reference: str, response: str) -> bool:
    """Return whether the normalised texts are equal; an empty response is never right."""
    normalised = normalise(response)
    return normalised != "" and normalised == normalise(reference)


def normalise(text: str) -> str:
    """Return the last boxed answer, else the text, without LaTeX markers and white space.

    Of a longer text, only the last MOST_READ characters are searched for a box; "" without one.
    """
    boxed = last_boxed(text[-MOST_READ:])
    if boxed is None and len(text) > MOST_READ:
        return ""
    unmarked = _MARKERS.sub("", text if boxed is None else boxed)
    return _SPACE.sub("", unmarked).lower()


def exact(reference: str, response: str) -> bool:
    """Return whether the texts are equal apart from surrounding white space."""
    return response.strip() != "" and reference.strip() == response.strip()


def load_user_module(module: str, flag: str, remedy: str) -> ModuleType:
    """Import a module; raise InputError with the flag, its error and the remedy."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - whatever the user's module raises
        raise InputError(f"{flag}: {type(error).__name__}: {error}; {remedy}") from None


BUILT_IN: dict[str, Judge] = {"harness": harness, "exact": exact}


def find_judge(name: str) -> Judge:
    """Return the rule of a name; raise InputError with the known names for another."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name in POLICIES:
        return MathEquality(name).equal
    flag = f"--normalisation {name!r}"
    module, colon, function = name.partition(":")
    if not colon:
        known = ", ".join([*BUILT_IN, *POLICIES])
        raise InputError(f"{flag} is unknown; known are {known}, or give module:function")
    judge = getattr(load_user_module(module, flag, "give a module on PYTHONPATH"), function, None)
    if not callable(judge):
        raise InputError(f"{flag} does not name a function (reference, response) -> bool")
    found: Judge = judge
    return found

"""Run in a box: DMOJ's checkers by name, and `check` functions of packages.

    main.py INPUT ANSWER OUTPUT      settings.json: {"name", "args"}; own_checker.py: the package's

Prints a share 0 … 1 and the feedback, as a `generated_checker` does.
"""

from __future__ import annotations

import json
import re
import sys
import types
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any


class CheckerResult:
    """What a `check` function may return instead of True or False."""

    def __init__(
        self, passed: bool, points: float, feedback: str | None = None, *_: Any, **__: Any
    ) -> None:
        self.passed, self.points, self.feedback = passed, points, feedback or ""


def lines_of(text: bytes) -> list[bytes]:
    """Return the lines that are not empty."""
    return [line for line in re.split(rb"[\r\n]", text) if line]


def same(read: Any) -> Any:
    """Return a checker that compares what `read` makes of the two texts."""
    return lambda output, answer, **args: read(output, **args) == read(answer, **args)


def _rstripped(text: bytes, filter_new_line: bool = False, **_: Any) -> list[bytes]:
    lines = re.split(rb"[\r\n]", text)
    return [line.rstrip() for line in lines if line or not filter_new_line]


def _in_any_order(text: bytes, split_on: str = "lines", **_: Any) -> Any:
    return sorted(text.split() if split_on == "whitespace" else map(bytes.split, lines_of(text)))


def floats(
    output: bytes, answer: bytes, precision: int = 6, error_mode: str = "default", **_: Any
) -> bool:
    """Compare tokens, numbers within 10**-precision."""
    epsilon = 10 ** -int(precision)
    ours, theirs = ([line.split() for line in lines_of(text)] for text in (output, answer))
    if [*map(len, ours)] != [*map(len, theirs)]:
        return False
    pairs = zip(chain(*ours), chain(*theirs))  # noqa: B905 - old interpreters
    return all(_near(a, b, epsilon, error_mode) for a, b in pairs)


def _near(token: bytes, wanted: bytes, epsilon: float, mode: str) -> bool:
    try:
        expected, found = float(wanted), float(token)
    except ValueError:
        return token == wanted
    absolute = abs(found - expected) <= epsilon
    least, most = sorted((expected * (1 - epsilon), expected * (1 + epsilon)))
    if mode == "absolute":
        return absolute
    if mode == "relative":
        return least <= found <= most
    return absolute or (abs(expected) >= epsilon and abs(1.0 - found / expected) <= epsilon)


def linecount(output: bytes, answer: bytes, point_value: float = 1, **_: Any) -> Any:
    """Give the share of the lines that are right."""
    ours, theirs = lines_of(output), lines_of(answer)
    if len(ours) > len(theirs):
        return False
    right = sum(a.strip() == b.strip() for a, b in zip(ours, theirs))  # noqa: B905
    share = right / len(theirs) if theirs else 1.0
    return CheckerResult(right == len(theirs), point_value * share)


# tokens, and where lines end; spaces and empty lines do not count
standard = same(lambda text, **_: [line.split() for line in lines_of(text) if line.split()])
CHECKERS: dict[str, Any] = {
    "standard": standard,
    "identical": same(lambda text, **_: text),
    "rstripped": same(_rstripped),
    "sorted": same(_in_any_order),
    "unordered": same(_in_any_order),
    "easy": same(lambda text, **_: Counter(b"".join(text.split()).lower())),
    "floats": floats,
    "floatsabs": lambda *texts, **args: floats(*texts, **{**args, "error_mode": "absolute"}),
    "floatsrel": lambda *texts, **args: floats(*texts, **{**args, "error_mode": "relative"}),
    "linecount": linecount,
}


def _own_checker() -> Any:
    """Return the package's `check`, which finds stand-ins in the place of DMOJ's modules."""
    for name in ("", ".result", ".utils", ".utils.unicode", ".error", ".checkers"):
        module: Any = sys.modules.setdefault(f"dmoj{name}", types.ModuleType(f"dmoj{name}"))
        module.CheckerResult, module.InternalError = CheckerResult, RuntimeError
        module.standard = standard
        module.utf8bytes = lambda text: text if isinstance(text, bytes) else text.encode()
        module.utf8text = lambda text: text if isinstance(text, str) else text.decode()
    import own_checker  # type: ignore[import-not-found]

    return own_checker.check


def main() -> None:
    """Judge one output."""
    settings = json.loads(Path(__file__).with_name("settings.json").read_text())
    given, answer, output = (Path(name).read_bytes() for name in sys.argv[1:4])
    check = CHECKERS.get(settings["name"]) or _own_checker()
    found = check(
        output, answer, judge_input=given, point_value=1.0, submission_source=b"",
        submission_language="", binary_data=False, execution_time=0.0, problem_id="",
        case_position=1, batch=0, **settings["args"],
    )  # fmt: skip
    if isinstance(found, bool):
        print(int(found))
    else:
        print(float(found.points) if found.passed else 0.0, found.feedback)


if __name__ == "__main__":
    main()

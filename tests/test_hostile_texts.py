"""What reads programs, responses, answers and rows in the grader's own process is one pass.

Patterns are matched by a matcher that counts its steps. Readers are counted by the functions that
they call, those in C included: at most MOST_CALLS for 256 KB of anything. No time is measured;
benchmarks/hostile_texts.py does.
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import gradebox.checkers
import gradebox.eval
import gradebox.sandbox
from gradebox.checkers.math.compare.exact import MAX_PLAIN_CHARS
from gradebox.checkers.math.first_tier import at_once
from gradebox.checkers.math.policy import get_policy
from gradebox.checkers.true_false import extract_verdict, judge_response
from gradebox.checkers.values.programs import needed, solution_program, with_prelude
from gradebox.eval.api.dialects.fusion import extraction
from gradebox.eval.api.rewards.values import answer_of
from gradebox.eval.common.errors import RowError
from gradebox.eval.models.answers.equality import harness
from gradebox.eval.models.benchmarks.texts import parse_leading_number, shortened
from gradebox.eval.problems.formats import FORMATS, Reading
from gradebox.eval.results.statistics.apart import kind_of
from gradebox.eval.solutions.extract_code import extract_code, fenced_programs
from gradebox.eval.solutions.program import defines
from testing.calls import calls_of
from testing.hostile_texts import SHAPES, text_of
from testing.match_steps import steps

FEW_STEPS = 8  # a character; 24 that are read from each one on take 12 each
MOST_CALLS = 150_000  # 0.1 µs to 0.3 µs each, without the profile
# Read in workers or in boxes, or never hostile.
ELSEWHERE = (
    "gradebox.checkers.math.",
    *(f"gradebox.checkers.values.{side}" for side in ("call", "joined", "solution", "tester")),
)
NOT_INSTALLED = ("gradebox.eval.frameworks.", "gradebox.eval.api.rewards.")
# Patterns that are tried at one place, the beginning.
AT_ONE_PLACE = {
    "gradebox.checkers.protocols._POINTS_LINE",
    "gradebox.checkers.true_false._ALTERNATIVE",
    "gradebox.checkers.true_false._LINE",
    "gradebox.eval.models.benchmarks.pal._PROGRAM_START",
    "gradebox.eval.problems.formats.asserts._FIRST",
    "gradebox.eval.problems.formats.contests._CODEFORCES",
    "gradebox.eval.problems.packages.polygon._PATTERN",
    "gradebox.eval.solutions.program._INCLUDES",
    "gradebox.eval.problems.generated_tests._CONTEST",
    "gradebox.eval.solutions.program._AFTER",
    "gradebox.sandbox.box.toolchains.gcc.HEAD",
}
# Those whose text has a bound, or is our own.
BOUNDED = {
    "gradebox.sandbox.languages.DECORATION": "100 characters",
    "gradebox.eval.solutions.submissions.LANGUAGES": "60 characters",
    "gradebox.eval.debugging.export._IMPORT": "the text of our own modules",
    "gradebox.eval.models.benchmarks.texts._POWER": "400 characters",
    "gradebox.eval.models.benchmarks.texts._LEADING": "400 characters",
    "gradebox.eval.models.benchmarks.texts._SCIENTIFIC": "400 characters",
    "gradebox.eval.models.answers.pair_file._LINE": "100 characters",
    "gradebox.eval.results.statistics.apart._QUOTED": "1,000 characters of a message",
}
PRELUDE = ["from typing import *", "import sys,json"]
READERS: dict[str, Callable[[str], Any]] = {
    "extract_code": lambda text: extract_code(text, None),
    "extract_code, a language": lambda text: extract_code(text, "c++17"),
    "fenced_programs": lambda text: fenced_programs(text, "python"),
    "fusion, python": lambda text: extraction.extract(text, "python"),
    "fusion, sql": lambda text: extraction.extract(text, "sql"),
    "answer_of": lambda text: answer_of(text, "a"),
    "extract_verdict": extract_verdict,
    "judge_response": lambda text: judge_response(text, True),
    "harness": lambda text: harness("1", text),
    "shortened": lambda text: parse_leading_number(shortened(text)),
    "defines": lambda text: (defines(text, "f"), defines(text, "a")),
    "needed": lambda text: needed(PRELUDE, text),
    "solution_program": lambda text: solution_program(text, "f", "call", PRELUDE),
    "with_prelude": lambda text: with_prelude(text, PRELUDE),
    "kind_of": kind_of,
    "math": lambda text: at_once("1", text, get_policy("strict")),
}


def compiled(value: Any) -> Iterable[re.Pattern[Any]]:
    """Yield the patterns in a value of a module: itself, or the items of lists and tuples."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from compiled(item)


@cache
def patterns() -> dict[str, list[re.Pattern[Any]]]:
    """Return the patterns of all modules by where they are, each once."""
    found: dict[str, list[re.Pattern[Any]]] = {}
    for package in (gradebox.sandbox, gradebox.checkers, gradebox.eval):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if info.name.startswith(ELSEWHERE) or info.name.endswith("__main__"):
                continue
            try:
                module = importlib.import_module(info.name)
            except ImportError:
                assert info.name.startswith(NOT_INSTALLED), info.name
                continue
            for name, value in vars(module).items():
                if each := list(compiled(value)):
                    found[f"{info.name}.{name}"] = each
    return found


def test_patterns_with_a_bound_exist():
    assert AT_ONE_PLACE | BOUNDED.keys() <= patterns().keys()


@pytest.mark.slow(seconds=6)
def test_the_steps_of_every_pattern_are_linear():
    """Twice the text takes at most about twice the steps; a second start would take four times."""
    known: set[re.Pattern[Any]] = set()
    slow = []
    for name, found in patterns().items():
        for pattern in set(found) - known if name not in BOUNDED else ():
            known.add(pattern)
            for shape, (before, piece, behind) in SHAPES.items():
                count = max(24 // len(piece), 1)
                text, longer = (before[:20] + piece * count * n + behind for n in (1, 2))
                once = name in AT_ONE_PLACE
                short = steps(pattern, text, once=once)
                if short > FEW_STEPS * len(text):
                    long = steps(pattern, longer, once=once)
                    if long > 2.5 * short:
                        slow.append((name, shape, short, long))
    assert slow == []


def matched_whole(name: str) -> bool:
    """Return whether the module of a pattern calls its `fullmatch`."""
    module, _, variable = name.rpartition(".")
    source = Path(sys.modules[module].__file__ or "").read_text()
    return re.search(rf"\b{variable}(\[.*\])?\.fullmatch\(", source) is not None


@pytest.mark.slow(seconds=3)
def test_the_steps_of_a_pattern_that_must_match_all_of_a_text_are_linear():
    """`fullmatch` fails where a search ends: `\\d+\\.?\\d*` is quadratic in digits and a letter."""
    names = [name for name in patterns() if matched_whole(name) and name not in BOUNDED]
    assert len(names) > 5
    slow = []
    for name in names:
        for pattern in patterns()[name]:
            for shape, (before, piece, _) in SHAPES.items():
                count = max(24 // len(piece), 1)
                short, longer = (
                    steps(pattern, before[:20] + piece * count * n + "~", whole=True)
                    for n in (1, 2)
                )
                if short > FEW_STEPS * count * len(piece) and longer > 2.5 * short:
                    slow.append((name, shape, short, longer))
    assert slow == []


@pytest.mark.slow(seconds=8)
@pytest.mark.parametrize("size", [1 << 16, 1 << 18], ids=["64 KB", "256 KB"])
def test_a_reader_calls_few_functions_whatever_it_reads(size):
    too_many = {}
    for shape in SHAPES:
        text = text_of(shape, size)
        for name, read in READERS.items():
            calls = calls_of(read, text)
            if calls > MOST_CALLS:
                too_many[name, shape] = calls
    assert too_many == {}


@pytest.mark.slow(seconds=3)
def test_rows_of_every_format_are_read_with_few_calls():
    too_many = {}
    for row_format in FORMATS.values():
        fields = {*row_format.names, *row_format.uses}.union(*row_format.needs)

        def read(text: str, kind: Any = row_format, names: Any = tuple(fields)) -> None:
            with suppress(RowError):
                Reading(kind, "strict").columns(dict.fromkeys(names, text) | {"language": "cpp"})

        for shape in ("blank lines", "inputs", "asserts", "letters", "words", "spaces"):
            calls = calls_of(read, text_of(shape, 1 << 16))
            if calls > MOST_CALLS:
                too_many[row_format.name, shape] = calls
    assert too_many == {}


def test_long_texts_of_math_are_read_by_workers_only():
    long = "1 " * MAX_PLAIN_CHARS
    assert at_once("1", long, get_policy("strict")) is None
    assert at_once(long, "1", get_policy("dart")) is None
    assert at_once(long, long, get_policy("strict")) is True

"""Assert tests in the program's own language (MultiPL-E, HumanEval-X): it makes their calls.

    prompt, answer ─┐
    calls ──────────┴─▶ calling_program ─▶ RESULTS, a line for each call ─┐
    expected literals ─▶ expected_results ─▶ JSON, a line for each ───────┴─▶ compared outside

Calls and expected values are read from the tests (calls.py). What the tests expect is not in the
program's process, its files or its sources: whatever the program finds, replaces or does first,
what it writes is only its answer. The judge of its language reads that as a literal
(`gradebox.checkers.values.literals`).
"""

from __future__ import annotations

import json

from gradebox.eval.solutions.calling.builders import BUILDERS
from gradebox.eval.solutions.calling.calls import Call, Parts, Source, read_calls
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Program

__all__ = [
    "BUILDERS",
    "REVISION",
    "Parts",
    "calling_program",
    "calls_of",
    "defined_in",
    "expected_results",
    "judge_name",
]

REVISION = 5  # part of records' keys: raise it when programs are built differently


def calling_program(code: str, language: str, parts: Parts) -> Program:
    """Return the program of an answer, which makes the calls of the tests.

    code      the answer: the rest of the prompt, or a program with the function in it
    language  of the answer; it must be the tests', of any version
    parts     prompt, function and tests; its `code` is replaced

    Raises BadRequest for another language, and for a prompt without a signature.
    """
    row, wanted = find(language), find(parts.language)
    if (row.tool, row.source) != (wanted.tool, wanted.source):
        raise BadRequest(f"the tests are written in {wanted.name}, the solution in {row.name}")
    builder = BUILDERS[wanted.name]
    source = Source(code, builder.style)
    whole = source if builder.defines(source, parts.entry) else None
    files = builder.files(parts.answered(code, whole), calls_of(parts))
    return Program(row.name, {n: t.encode("utf-8", "surrogatepass") for n, t in files.items()})


def calls_of(parts: Parts) -> tuple[Call, ...]:
    """Return the calls of the tests, none when they are of an unknown form."""
    return read_calls(parts.own_tests, parts.entry, BUILDERS[find(parts.language).name].style)


def expected_results(parts: Parts) -> str:
    """Return what the calls must return: JSON, a line for each; "" for tests of an unknown form."""
    return "".join(json.dumps(call.expected) + "\n" for call in calls_of(parts))


def judge_name(language: str) -> str:
    """Return the name of the checker that compares results of a language."""
    return f"results-{BUILDERS[find(language).name].style}"


def defined_in(code: str, parts: Parts) -> bool:
    """Return whether code defines the function, rather than being the rest of it."""
    builder = BUILDERS[find(parts.language).name]
    return builder.defines(Source(code, builder.style), parts.entry)

"""The program of a solution: its code, with what its problem puts around it.

| tests of the problem | program                                                  |
|----------------------|----------------------------------------------------------|
| stdin                | the code; behind the problem's prelude, where it has one |
| call                 | prelude, code, and what calls the entry point            |
| assert               | prompt, code, and what answers the tests' calls          |

A prompt is put before the code in both cases that there are: the code is the body of the function
that the prompt begins, or defines that function again, and the later definition counts.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from gradebox.checkers.values.programs import Way, solution_program, with_prelude
from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Program

PLAIN = Problem("")
_WAYS: dict[str, Way] = {"call": "call", "assert": "answers"}
_ENTRY = re.compile(r"\w+")


def program_of(code: str, language: str, problem: Problem = PLAIN) -> Program:
    """Return the program that a problem's tests run.

    Raises UnknownLanguage, and BadRequest for another language than the tests are written in.
    """
    row = find(language)
    prelude = problem.prelude.splitlines()
    if problem.test_kind == "stdin" and not (prelude and row.family == "python"):
        return Program(row.name, {row.source: code.encode("utf-8", "surrogatepass")})
    if row.family != "python":
        raise BadRequest(
            f"the tests of {problem.id} call Python functions, the solution is {row.name}"
        )
    if problem.test_kind == "stdin":
        return with_prelude(code, prelude, row.name)
    text = completed(code, problem)
    entry, way = problem.entry_point, _WAYS[problem.test_kind]
    return solution_program(text, entry, way, prelude, language=row.name)


def completed(code: str, problem: Problem) -> str:
    """Return the code with the problem's prompt before it."""
    if not problem.prompt:
        return code
    return (
        f"{problem.prompt}\n\n{code}"
        if defines(code, problem.entry_point)
        else (problem.prompt + code)
    )


def defines(code: str, entry: str) -> bool:
    """Return whether code defines an entry point at its top level, rather than being its body."""
    names = "|".join(map(re.escape, _ENTRY.findall(entry)[:1]))
    pattern = rf"^(?:(?:async[ \t]+)?def|class)[ \t]+(?:{names})\b|^(?:{names})[ \t]*="
    return bool(names) and re.search(pattern, code, re.MULTILINE) is not None


def key_text(code: str, problem: Problem) -> str:
    """Return what a record's key has of the program."""
    if problem.test_kind == "stdin" and not problem.prelude:
        return code
    around = (problem.test_kind, problem.entry_point, problem.prelude, problem.prompt)
    return f"{_around(around)}\n{code}"


@lru_cache(1024)
def _around(parts: tuple[str, ...]) -> str:
    kind, entry, prelude, prompt = parts
    way = _WAYS.get(kind)
    lines = prelude.splitlines()
    program = solution_program("", entry, way, lines) if way else with_prelude("", lines)
    return hashlib.sha256(f"{kind}\0{program.digest}\0{prompt}".encode()).hexdigest()

"""The program of a solution: its code, with what its problem puts around it.

| tests of the problem | program                                                  |
|----------------------|----------------------------------------------------------|
| stdin                | the code; behind the problem's prelude, where it has one; |
|                      | with the other files of the solution and of the problem   |
| call                 | prelude, code, and what calls the entry point            |
| assert               | prompt, code, and what answers the tests' calls          |
| assert, not Python   | prompt, code, and what makes the tests' calls (calling/) |
| graded               | code, and the graders it is linked with (graded.py)      |

A prompt is put before the code in both cases that there are: the code is the body of the function
that the prompt begins, or defines that function again, and the later definition counts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from gradebox.checkers.values.programs import (
    Way,
    joined_program,
    solution_program,
    with_prelude,
)
from gradebox.eval.problems.formats.asserts import expression_of
from gradebox.eval.problems.problem import Problem
from gradebox.eval.solutions.calling import REVISION, Parts, calling_program, defined_in
from gradebox.eval.solutions.extract_code import DEFAULT_LANGUAGE, fenced_programs
from gradebox.eval.solutions.graded import CPP, graded_program
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.languages import Language, find
from gradebox.sandbox.model import Program

PLAIN = Problem("")
_WAYS: dict[str, Way] = {"call": "call", "assert": "answers"}
MOST_MENTIONS, LONGEST_HEAD = 1000, 200  # of an entry point; characters before its name
_ENTRY = re.compile(r"\w+")
_INCLUDES = re.compile(r"\s*#include\s*[<\"]")
_HEAD = re.compile(r"(?:(?:(?:async[ \t]+)?def|class)[ \t]+)?")
_AFTER = re.compile(r"[ \t]*="), re.compile(r"\b")  # of an assignment, of a definition


def solution_of(solution: Solution, problem: Problem) -> Solution:
    """Return a solution as its problem reads it: a text without a fence may be the program.

    Without a language of its own, a program has that of the tests. Of several programs in a
    response the last one that defines the function counts, where tests have a language.
    """
    kind, text, code, language = problem.test_kind, solution.response, solution.code, ""
    if kind == "graded" and find(solution.language).name == DEFAULT_LANGUAGE:
        language = CPP
        if code is None and text:
            code = next(reversed(fenced_programs(text, CPP)), None)
    if problem.language:
        given, language = find(solution.language), find(problem.language).name
        language = language if given.name == DEFAULT_LANGUAGE else given.name
        found = fenced_programs(text, language) if text else []
        fallback = code if code is not None or not found else found[-1]
        code = next((c for c in reversed(found) if defined_in(c, parts_of(problem))), fallback)
    if code is None and text and kind == "assert":
        code = text
    if code is not None and kind == "assert":
        code = expression_of(code, problem.origin.get("dataset_format", ""))
    if language == "" and code == solution.code and text is None:
        return solution
    return replace(solution, code=code, response=None, language=language or solution.language)


def program_of(
    code: str,
    language: str,
    problem: Problem = PLAIN,
    files: Sequence[tuple[str, str]] = (),
) -> Program:
    """Return the program that a problem's tests run.

    files  see `Solution.files`; they belong to programs whose tests are input and output

    Raises UnknownLanguage, and BadRequest for another language than the tests are written in.
    """
    if problem.language:
        return calling_program(code, language, parts_of(problem))
    if problem.test_kind == "graded":
        return graded_program(code, language, problem)
    row = find(language)
    prelude = problem.prelude.splitlines()
    if row.family == "python" and _INCLUDES.match(code):
        raise BadRequest(
            f"the program is in C or C++, its language is {row.name}: give the field language, "
            "such as c++17"
        )
    if problem.test_kind == "stdin" and (files or problem.include_files):
        return _program_of_files(files or (("", code),), row, problem)
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


def _program_of_files(files: Sequence[tuple[str, str]], row: Language, problem: Problem) -> Program:
    """Return a program in several files with those that the problem adds.

    A file of the problem with the name of the language's main file is the main file, else the first
    one of the solution is.
    """
    added = {
        name: text
        for language, name, text in problem.include_files
        if language == "default" or alike(find(language), row)
    }
    unnamed = row.source if row.source not in added else f"solution{Path(row.source).suffix}"
    named = {name or unnamed: text for name, text in files} | added
    first = row.source if row.source in added else next(iter(named))
    named = {first: named.pop(first), **named}
    return Program(row.name, {n: t.encode("utf-8", "surrogatepass") for n, t in named.items()})


def alike(one: Language, other: Language) -> bool:
    """Return whether two rows are of one language, in whatever version."""
    return one.name == other.name or one.family == other.family != ""


def parts_of(problem: Problem) -> Parts:
    """Return what a program that makes calls is made of, without the answer."""
    p = problem
    return Parts(p.language, p.prompt, p.entry_point, p.joined_tests, p.stop_tokens)


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
    first = _ENTRY.search(entry)
    at, name = 0, first[0] if first else ""
    for _ in range(MOST_MENTIONS if name else 0):
        at = code.find(name, at)
        if at < 0:
            break
        begins = max(at - LONGEST_HEAD, 0)
        found = code.rfind("\n", begins, at) + 1
        head = (found or not begins) and _HEAD.fullmatch(code, found, at)
        at += len(name)
        if head and _AFTER[head.end() > head.start()].match(code, at):
            return True
    return False


def key_text(code: str, problem: Problem, files: Sequence[tuple[str, str]] = ()) -> str:
    """Return what a record's key has of the program and of what its problem adds to it."""
    p = problem
    package = (p.include_files, p.test_info, p.subtasks if p.test_kind != "graded" else (), files)
    if any(package) or p.passes > 1:
        code = _keyed(repr((package, p.passes)), code)
    if problem.test_kind == "stdin" and not problem.prelude:
        return code
    if problem.language:
        return _keyed(repr((REVISION, parts_of(problem))), code)
    if problem.test_kind == "graded":
        return _keyed(repr((problem.graders, problem.subtasks)), code)
    p = problem
    around: tuple[str, ...] = (p.test_kind, p.entry_point, p.prelude, p.prompt)
    if p.test_kind == "assert":  # what decides whether the tests run with a mark, and how
        known = tuple(str(gold.get("code")) for gold in p.gold_solutions)
        around = (*around, joined_program("").digest, *known)
    return f"{_around(around)}\n{code}"


def _keyed(around: str, code: str) -> str:
    return f"{hashlib.sha256(around.encode('utf-8', 'replace')).hexdigest()}\n{code}"


@lru_cache(1024)
def _around(parts: tuple[str, ...]) -> str:
    kind, entry, prelude, prompt, *others = parts
    way = _WAYS.get(kind)
    lines = prelude.splitlines()
    program = solution_program("", entry, way, lines) if way else with_prelude("", lines)
    text = "\0".join((kind, program.digest, prelude, prompt, *others))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


_I64 = re.compile(r'"[^"\n]{0,200}(%[-+ #0-9.*]{0,20}I64[diouxX])')


def hint(code: str, language: str) -> str:
    """Return why a program may have failed here and not where it was written; "" if unknown.

    language  its name in the language table
    """
    found = _I64.search(code) if find(language).family in ("gcc", "g++") and "I64" in code else None
    if found is None:
        return ""
    return (
        f"the program uses {found[1]} in a format: only Windows has it, and on Linux other "
        "numbers are read and printed; %lld and %llu work on both"
    )

"""Assert tests in the program's own language: program and tests are one program, with a mark.

    prompt, answer ─┐                        ┌─ a secret on stdin, read before the program begins
    tests ──────────┴─▶ build ─▶ Program ────┤
                                             └─ the same secret on stdout, after the last assert

The secret is new in each run. A program that ends early, whatever its exit status is, has not
written it. Where the language allows it, the tests are a source of their own: macros, overloaded
operators and classes of the program do not reach them, and values arrive with the types of the
prompt. Both share a process, so a program that searches its own memory for the secret can still
pass: results of this kind are counted apart.

| language   | sources                                | the tests get                             |
|------------|----------------------------------------|-------------------------------------------|
| c++        | main.cpp, tests.cpp                    | a function with the prompt's signature    |
| rust       | main.rs, solution.rs                   | a function with the prompt's signature    |
| java       | GradeboxMain.java, Problem.java        | the method; expected values do `equals`   |
| javascript | main.js, solution.js                   | the function                              |
| go         | main.go                                | the function; built-in names are checked  |
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gradebox.eval.solutions.marked import cpp, go, java, javascript, rust
from gradebox.eval.solutions.marked.parts import Parts
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Program

__all__ = ["BUILDERS", "REVISION", "Parts", "defined_in", "marked_program"]

REVISION = 2  # part of records' keys: raise it when programs are built differently

BUILDERS: dict[str, Callable[[Parts], dict[str, str]]] = {
    "c++17": cpp.files,
    "java": java.files,
    "javascript": javascript.files,
    "rust": rust.files,
    "go": go.files,
}
DEFINES = {
    "c++17": cpp.DEFINES,
    "java": java.DEFINES,
    "javascript": javascript.DEFINES,
    "rust": rust.DEFINES,
    "go": go.DEFINES,
}


def marked_program(code: str, language: str, parts: Parts) -> Program:
    """Return an answer and the tests as one program.

    code      the answer: the rest of the prompt, or a program with the function in it
    language  of the answer; it must be the tests', of any version
    parts     prompt, function and tests; its `code` is replaced

    Raises BadRequest for another language, and for a prompt without a signature.
    """
    row, wanted = find(language), find(parts.language)
    if (row.tool, row.source) != (wanted.tool, wanted.source):
        raise BadRequest(f"the tests are written in {wanted.name}, the solution in {row.name}")
    whole = defined_in(code, parts)
    files = BUILDERS[wanted.name](parts.answered(code, whole))
    return Program(row.name, {n: t.encode("utf-8", "surrogatepass") for n, t in files.items()})


def defined_in(code: str, parts: Parts) -> bool:
    """Return whether code defines the function, rather than being the rest of it."""
    pattern = DEFINES[find(parts.language).name].format(entry=re.escape(parts.entry))
    return re.search(pattern, code, re.MULTILINE) is not None

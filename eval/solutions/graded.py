"""Programs of graded problems (IOI): a solution linked with a grader; its manager; its checker.

    graders/grader.cpp    linked with the solution, reads the input, calls it, writes the output
    graders/stub.cpp      linked with the solution, talks with the manager
    graders/manager.cpp   a program of its own: reads the input, talks, gives a score
    checker/checker.cpp   a program of its own: input, answer, output; gives a score
    graders/*.h           beside all of them

A manager and a stub each take two files as arguments: one to read, one to write. In a box these are
the pipes between the two programs: the stub's arguments are replaced in its `main`, and the manager
gets a constructor that moves its pipes to file descriptors 62 and 63.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Program

LINKED = ("grader.cpp", "stub.cpp")
MANAGER, CHECKER = "manager.cpp", "checker.cpp"
CPP = "c++17"
_EVAL = "#define EVAL 1\n#line 1\n"
_MAIN = re.compile(
    r"main(?<!\wmain)\s*\(\s*int\s+(\w+)\s*,\s*(?:const\s+)?char\s*\*+\s*(\w+)\s*"
    r"(?:\[\s*\]\s*)?\)\s*\{"
)
_WORDS = (
    r'\g<0> static char *gradebox_words[] = {(char *)"stub", (char *)"/dev/fd/0", '
    r'(char *)"/dev/fd/1", nullptr}; \1 = 3; \2 = gradebox_words;'
)
# Runs before the manager's main: moves its pipes to 62 and 63, makes files its stdin and stdout.
_MANAGER_START = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor(101))) static void gradebox_start() {
    dup2(0, 62);
    dup2(1, 63);
    dup2(open("input.txt", O_RDONLY), 0);
    dup2(open("score.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
}
"""


def graded_program(code: str, language: str, problem: Problem) -> Program:
    """Return a solution with what it is linked with. Raises BadRequest unless it is in C++."""
    row = find(language)
    if row.family != "g++":
        raise BadRequest(f"the graders of {problem.id} are in C++, the solution is {row.name}")
    files = _files(problem, "graders")
    sources = {name: files[name] for name in LINKED if name in files}
    if MANAGER in files and "stub.cpp" in sources:
        sources["stub.cpp"] = _stub(sources["stub.cpp"])
    texts = {
        "main.cpp": _EVAL + code,
        **{name: _EVAL + text for name, text in sources.items()},
        **_headers(files),
    }
    return Program(row.name, _encoded(texts))


def manager_program(problem: Problem) -> Program | None:
    """Return the manager that talks with solutions, None when there is none."""
    files = _files(problem, "graders")
    if MANAGER not in files:
        return None
    texts = {"main.cpp": files[MANAGER], "start.cpp": _MANAGER_START, **_headers(files)}
    return Program(CPP, _encoded(texts))


def checker_program(problem: Problem) -> Program | None:
    """Return the checker of outputs, None when they are compared."""
    files = _files(problem, "checker")
    if CHECKER not in files:
        return None
    texts = {"main.cpp": files[CHECKER], **_headers(_files(problem, "graders")), **_headers(files)}
    return Program(CPP, _encoded(texts))


def _stub(text: str) -> str:
    """Return a stub that talks to the manager by its stdin and stdout, not by files."""
    return _MAIN.sub(_WORDS, text, count=1)


def _files(problem: Problem, folder: str) -> dict[str, str]:
    """Return the files of a folder by their names."""
    parts = ((path.rpartition("/"), text) for path, text in problem.graders)
    return {name: text for (place, _, name), text in parts if place.endswith(folder)}


def _headers(files: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in files.items() if name.endswith((".h", ".hpp"))}


def _encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()}

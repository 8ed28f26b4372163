"""run.sh of an exported case: build, run within the CPU limit and judge, in plain shell.

build program ─ run on input.txt ─ output.txt ─ equal? (same bytes?) ─ else the checker
build both ─ program and interactor joined by named pipes ─ the interactor's exit status
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from gradebox.checkers.builtins import Builtin
from gradebox.checkers.programs import ProgramChecker, ProgramProtocol
from gradebox.checkers.values.judges import ValueJudge
from gradebox.eval.debugging.export.templates import MARKED, RUN, RUN_INTERACTIVE, VERDICTS
from gradebox.eval.debugging.reopen import OpenedCase
from gradebox.sandbox import languages, python_compile
from gradebox.sandbox.c_sources import other_sources
from gradebox.sandbox.model import MIB, Program

HOOK_FOLDER = "compiling"


class JudgeProgram(NamedTuple):
    """A checker or an interactor that is a program."""

    protocol: ProgramProtocol
    program: Program
    extra_args: tuple[str, ...]


def judge_program(case: OpenedCase) -> JudgeProgram | None:
    """Return the program that judges the case; None for the comparison and built-in checkers."""
    interactor, checker = case.resources.interactor, case.resources.checker
    if interactor is not None:
        return JudgeProgram(interactor.protocol, interactor.runs.program, interactor.extra_args)
    if isinstance(checker, ProgramChecker):
        return JudgeProgram(checker.protocol, checker.program, checker.extra_args)
    return None


def run_script(case: OpenedCase, program: Program) -> str:
    """Return the script; the program is that of the solution."""
    language = languages.find(case.solution_run.language)
    common = {
        "build": _build(language, "solution", "program", program.files),
        "program": _run(language, "../solution", "../build/program", case.bounds.memory_bytes),
        "cpu_s": max(1, math.ceil(case.bounds.cpu_s)),
        "limits": f"{case.bounds.cpu_s:g} s of CPU time, {case.bounds.memory_bytes / MIB:g} MB",
    }
    judge = judge_program(case)
    if case.interactive and judge is not None:
        lines = [
            *_prepare(judge),
            f"(cd checking && {_command(judge)} > ../work/to < ../work/from)",
        ]
        return RUN_INTERACTIVE.format(**common, judge="\n".join(lines), verdict=_verdict(judge))
    written = "[ -f output.txt ] && cp output.txt" if case.by_file else "cp stdout.txt"
    return RUN.format(
        **common,
        stdin="/dev/null" if case.by_file else "../input.txt",
        before="cp ../input.txt input.txt" if case.by_file else ":",
        after=f"{written} ../output.txt",
        mode=case.settings.compare if case.resources.checker is None else "exact",
        judge=_judge(case, judge),
    )


def _build(
    language: languages.Language, folder: str, binary: str, files: Mapping[str, bytes] | None = None
) -> str:
    """Return the command that compiles, `:` when there is nothing to compile.

    files  of a program that may have several, the main one first
    """
    if language.output or language.then:  # needs a runtime or a second command
        source = f"{folder}/{language.source}"
        text = f"run.sh cannot build {language.name}: build and run {source} yourself"
        return f"echo {shlex.quote(text)} && exit 1"
    if language.family == "python":
        source = f"{folder}/{language.source}"
        compiler = python_compile.command([language.tool[0], source], HOOK_FOLDER, source)
        return f"({shlex.join(compiler)}; [ $? -ne {python_compile.REJECTED} ])"
    if language.compile is None:
        return ":"
    values = {"{source}": f"{folder}/{language.source}", "{binary}": f"build/{binary}"}
    others = [f"{folder}/{name}" for name in other_sources(language.family, files or {"": b""})]
    words = (_fill(word, values) for word in language.compile)
    return shlex.join([language.tool[0], *words, *others])


def _run(language: languages.Language, folder: str, binary: str, memory_bytes: int) -> str:
    source = f"{folder}/{language.source}"
    values = {"{tool}": language.tool[0], "{source}": source, "{binary}": binary}
    values |= languages.memory_places(memory_bytes)
    return shlex.join(_fill(word, values) for word in language.run)


def _fill(word: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word


def _judge(case: OpenedCase, judge: JudgeProgram | None) -> str:
    """Return the lines that judge an output which differs from the expected one."""
    if case.solution_run.problem.test_kind == "marked":
        return MARKED
    if judge is None:
        checker = case.resources.checker
        if isinstance(checker, (Builtin, ValueJudge)):
            name = case.session.options.checker or case.solution_run.problem.checker_name
            return f"python3 judge.py builtin {shlex.quote(name or checker.name)}"
        return "python3 judge.py difference " + shlex.quote(case.settings.compare)
    stdin = "" if judge.protocol.output is not None else " < ../output.txt"
    stdout = " > ../checker_stdout.txt" if judge.protocol.name in ("python", "cms") else ""
    return "\n".join((
        *_prepare(judge), f"(cd checking && {_command(judge)}{stdin}{stdout})", _verdict(judge)
    ))  # fmt: skip


def _prepare(judge: JudgeProgram) -> list[str]:
    """Return the lines that build the judge and fill its working folder."""
    language = languages.find(judge.program.language)
    names = [(judge.protocol.input, "input.txt"), (judge.protocol.answer, "expected.txt")]
    if judge.protocol.output is not None:
        names.append((judge.protocol.output, "output.txt"))
    return [
        f"{_build(language, 'checker', 'checker', judge.program.files)} || exit 1",
        "rm -rf checking && mkdir checking",
        *(f"cp {source} checking/{name}" for name, source in names),
    ]


def _command(judge: JudgeProgram) -> str:
    language = languages.find(judge.program.language)
    main = f"../checker/{next(iter(judge.program.files))}"
    words = ["../build/checker"] if language.compile is not None else [language.tool[0], main]
    return shlex.join([*words, *judge.protocol.arguments(judge.extra_args)])


def _verdict(judge: JudgeProgram) -> str:
    return f'status=$?; echo "checker: exit status $status"\n{VERDICTS[judge.protocol.name]}'

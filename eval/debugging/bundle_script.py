"""run.sh of an exported case: builds, runs within the CPU limit, judges, in plain shell.

build program ─ run on input.txt ─ output.txt ─ equal? ─ else the checker
build both ─ program and interactor joined by named pipes ─ the interactor says it
"""

from __future__ import annotations

import math
import shlex
from typing import NamedTuple

from checkers.builtins import Builtin
from checkers.programs import ProgramChecker, ProgramProtocol
from eval.debugging.bundle_texts import INTERACT, RUN, VERDICTS
from eval.debugging.reopen import CaseAtHand
from sandbox import languages
from sandbox.model import MIB, Program


class JudgeProgram(NamedTuple):
    """A checker or an interactor that is a program."""

    protocol: ProgramProtocol
    program: Program
    extra_args: tuple[str, ...]


def judge_program(hand: CaseAtHand) -> JudgeProgram | None:
    """The program that judges the case; None where the comparison or a built-in does."""
    interactor, checker = hand.kit.interactor, hand.kit.checker
    if interactor is not None:
        return JudgeProgram(interactor.protocol, interactor.runs.program, interactor.extra_args)
    if isinstance(checker, ProgramChecker):
        return JudgeProgram(checker.protocol, checker.program, checker.extra_args)
    return None


def script(hand: CaseAtHand) -> str:
    """The whole script."""
    row = languages.find(hand.subject.language)
    common = {
        "build": _build(row, "solution", "program"),
        "program": _run(row, "../solution", "../build/program"),
        "cpu_s": max(1, math.ceil(hand.bounds.cpu_s)),
        "limits": f"{hand.bounds.cpu_s:g} s of CPU time, {hand.bounds.memory_bytes / MIB:g} MB",
    }
    judge = judge_program(hand)
    if hand.kit.interactor is not None and judge is not None:
        lines = [
            *_prepared(judge),
            f"(cd checking && {_command(judge)} > ../work/to < ../work/from)",
        ]
        return INTERACT.format(**common, judge="\n".join(lines), verdict=_verdict(judge))
    by_file = hand.subject.problem.input_mode == "file"
    written = "[ -f output.txt ] && cp output.txt" if by_file else "cp stdout.txt"
    return RUN.format(
        **common,
        stdin="/dev/null" if by_file else "../input.txt",
        before="cp ../input.txt input.txt" if by_file else ":",
        after=f"{written} ../output.txt",
        mode=hand.bench.compare,
        judge=_judge(hand, judge),
    )


def _build(row: languages.Language, folder: str, binary: str) -> str:
    """The command that compiles; `:` where there is nothing to do."""
    if row.output or row.then:  # a runtime, a second command: more than a line of shell
        text = f"run.sh knows no way to build {row.name}: build and run {folder}/{row.source}"
        return f"echo {shlex.quote(text)} && exit 1"
    if row.compile is None:
        return ":"
    places = (("{source}", f"{folder}/{row.source}"), ("{binary}", f"build/{binary}"))
    return shlex.join([row.tool[0], *(_filled(word, places) for word in row.compile)])


def _run(row: languages.Language, folder: str, binary: str) -> str:
    source = f"{folder}/{row.source}"
    places = (("{tool}", row.tool[0]), ("{source}", source), ("{binary}", binary))
    return shlex.join(_filled(word, places) for word in row.run)


def _filled(word: str, places: tuple[tuple[str, str], ...]) -> str:
    for place, value in places:
        word = word.replace(place, value)
    return word


def _judge(hand: CaseAtHand, judge: JudgeProgram | None) -> str:
    """The lines that judge an output which is not equal to the expected one."""
    if judge is None:
        checker = hand.kit.checker
        if isinstance(checker, Builtin):
            name = hand.materials.options.checker or hand.subject.problem.checker_name
            return f"python3 judge.py builtin {shlex.quote(name or checker.name)}"
        return "python3 judge.py difference " + shlex.quote(hand.bench.compare)
    stdin = "" if judge.protocol.output is not None else " < ../output.txt"
    keeps = " > ../checker_stdout.txt" if judge.protocol.name == "python" else ""
    return "\n".join((
        *_prepared(judge), f"(cd checking && {_command(judge)}{stdin}{keeps})", _verdict(judge)
    ))  # fmt: skip


def _prepared(judge: JudgeProgram) -> list[str]:
    """Builds the judge and lays out its folder."""
    row = languages.find(judge.program.language)
    names = [(judge.protocol.input, "input.txt"), (judge.protocol.answer, "expected.txt")]
    if judge.protocol.output is not None:
        names.append((judge.protocol.output, "output.txt"))
    return [
        f"{_build(row, 'checker', 'checker')} || exit 1",
        "rm -rf checking && mkdir checking",
        *(f"cp {place} checking/{name}" for name, place in names),
    ]


def _command(judge: JudgeProgram) -> str:
    row = languages.find(judge.program.language)
    main = f"../checker/{next(iter(judge.program.files))}"
    words = ["../build/checker"] if row.compile is not None else [row.tool[0], main]
    return shlex.join([*words, *judge.protocol.arguments(judge.extra_args)])


def _verdict(judge: JudgeProgram) -> str:
    return f'said=$?; echo "checker: exit status $said"\n{VERDICTS[judge.protocol.name]}'

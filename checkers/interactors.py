"""Interactive problems: an interactor talks with the solution, both boxed, and judges it.

    solution ◀──pipes──▶ interactor(input, answer)      Sandbox.interact
        Interaction ─ decide ─▶ whose word counts: the solution's end or the interactor's answer

| protocol | the interactor's arguments | its answer                                       |
|----------|----------------------------|--------------------------------------------------|
| testlib  | input output answer        | exit 0 OK, 1 WA, 2 PE, 3 FAIL, 7 points on stderr |
| kattis   | input answer feedback_dir  | exit 42 or 43, feedback files                    |
"""

from __future__ import annotations

import dataclasses
import signal
from pathlib import Path
from typing import Literal, NamedTuple

from checkers.choose import program_of, split_path, testlib_program
from checkers.errors import UnknownChecker
from checkers.model import Check, reject
from checkers.programs import PROTOCOLS, ProgramProtocol
from checkers.programs.runs import NotCompiled, ProgramRuns
from sandbox.errors import BadRequest
from sandbox.model import MIB, Compiled, Execution, Interaction, Limits
from sandbox.protocol import Sandbox

Transcript = tuple[tuple[Literal["first", "second"], bytes], ...]
Whose = Literal["solution", "interactor"]

INTERACTOR_CPU_S = 10.0
INTERACTOR_MEMORY_BYTES = 512 * MIB
# So much longer than the solution the interactor may wait: a solution that never answers is
# stopped first, and it is the one that is at fault.
PATIENCE_S = 10.0
TRANSCRIPT_BYTES = 65536


class Interacted(NamedTuple):
    """What came of one interaction.

    execution    the solution's run, raw
    check        what the interactor said
    transcript   (who wrote, bytes) in order; "first" is the solution
    decided_by   whose word counts, by `decide`
    cut          the transcript lost its end
    """

    execution: Execution
    check: Check
    transcript: Transcript
    decided_by: Whose
    cut: bool = False

    @property
    def execution_for_verdict(self) -> Execution:
        """The run as a verdict is to see it.

        When the interactor decides, the solution's end is a consequence of that (SIGPIPE, a
        time out while nobody answers any more) and is shown as an orderly one.
        """
        if self.decided_by == "solution":
            return self.execution
        return dataclasses.replace(
            self.execution,
            exit_code=0,
            signal=None,
            cpu_s=0.0,
            memory_bytes=None,
            stdout_cut=False,
            killed_for=None,
            limits_hit=frozenset(),
        )


class Interactor:
    """One interactor program; compiled at its first use, usable from any thread."""

    def __init__(
        self,
        protocol: ProgramProtocol,
        runs: ProgramRuns,
        *,
        name: str = "",
        extra_args: tuple[str, ...] = (),
        full_points: float | None = None,
    ) -> None:
        self.name = name or protocol.name
        self.protocol = protocol
        self.runs = runs
        self.extra_args = extra_args
        self.full_points = full_points

    @property
    def digest(self) -> str:
        """Changes whenever the interactor could judge differently."""
        return f"interactor:{self.protocol.name}:{self.runs.program.digest}:{self.extra_args!r}"

    def close(self) -> None:
        """Frees the compiled program."""
        self.runs.close()


def open_interactor(sandbox: Sandbox, name: str, *, testlib: str | None = None) -> Interactor:
    """The interactor called `testlib:FILE.cpp` or `kattis:FILE FLAG…`.

    Raises CheckerError, a ValueError, for any other name or a file that can't be read.
    """
    kind, _, rest = name.strip().partition(":")
    if kind not in ("testlib", "kattis"):
        raise UnknownChecker(f"unknown interactor {name!r}: write testlib:FILE.cpp or kattis:FILE")
    path, flags = split_path(rest, kind)
    program = testlib_program(path, testlib) if kind == "testlib" else program_of(path)
    return Interactor(
        PROTOCOLS[kind], ProgramRuns(sandbox, program), name=_named(kind, path), extra_args=flags
    )


def _named(kind: str, path: Path) -> str:
    return f"{kind}:{path.name}"


def judge_interaction(
    sandbox: Sandbox,
    solution: Compiled,
    interactor: Interactor,
    input: bytes,
    answer: bytes,
    limits: Limits,
    *,
    transcript_bytes: int = TRANSCRIPT_BYTES,
) -> Interacted:
    """Lets the two talk about one test; `limits` are the solution's.

    Raises SandboxError for faults of the machine, BadRequest when the sandbox can't join two
    programs. An interactor that fails is an unclear Check, never a wrong answer.
    """
    if "interact" not in sandbox.capabilities:
        raise BadRequest("this sandbox can't join two programs: use --sandbox local")
    row = interactor.protocol
    theirs = dataclasses.replace(
        limits,
        cpu_s=INTERACTOR_CPU_S,
        wall_s=max(limits.wall_s, INTERACTOR_CPU_S) + PATIENCE_S,
        memory_bytes=INTERACTOR_MEMORY_BYTES,
    )
    try:
        second = interactor.runs.compiled
    except NotCompiled as refused:
        return _not_compiled(refused)
    met = sandbox.interact(
        solution,
        second,
        limits,
        theirs,
        second_args=row.arguments(interactor.extra_args),
        second_files={row.input: input, row.answer: answer},
        second_collect=row.collect,
        transcript_bytes=transcript_bytes,
    )
    said = row.judge(met.second, theirs, interactor.full_points)
    whose, said = decide(met, said)
    return Interacted(met.first, said, met.transcript, whose, met.transcript_cut)


def decide(met: Interaction, said: Check) -> tuple[Whose, Check]:
    """Who broke first decides: whose word counts, and the interactor's answer as it counts.

    | ended first | solution           | interactor        | word                            |
    |-------------|--------------------|-------------------|---------------------------------|
    | solution    | broke              | any               | solution (RE, TLE, …)           |
    | solution    | stopped while idle | ran over a limit  | interactor: unclear, it is what |
    |             |                    |                   | the solution waited for         |
    | solution    | ended well         | killed by SIGPIPE | interactor: rejected, the       |
    |             |                    |                   | solution left too early         |
    | solution    | ended well         | any other         | interactor                      |
    | interactor  | any                | rejected, unclear | interactor                      |
    | interactor  | broke              | accepted          | solution                        |
    | both        | as if the interactor had been first: its end is what ends solutions      |

    "Broke": a signal, an exit status other than 0, a limit. Pure.
    """
    broke = _broke(met.first)
    if met.first_ended == "first":
        if broke:
            waited = met.first.killed_for == "wall" and met.second.killed_for is not None
            return ("interactor" if waited else "solution"), said
        if met.second.signal == signal.SIGPIPE:
            return "interactor", _left_too_early(said)
        return "interactor", said
    return ("solution" if broke and said.accepted else "interactor"), said


def _broke(x: Execution) -> bool:
    return x.killed_for is not None or x.signal is not None or x.exit_code != 0


def _left_too_early(said: Check) -> Check:
    left = reject("the solution ended while the interactor was still talking")
    return dataclasses.replace(
        left, stdout=said.stdout, stderr=said.stderr, exit_code=said.exit_code
    )


def _not_compiled(refused: NotCompiled) -> Interacted:
    """Nothing ran: the solution's run is an empty, orderly one."""
    nothing = Execution(exit_code=0, signal=None, cpu_s=0.0, wall_s=0.0, memory_bytes=None)
    words = "the interactor does not compile"
    said = Check("unclear", "FAIL", None, words, stderr=refused.log[: 64 * 1024])
    return Interacted(nothing, said, (), "interactor")

"""Interactive problems: an interactor talks with the solution, each in a box, and judges it.

    solution ◀──pipes──▶ interactor(input, answer)      Sandbox.interact
        Interaction ─ decide ─▶ who decides the verdict: the solution's end or the interactor

| protocol | the interactor's arguments | its answer                                       |
|----------|----------------------------|--------------------------------------------------|
| testlib  | input output answer        | exit 0 OK, 1 WA, 2 PE, 3 FAIL, 7 points on stderr |
| kattis   | input answer feedback_dir  | exit 42 or 43, feedback files                    |

    ProgramChecker, Interactor ─ sent ─▶ {"role", "protocol", "files", …} ─ open_sent ─▶ the same

Files are text there; bytes that are not UTF-8 are lone surrogates (Python's surrogateescape).
"""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gradebox.checkers.check import Check, CheckerError, reject, unclear
from gradebox.checkers.opening import read_program, split_path
from gradebox.checkers.programs import (
    Pass,
    ProgramChecker,
    ProgramJudge,
    read_pass,
)
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import (
    FOLDER,
    MIB,
    Compiled,
    Execution,
    Interaction,
    Limits,
    Program,
)
from gradebox.sandbox.protocol import Sandbox

Transcript = tuple[tuple[Literal["first", "second"], bytes], ...]
Party = Literal["solution", "interactor"]

INTERACTOR_CPU_S = 10.0
INTERACTOR_WALL_S = 20.0  # in which the solution waits for it
INTERACTOR_MEMORY_BYTES = 512 * MIB


class InteractionResult(NamedTuple):
    """The result of one interaction.

    execution    the solution's run, raw
    check        the interactor's answer
    transcript   (writer, bytes) in order; "first" is the solution
    decided_by   the party that decides the verdict, as `decide` says
    asked        of a problem of several passes: what the interactor said, with its check
    """

    execution: Execution
    check: Check
    transcript: Transcript
    decided_by: Party
    asked: Pass | None = None

    @property
    def execution_for_verdict(self) -> Execution:
        """The solution's run for the verdict.

        When the interactor decides, the solution's end is only a consequence (SIGPIPE, a time-out
        while the interactor is gone) and is replaced by an orderly one.
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


class Interactor(ProgramJudge):
    """One interactor program. Any thread may use it."""

    @property
    def digest(self) -> str:
        """Changes whenever the interactor could judge differently."""
        return f"interactor:{self.protocol.name}:{self.program.digest}:{self.extra_args!r}"


def open_interactor(
    sandbox: Sandbox, name: str, *, testlib: str | None = None, within: Path | None = None
) -> Interactor:
    """Open the interactor called `testlib:FILE.cpp` or `kattis:FILE FLAG…`.

    within  see `read_program`

    Raises CheckerError, a ValueError, for any other name or a file that can't be read.
    """
    kind, _, rest = name.strip().partition(":")
    if kind not in ("testlib", "kattis", "kattis-scoring"):
        raise CheckerError(f"unknown interactor {name!r}: write testlib:FILE.cpp or kattis:FILE")
    path, flags = split_path(rest, kind, within)
    program = read_program(kind, path, testlib, within=within)
    name = f"{kind}:{path.name}"
    return Interactor(sandbox, PROTOCOLS[kind], program, name=name, extra_args=flags)


def judge_interaction(
    sandbox: Sandbox,
    solution: Compiled,
    interactor: Interactor,
    input: bytes,
    answer: bytes,
    limits: Limits,
    feedback: Mapping[str, bytes] | None = None,
) -> InteractionResult:
    """Run solution and interactor on one test; `limits` are the solution's.

    feedback  see `ProgramChecker.for_pass`; None: there is one pass

    Raises SandboxError for faults of the machine, BadRequest when the sandbox can't join two
    programs. An interactor that fails is an unclear Check, never a wrong answer.
    """
    if "interact" not in sandbox.capabilities:
        raise BadRequest("this sandbox can't join two programs: use --sandbox local")
    protocol = interactor.protocol
    interactor_limits = dataclasses.replace(
        limits,
        cpu_s=INTERACTOR_CPU_S,
        wall_s=INTERACTOR_WALL_S,
        memory_bytes=INTERACTOR_MEMORY_BYTES,
        output_bytes=max(limits.output_bytes, Limits.output_bytes) + len(input) + len(answer),
    )
    try:
        compiled = interactor.compiled
    except CheckerError as error:
        nothing = Execution(exit_code=0, signal=None, cpu_s=0.0, wall_s=0.0, memory_bytes=None)
        check = unclear(f"the interactor {error}", error.log[: 64 * 1024])
        return InteractionResult(nothing, check, (), "interactor")
    interaction = sandbox.interact(
        solution,
        compiled,
        limits,
        interactor_limits,
        second_args=protocol.arguments(interactor.extra_args),
        second_files={**(feedback or {}), protocol.input: input, protocol.answer: answer},
        second_collect=protocol.collect if feedback is None else (FOLDER,),
    )
    asked = Pass(protocol.judge(interaction.second, interactor_limits, interactor.full_points))
    if feedback is not None:
        asked = read_pass(protocol, interaction.second, asked.check)
    party, check = decide(interaction, asked.check)
    return InteractionResult(
        interaction.first,
        check,
        interaction.transcript,
        party,
        asked._replace(check=check),
    )


def decide(interaction: Interaction, check: Check) -> tuple[Party, Check]:
    """Return which party decides the verdict, and the check to use when it is the interactor.

    The solution failed if a signal, an exit status other than 0 or a limit ended it. Wall time
    counts for the one that is waited for, and not while either computes or awaits a core. When
    neither speaks, the solution is stopped; an interactor that sleeps on after that did not wait
    for the solution. A solution that closes its output has ended first, and how it ends later is
    its own doing. The first row that fits counts:

    | ended first        | the solution        | the interactor        | decided by            |
    |--------------------|---------------------|-----------------------|-----------------------|
    | solution           | hit its wall limit  | hit its wall limit    | interactor (unclear)  |
    | solution           | failed              | did anything          | solution (RE, TLE, …) |
    | solution           | did not fail        | was killed by SIGPIPE | interactor: rejected, |
    |                    |                     | while it was writing  | it was still talking  |
    | solution           | did not fail        | did anything else     | interactor            |
    | interactor or both | failed              | accepted              | solution              |
    | interactor or both | did anything        | did anything else     | interactor            |

    If both ended at once, the interactor's end is taken as the cause of the solution's.
    """
    solution, interactor = interaction.first, interaction.second
    broke = _broke(solution)
    if interaction.first_ended == "first":
        if broke:
            both_slept = solution.killed_for == interactor.killed_for == "wall"
            return ("interactor" if both_slept else "solution"), check
        if interactor.signal == signal.SIGPIPE:
            return "interactor", dataclasses.replace(
                reject("the solution ended while the interactor was still talking"),
                stdout=check.stdout,
                stderr=check.stderr,
                exit_code=check.exit_code,
            )
        return "interactor", check
    return ("solution" if broke and check.accepted else "interactor"), check


def _broke(x: Execution) -> bool:
    return x.killed_for is not None or x.signal is not None or x.exit_code != 0


# ---- programs as JSON, so that another gradebox can judge with them ----


def sent(judge: ProgramChecker | Interactor) -> dict[str, Any]:
    """Return what `open_sent` opens the same judge from."""
    files = judge.program.files.items()
    return {
        "role": "interactor" if isinstance(judge, Interactor) else "checker",
        "protocol": judge.protocol.name,
        "args": list(judge.protocol.args),
        "extra_args": list(judge.extra_args),
        "full_points": judge.full_points,
        "name": judge.name,
        "language": judge.program.language,
        "files": {name: text.decode("utf-8", "surrogateescape") for name, text in files},
    }


def open_sent(value: Mapping[str, Any], sandbox: Sandbox) -> ProgramChecker | Interactor:
    """Return the judge that `sent` described; files may also be bytes. Raises CheckerError."""
    try:
        protocol = PROTOCOLS[value["protocol"]]
        if value.get("args") is not None:
            protocol = dataclasses.replace(protocol, args=_texts(value["args"]))
        files = {
            name: text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
            for name, text in value["files"].items()
        }
        points, extra = value.get("full_points"), _texts(value.get("extra_args") or [])
        language, name = str(value["language"]), str(value.get("name") or protocol.name)
        if not files or not (points is None or type(points) in (int, float)):
            raise ValueError("it needs files, and full_points must be a number or null")
        program = Program(language, files)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckerError(f"judge_program can't be used: {error!r:.200}") from None
    kind = Interactor if value.get("role") == "interactor" else ProgramChecker
    return kind(sandbox, protocol, program, name=name, extra_args=extra, full_points=points)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise TypeError("args and extra_args are lists of texts")
    return tuple(value)

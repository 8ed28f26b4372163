"""Checkers that are programs. Each runs in a box of its own, with the test and the output only.

    PROTOCOLS["testlib"]  ─┐
    Program (its source)  ─┴─▶ ProgramChecker(sandbox, …).check(input, output, expected) ─▶ Check

The protocols are rows: what a program is given and how it answers.

| protocol | arguments                                        | its answer                    |
|----------|--------------------------------------------------|-------------------------------|
| python   | input.txt correct_output.txt solution_output.txt | first word of stdout: a score |
| testlib  | input output answer                              | exit 0 OK, 1 WA, 2 PE, 3 FAIL |
|          |                                                  | 7 points (on stderr)          |
| kattis   | input answer feedback_dir; the output on stdin   | exit 42 or 43, feedback files |
| cms      | input answer output                              | first word of stdout: a score |
| cms-manager | two files for its talk with the solution      | the score in score.txt        |
| command  | as the user wrote, or input output answer        | exit 0 accepted, 1 rejected   |

Everything else (a crash, a signal, a limit, another exit status, no score) is unclear: it is no
evidence about the solution. Whatever a program prints beside its answer is ignored.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradebox.checkers.check import Check, CheckerError, accept, check_of_points, reject, unclear
from gradebox.checkers.tokens import shown
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
from gradebox.sandbox.protocol import Sandbox

MESSAGE_BYTES = 200


@dataclass(frozen=True)
class ProgramProtocol:
    """One row.

    read       (evidence of an orderly end, full points or None) → its answer
    args       its arguments; `{input}`, `{output}` and `{answer}` stand for the names below
    input, output, answer   file names in the checker's folder; `output` None: on stdin
    collect    files it may write that are part of its answer
    """

    name: str
    read: Callable[[Execution, float | None], Check]
    args: tuple[str, ...]
    input: str = "input.txt"
    output: str | None = "output.txt"
    answer: str = "answer.txt"
    collect: tuple[str, ...] = ()

    def arguments(self, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the arguments of one run, with the user's own appended."""
        return (*map(self._filled, self.args), *extra)

    def _filled(self, arg: str) -> str:
        names = {"{input}": self.input, "{output}": self.output or "", "{answer}": self.answer}
        for place, name in names.items():
            arg = arg.replace(place, name)
        return arg

    def judge(self, execution: Execution, limits: Limits, full_points: float | None) -> Check:
        """Return the program's answer with its own output; unclear unless it ended well."""
        problem = _bad_end(execution, limits)
        check = unclear(problem) if problem else self.read(execution, full_points)
        return dataclasses.replace(
            check,
            stdout=execution.stdout,
            stderr=execution.stderr,
            exit_code=execution.exit_code,
        )


def _bad_end(x: Execution, limits: Limits) -> str:
    """Return why a program's end is no answer; "" when it ended by itself within its limits."""
    if x.killed_for is not None:
        reached = {
            "cpu": f"{limits.cpu_s:g} s of CPU time",
            "wall": f"{limits.wall_s:g} s of wall time",
            "memory": f"{limits.memory_bytes >> 20} MiB of memory",
            "output": f"{limits.output_bytes} bytes of output",
        }.get(x.killed_for, f"its {x.killed_for} limit")
        return f"the checker was stopped at {reached}"
    if x.stdout_cut:
        return f"the checker wrote more than {limits.output_bytes} bytes"
    if x.signal is not None:
        return f"the checker crashed with signal {x.signal}"
    if x.exit_code is None:
        return "the checker did not end by itself"
    return ""


def _last_line(text: bytes) -> str:
    lines = text.strip().splitlines()
    return shown(lines[-1].strip(), MESSAGE_BYTES) if lines else ""


def _all_words(text: bytes) -> str:
    return shown(b" ".join(text[: 8 * MESSAGE_BYTES].split()), MESSAGE_BYTES)


def _bad_exit(x: Execution) -> Check:
    words = _last_line(x.stderr)
    return unclear(f"the checker ended with exit status {x.exit_code}" + (words and f": {words}"))


_SCORE = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SCORE_BYTES = 64


def _parse_number(token: bytes) -> float | None:
    """Return a decimal number of a program's answer; None for nan, inf and hexadecimal."""
    if len(token) > _SCORE_BYTES or not _SCORE.fullmatch(token):
        return None
    return float(token)


def _read_score(x: Execution, full_points: float | None) -> Check:
    """Read a `generated_checker`: the first word of stdout is the score, the rest a message."""
    if x.exit_code != 0:
        return _bad_exit(x)
    first = x.stdout[: 1 << 16].split(None, 1)
    score = _parse_number(first[0]) if first else None
    if score is None:
        found = f"'{shown(first[0])}'" if first else "nothing"
        return unclear(f"the checker must print its score first, it printed {found}")
    rest = _all_words(first[1]) if len(first) > 1 else ""
    return check_of_points(score, rest or f"score {score:g}", full_points)


_TESTLIB_STATUSES: Mapping[int | None, Callable[[str], Check]] = {
    0: accept,
    1: reject,
    2: lambda words: reject(words, "PE"),
    3: lambda words: unclear(words or "the checker said FAIL"),
    4: lambda words: reject(words, "PE"),  # "dirt": older releases for extra tokens
    8: lambda words: reject(words, "PE"),  # unexpected end, where a checker asks for it
}
_POINTS = 7
_POINTS_LINE = re.compile(rb"\s*points\s+(\S+)")


def _read_testlib(x: Execution, full_points: float | None) -> Check:
    """Read testlib's exit statuses; points are at the beginning of stderr."""
    words = _all_words(x.stderr)
    if x.exit_code == _POINTS:
        found = _POINTS_LINE.match(x.stderr)
        points = _parse_number(found[1]) if found else None
        if points is None:
            return unclear(f"the checker gave points, but stderr does not say how many: {words}")
        return check_of_points(points, words, full_points)
    read = _TESTLIB_STATUSES.get(x.exit_code)
    return read(words) if read else _bad_exit(x)


KATTIS_ACCEPTED, KATTIS_REJECTED = 42, 43
KATTIS_MESSAGE, KATTIS_SCORE = "judgemessage.txt", "score.txt"


def _read_kattis(x: Execution, full_points: float | None) -> Check:
    """Read 42 or 43; a score is allowed with 42 only, and replaces full marks."""
    words = _all_words(x.files.get(KATTIS_MESSAGE, b""))
    scored = x.files.get(KATTIS_SCORE)
    if x.exit_code == KATTIS_REJECTED:
        if scored is not None:
            return unclear(f"the validator left {KATTIS_SCORE} beside a rejection")
        return reject(words)
    if x.exit_code != KATTIS_ACCEPTED:
        return _bad_exit(x)
    if scored is None:
        return accept(words)
    points = _parse_number(scored.strip())
    if points is None:
        return unclear(f"{KATTIS_SCORE} holds no number but '{shown(scored)}'")
    return check_of_points(points, words, full_points)


MANAGER_SCORE = "score.txt"


def _read_manager(x: Execution, full_points: float | None) -> Check:
    """Read the score that a manager wrote instead of printing it."""
    written = x.files.get(MANAGER_SCORE, b"")
    return _read_score(dataclasses.replace(x, stdout=written), full_points)


def _read_command(x: Execution, _full_points: float | None) -> Check:
    words = _last_line(x.stderr) or _last_line(x.stdout)
    if x.exit_code == 0:
        return accept(words)
    return reject(words) if x.exit_code == 1 else _bad_exit(x)


def _read_tests(x: Execution, full_points: float | None) -> Check:
    """Read the answer of tests (tester_side.py); `Check.exit_code` keeps their status."""
    plain = {4: 3, 5: 3, 6: 1}.get(x.exit_code or 0, x.exit_code)
    return _read_command(dataclasses.replace(x, exit_code=plain), full_points)


# The feedback folder is the checker's own folder, which is empty but for the three files.
FEEDBACK_DIR = "./"

PROTOCOLS: dict[str, ProgramProtocol] = {
    row.name: row
    for row in (
        ProgramProtocol(
            name="python",
            read=_read_score,
            args=("{input}", "{answer}", "{output}"),
            output="solution_output.txt",
            answer="correct_output.txt",
        ),
        ProgramProtocol("testlib", _read_testlib, ("{input}", "{output}", "{answer}")),
        ProgramProtocol(
            name="kattis",
            read=_read_kattis,
            args=("{input}", "{answer}", FEEDBACK_DIR),
            output=None,
            collect=(KATTIS_MESSAGE, KATTIS_SCORE),
        ),
        ProgramProtocol("command", _read_command, args=()),
        ProgramProtocol("cms", _read_score, args=("{input}", "{answer}", "{output}")),
        ProgramProtocol(
            name="cms-manager",
            read=_read_manager,
            args=("/dev/fd/62", "/dev/fd/63"),
            collect=(MANAGER_SCORE,),
        ),
    )
}
# not for users: the text of tests, which talks with the solution
TESTS = ProgramProtocol("command", _read_tests, args=())


# ---- a checker program: compiled once, then one clean run for each case ----

# A checker's own limits, whatever those of the problem are.
CHECKER_LIMITS = Limits(
    cpu_s=10.0,
    wall_s=32.0,
    memory_bytes=512 * MIB,
    output_bytes=1 * MIB,
    stderr_bytes=64 * 1024,
    processes=64,
)

# A run that started by fork and used this share of its memory limit is repeated alone, which starts
# it as anywhere else, and that run counts.
NEAR_FROM = 0.9

# Raise it when answers of programs are read differently: it is part of records' keys.
REVISION = 1


class NotCompiled(CheckerError):
    """The compiler refused the program; `log` holds its messages."""

    def __init__(self, log: bytes) -> None:
        super().__init__(f"does not compile: {_first_error(log)}")
        self.log = log


def _first_error(log: bytes) -> str:
    """Return the first error in a compiler's messages as one line of at most 300 characters."""
    text = log[: 64 * 1024].decode("utf-8", "replace")
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    found = next((line for line in lines if "error" in line.lower()), (lines or ["no reason"])[0])
    return "".join(c for c in found[:300] if c.isprintable())


class ProgramRuns:
    """Runs one program, which is compiled at the first run, once for all threads.

    `run` raises NotCompiled when the compiler refuses it, and SandboxError for the machine.
    """

    def __init__(self, sandbox: Sandbox, program: Program) -> None:
        self.program = program
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._compiled: Compiled | None = None

    @property
    def compiled(self) -> Compiled:
        """The program, ready to run."""
        with self._lock:
            if self._compiled is None:
                self._compiled = self._sandbox.compile(self.program)
            if not self._compiled.ok:
                raise NotCompiled(self._compiled.log)
            return self._compiled

    def run(self, limits: Limits, **case: Any) -> Execution:
        """Run one case from a clean state; `case` as in `Sandbox.run`."""
        execution = self._sandbox.run(self.compiled, limits, **case)
        memory = execution.memory_bytes or 0
        if execution.forked and memory >= NEAR_FROM * limits.memory_bytes:
            return self._sandbox.run(self.compiled, limits, **case, alone=True)
        return execution

    def close(self) -> None:
        """Free the compiled program; calling it twice is harmless."""
        with self._lock:
            if self._compiled is not None:
                self._compiled.close()


class ProgramChecker:
    """A `Checker` that asks one program by one protocol.

    extra_args    appended to the protocol's arguments (a validator's flags)
    full_points   the full mark; None: see `gradebox.checkers.check`

    `check` returns an unclear Check for every failure of the program, its compile error
    included; only faults of the machine are raised (SandboxError).
    """

    def __init__(
        self,
        sandbox: Sandbox,
        protocol: ProgramProtocol,
        program: Program,
        *,
        name: str = "",
        limits: Limits = CHECKER_LIMITS,
        extra_args: Sequence[str] = (),
        full_points: float | None = None,
    ) -> None:
        self.name = name or protocol.name
        self.protocol = protocol
        self.program = program
        self.extra_args = tuple(extra_args)
        self.runs = ProgramRuns(sandbox, program)
        self._limits = limits
        self.full_points = full_points

    @property
    def digest(self) -> str:
        parts = (
            self.protocol.name,
            self.protocol.args,
            self.program.digest,
            self.extra_args,
            self._limits,
            self.full_points,
            REVISION,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Run the program on one case."""
        protocol = self.protocol
        files = {protocol.input: input, protocol.answer: expected}
        if protocol.output is not None:
            files[protocol.output] = output
        try:
            execution = self.runs.run(
                self._limits,
                stdin=b"" if protocol.output is not None else output,
                args=protocol.arguments(self.extra_args),
                files=files,
                collect=protocol.collect,
            )
        except NotCompiled as error:
            return unclear(f"the checker {error}", error.log[: 64 * 1024])
        return protocol.judge(execution, self._limits, self.full_points)

    def prepare(self) -> None:
        """Compile the program. Raises NotCompiled, BadRequest and SandboxError."""
        _ = self.runs.compiled

    def close(self) -> None:
        """Free the compiled program."""
        self.runs.close()

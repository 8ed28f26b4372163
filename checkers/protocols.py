"""Protocols of programs that judge: what one is given, and how its answer is read.

| protocol | arguments                                        | its answer                    |
|----------|--------------------------------------------------|-------------------------------|
| python   | input.txt correct_output.txt solution_output.txt | first word of stdout: a score |
| testlib  | input output answer                              | exit 0 OK, 1 WA, 2 PE, 3 FAIL |
|          |                                                  | 7 points (on stderr)          |
| kattis   | input answer feedback_dir; the output on stdin   | exit 42 or 43, feedback files |
| kattis-scoring | the same                                   | also score.txt or             |
|          |                                                  | score_multiplier.txt          |
| cms      | input answer output                              | first word of stdout: a score |
| cms-manager | two files for its talk with the solution      | the score in score.txt        |
| words    | input answer output                              | stdout: Accepted, or anything |
| command  | as the user wrote, or input output answer        | exit 0 accepted, 1 rejected   |

Everything else (a crash, a signal, a limit, another exit status, no score) is unclear: it is no
evidence about the solution. Whatever a program prints beside its answer is ignored.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from gradebox.checkers.check import Check, accept, check_of_points, reject, unclear
from gradebox.checkers.error_lines import crash_line
from gradebox.checkers.tokens import shown
from gradebox.sandbox.model import Execution, Limits

MESSAGE_BYTES = 200


@dataclass(frozen=True)
class ProgramProtocol:
    """One row.

    read       (evidence of an orderly end, full points or None) → its answer
    args       its arguments; `{input}`, `{output}` and `{answer}` stand for the names below
    input, output, answer   file names in the checker's folder; `output` None: on stdin
    collect    files it may write that are part of its answer
    answer_is_output  the expected output is one that is accepted, so that it need not be asked
    """

    name: str
    read: Callable[[Execution, float | None], Check]
    args: tuple[str, ...]
    input: str = "input.txt"
    output: str | None = "output.txt"
    answer: str = "answer.txt"
    collect: tuple[str, ...] = ()
    answer_is_output: bool = True

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
    line = crash_line(x.stderr.decode("utf-8", "surrogateescape"))
    words = shown(line.encode("utf-8", "surrogateescape"), MESSAGE_BYTES)
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
_WORD = b"Accepted"
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
KATTIS_MULTIPLIER, KATTIS_NEXT_PASS = "score_multiplier.txt", "nextpass.in"


def _read_kattis(x: Execution, full_points: float | None, *, scoring: bool = False) -> Check:
    """Read 42 or 43; a score is allowed with 42 only, and replaces full marks.

    scoring  of a problem with scores: one beside a rejection says nothing
    """
    words = _all_words(x.files.get(KATTIS_MESSAGE, b"")) or _last_line(x.stderr)
    scored, share = x.files.get(KATTIS_SCORE), x.files.get(KATTIS_MULTIPLIER)
    if x.exit_code == KATTIS_REJECTED:
        if scored is not None and not scoring:
            return unclear(f"the validator left {KATTIS_SCORE} beside a rejection")
        return reject(words)
    if x.exit_code != KATTIS_ACCEPTED:
        return _bad_exit(x)
    if scored is not None and share is not None:
        return unclear(f"the validator left both {KATTIS_SCORE} and {KATTIS_MULTIPLIER}")
    if share is not None:
        check = _read_points(share, words, 1.0)
        points = None if check.points is None else check.points * (full_points or 1.0)
        return dataclasses.replace(check, points=points)
    return accept(words) if scored is None else _read_points(scored, words, full_points)


def _read_points(written: bytes, words: str, full_points: float | None) -> Check:
    points = _parse_number(written.strip())
    if points is None:
        return unclear(f"its score is no number but '{shown(written)}'")
    return check_of_points(points, words, full_points)


def _read_words(x: Execution, _full_points: float | None) -> Check:
    """Read a verdict that is printed, as ICPC-Eval's checkers do; silence is one by the status."""
    words = _all_words(x.stdout)
    if not words:
        return accept("") if x.exit_code == 0 else _bad_exit(x)
    return accept(words) if x.stdout.strip() == _WORD else reject(words)


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
            answer_is_output=False,
        ),
        ProgramProtocol(
            name="kattis-scoring",
            read=partial(_read_kattis, scoring=True),
            args=("{input}", "{answer}", FEEDBACK_DIR),
            output=None,
            collect=(KATTIS_MESSAGE, KATTIS_SCORE, KATTIS_MULTIPLIER),
            answer_is_output=False,
        ),
        ProgramProtocol("words", _read_words, ("{input}", "{answer}", "{output}")),
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

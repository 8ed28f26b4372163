"""The protocols of checker programs, one row each: what a program is given, how it answers.

| protocol | arguments                                        | its answer                    |
|----------|--------------------------------------------------|-------------------------------|
| python   | input.txt correct_output.txt solution_output.txt | first word of stdout: a score |
| testlib  | input output answer                              | exit 0 OK, 1 WA, 2 PE, 3 FAIL |
|          |                                                  | 7 points (said on stderr)     |
| kattis   | input answer feedback_dir; the output on stdin   | exit 42 or 43, feedback files |
| command  | as the user wrote, or input output answer        | exit 0 accepted, 1 rejected   |

Everything else (a crash, a signal, a limit, another exit status, no score) is unclear: it
says nothing about the solution. Whatever a program prints beside its answer is not looked at.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from checkers.model import Check, accept, reject, unclear
from checkers.points import judged
from checkers.tokens import shown
from sandbox.model import Execution, Limits

MESSAGE_BYTES = 200

# The message for each limit; the rest of the names speak for themselves.
_LIMIT_WORDS: Mapping[str, Callable[[Limits], str]] = {
    "cpu": lambda x: f"{x.cpu_s:g} s of CPU time",
    "wall": lambda x: f"{x.wall_s:g} s of wall time",
    "memory": lambda x: f"{x.memory_bytes >> 20} MiB of memory",
    "output": lambda x: f"{x.output_bytes} bytes of output",
}


@dataclass(frozen=True)
class ProgramProtocol:
    """One row.

    input, output, answer   file names in the checker's folder; `output` None: on stdin
    args       its arguments, `{input}`, `{output}` and `{answer}` being those names
    collect    files it may leave behind that are part of its answer
    read       (evidence of an orderly end, full points or None) → what it said
    """

    name: str
    input: str
    output: str | None
    answer: str
    args: tuple[str, ...]
    read: Callable[[Execution, float | None], Check]
    collect: tuple[str, ...] = ()

    def arguments(self, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The arguments of one run, the user's own appended."""
        return (*map(self._filled, self.args), *extra)

    def _filled(self, arg: str) -> str:
        names = {"{input}": self.input, "{output}": self.output or "", "{answer}": self.answer}
        for place, name in names.items():
            arg = arg.replace(place, name)
        return arg

    def judge(self, execution: Execution, limits: Limits, full_points: float | None) -> Check:
        """What the program said, with its own words kept; unclear when it did not end well."""
        trouble = trouble_of(execution, limits)
        said = unclear(trouble) if trouble else self.read(execution, full_points)
        return dataclasses.replace(
            said,
            stdout=execution.stdout,
            stderr=execution.stderr,
            exit_code=execution.exit_code,
        )


def trouble_of(execution: Execution, limits: Limits) -> str:
    """Why a program's end says nothing; "" when it ended by itself within its limits."""
    x = execution
    if x.killed_for is not None:
        words = _LIMIT_WORDS.get(x.killed_for)
        limit = words(limits) if words else f"its {x.killed_for} limit"
        return f"the checker was stopped at {limit}"
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


def read_number(token: bytes) -> float | None:
    """A decimal number in a program's answer; no nan, no inf, nothing hexadecimal."""
    if len(token) > _SCORE_BYTES or not _SCORE.fullmatch(token):
        return None
    return float(token)


def _read_score(x: Execution, full_points: float | None) -> Check:
    """`generated_checker`: the first word of stdout is the score, the rest is talk."""
    if x.exit_code != 0:
        return _bad_exit(x)
    first = x.stdout[: 1 << 16].split(None, 1)
    score = read_number(first[0]) if first else None
    if score is None:
        found = f"'{shown(first[0])}'" if first else "nothing"
        return unclear(f"the checker must print its score first, it printed {found}")
    rest = _all_words(first[1]) if len(first) > 1 else ""
    return judged(score, rest or f"score {score:g}", full_points)


_TESTLIB_WORDS: Mapping[int, Callable[[str], Check]] = {
    0: accept,
    1: reject,
    2: lambda words: reject(words, "PE"),
    4: lambda words: reject(words, "PE"),  # "dirt": older releases for extra tokens
    8: lambda words: reject(words, "PE"),  # unexpected end, where a checker asks for it
    3: lambda words: unclear(words or "the checker said FAIL"),
}
_POINTS = 7
_POINTS_LINE = re.compile(rb"\s*points\s+(\S+)")


def read_testlib(x: Execution, full_points: float | None) -> Check:
    """testlib's exit statuses; points stand at the beginning of stderr."""
    words = _all_words(x.stderr)
    if x.exit_code == _POINTS:
        found = _POINTS_LINE.match(x.stderr)
        points = read_number(found[1]) if found else None
        if points is None:
            return unclear(f"the checker gave points, but stderr does not say how many: {words}")
        return judged(points, words, full_points)
    said = _TESTLIB_WORDS.get(x.exit_code if x.exit_code is not None else -1)
    return said(words) if said else _bad_exit(x)


KATTIS_ACCEPTED, KATTIS_REJECTED = 42, 43
KATTIS_MESSAGE, KATTIS_SCORE = "judgemessage.txt", "score.txt"


def read_kattis(x: Execution, full_points: float | None) -> Check:
    """42 or 43; a score only beside 42, where it replaces full marks."""
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
    points = read_number(scored.strip())
    if points is None:
        return unclear(f"{KATTIS_SCORE} holds no number but '{shown(scored)}'")
    return judged(points, words, full_points)


def _read_command(x: Execution, _full_points: float | None) -> Check:
    words = _last_line(x.stderr) or _last_line(x.stdout)
    if x.exit_code == 0:
        return accept(words)
    return reject(words) if x.exit_code == 1 else _bad_exit(x)


# feedback_dir is the checker's own folder: it is empty but for the three files.
FEEDBACK_DIR = "./"

PROTOCOLS: dict[str, ProgramProtocol] = {
    row.name: row
    for row in (
        ProgramProtocol(
            name="python",
            input="input.txt",
            output="solution_output.txt",
            answer="correct_output.txt",
            args=("{input}", "{answer}", "{output}"),
            read=_read_score,
        ),
        ProgramProtocol(
            name="testlib",
            input="input.txt",
            output="output.txt",
            answer="answer.txt",
            args=("{input}", "{output}", "{answer}"),
            read=read_testlib,
        ),
        ProgramProtocol(
            name="kattis",
            input="input.txt",
            output=None,
            answer="answer.txt",
            args=("{input}", "{answer}", FEEDBACK_DIR),
            read=read_kattis,
            collect=(KATTIS_MESSAGE, KATTIS_SCORE),
        ),
        ProgramProtocol(
            name="command",
            input="input.txt",
            output="output.txt",
            answer="answer.txt",
            args=(),
            read=_read_command,
        ),
    )
}

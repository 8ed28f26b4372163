"""Judge outputs by comparison and by the built-in checkers: long ones in workers.

    output ── at most 32 KB with the expected one, or wcmp, open-r1, exact ─▶ judged here
       └── else ─▶ a worker with limits of CPU time and memory ─▶ Check

A program chooses its output: 1 MB takes a built-in up to 0.7 s. wcmp and the modes open-r1 and
exact compare windows in C, 24 ms a megabyte at most.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from dataclasses import dataclass
from typing import Any

from gradebox.checkers import compare
from gradebox.checkers.builtins import Builtin, builtin
from gradebox.checkers.check import Check, accept, reject, unclear
from gradebox.checkers.workers.pool import CRASHED, TIME_LIMIT, WorkerPool, shared_pool
from gradebox.checkers.workers.worker import MEMORY_LIMIT
from gradebox.sandbox.errors import SandboxError

SHORT_BYTES = 1 << 15
CPU_S, CPU_S_PER_MB = 1.0, 2.0  # per MB of both texts: three times what the slowest built-in needs
MEMORY_BYTES = 4 << 30  # uncmp takes 16 bytes per byte of both; output limits bound these
_HERE = frozenset({"wcmp", "open-r1", "exact"})
_OF_LINES = frozenset({"lcmp", "fcmp"})


class OutputPool(WorkerPool):
    """Workers that judge outputs."""

    module = __name__
    most_waiting = 200  # only CPU time decides

    def __init__(self) -> None:
        super().__init__(memory_bytes=MEMORY_BYTES)


@dataclass(frozen=True)
class OutputJudge(Builtin):
    """A built-in whose long outputs workers judge. `asked` is its name with options, as given.

    `check` raises SandboxError when no worker can be started.
    """

    asked: str = ""

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        if len(output) + len(expected) <= SHORT_BYTES or self.name in _HERE:
            return super().check(input, output, expected)
        if self.name in _OF_LINES:
            output, expected = same_lines_emptied(output, expected)
        return _ask(self.asked, output, expected)


def same_lines_emptied(one: bytes, other: bytes) -> tuple[bytes, bytes]:
    """Return two texts with lines at their beginning that are the same replaced by empty ones.

    Their numbers stay, and less is sent to a worker: outputs often go wrong late.
    """
    same = 0
    while one[same : same + SHORT_BYTES] == other[same : same + SHORT_BYTES] and same < len(one):
        same += SHORT_BYTES
    last = one.rfind(b"\n", 0, min(same, len(one), len(other)))
    begin = one.rfind(b"\n", 0, max(last, 0)) + 1  # the last one stays: an empty end counts
    if one.startswith(BOM_UTF8) or one.find(b"\r", 0, begin) >= 0:
        return one, other
    empty = b"\n" * one.count(b"\n", 0, begin)
    return empty + one[begin:], empty + other[begin:]


def output_judge(name: str) -> OutputJudge:
    """Return a built-in checker by its name, with options. Raises CheckerError."""
    found = builtin(name)
    return OutputJudge(found.name, found.judge, name)


def first_difference(output: bytes, expected: bytes, mode: compare.Mode) -> str:
    """Return what `compare.first_difference` does. Raises SandboxError without a worker."""
    short = len(output) + len(expected) <= SHORT_BYTES
    if short or mode in _HERE or output.rstrip() == expected.rstrip():
        return compare.first_difference(output, expected, mode)
    found = _ask(mode, output, expected)
    return "" if found.accepted else found.message


def _ask(name: str, output: bytes, expected: bytes) -> Check:
    limit_s = CPU_S + CPU_S_PER_MB * ((len(output) + len(expected)) >> 20)
    found = shared_pool(OutputPool).ask({"judge": name}, limit_s, (output, expected))
    if found.readings:
        outcome, verdict, score, message, points = json.loads(found.readings[0])
        return Check(outcome, verdict, score, message, points=points)
    if found.reason == CRASHED:
        raise SandboxError("two workers that compare outputs were ended from outside; try again")
    if found.reason == TIME_LIMIT:
        return reject(f"the output cannot be compared within {limit_s:g} s of CPU time")
    bound = f"the {MEMORY_BYTES >> 30} GiB of a worker"
    return unclear(f"no verdict within {bound}" if found.reason == MEMORY_LIMIT else found.reason)


# ---- in the workers ----


def preload() -> None:
    """Do nothing: the judges are loaded."""


def work(request: dict[str, Any], blobs: list[bytes]) -> tuple[bool, str, list[str]]:
    """Return the check of an output, the first of two blobs, by the judge that is named."""
    name, (output, expected) = request["judge"], blobs
    if name in compare.MODES:
        why = compare.first_difference(output, expected, name)
        check = reject(why) if why else accept()
    else:
        check = builtin(name).check(b"", output, expected)
    fields = (check.outcome, check.verdict, check.score, check.message, check.points)
    return check.accepted, "", [json.dumps(fields)]


def clear_caches() -> None:
    """Do nothing: there are none."""

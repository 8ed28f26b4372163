"""Judge outputs by comparison and by the built-in checkers: long ones in workers.

    output ── at most 32 KB with the expected one, or wcmp, open-r1, exact ─▶ judged here
       └── else ─▶ a worker with limits of CPU time and memory ─▶ Check

The workers judge values as well (values/judging.py).
A program chooses its output: 1 MB takes a built-in up to 0.7 s. wcmp and the modes open-r1 and
exact compare windows in C, 24 ms a megabyte at most.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradebox.checkers import compare
from gradebox.checkers.builtins import Builtin, builtin
from gradebox.checkers.check import Check, Checker, accept, reject, unclear
from gradebox.checkers.workers.pool import CRASHED, TIME_LIMIT, WorkerPool, shared_pool
from gradebox.checkers.workers.worker import MEMORY_LIMIT
from gradebox.sandbox.errors import SandboxError

SHORT_BYTES = 1 << 15
VALUE_JUDGES = "gradebox.checkers.values.judging"  # which imports this module
CPU_S, CPU_S_PER_MB = 1.0, 2.0  # per MB of both texts: three times what the slowest built-in needs
MEMORY_BYTES = 4 << 30  # uncmp takes 16 times the size of both texts, which output limits bound
_HERE = frozenset({"wcmp", "open-r1", "exact"})


class OutputPool(WorkerPool):
    """Workers that judge outputs."""

    module = __name__
    most_waiting = 200  # so high that only CPU time decides

    def __init__(self, memory_bytes: int = MEMORY_BYTES) -> None:
        super().__init__(memory_bytes=memory_bytes)


@dataclass(frozen=True)
class OutputJudge(Builtin):
    """A built-in whose long outputs workers judge. `asked` is its name with options, as given.

    `check` raises SandboxError when no worker can be started.
    """

    asked: str = ""

    def for_test(self, args: Sequence[str], points: float | None) -> Checker:
        return output_judge(" ".join((self.asked, *args))) if args else self

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        if len(output) + len(expected) <= SHORT_BYTES or self.name in _HERE:
            return super().check(input, output, expected)
        return _checked(self.asked, output, expected)


def output_judge(name: str) -> OutputJudge:
    """Return a built-in checker by its name, with options. Raises CheckerError."""
    found = builtin(name)
    return OutputJudge(found.name, found.judge, name)


def first_difference(output: bytes, expected: bytes, mode: compare.Mode) -> str:
    """Return what `compare.first_difference` does. Raises SandboxError without a worker."""
    short = len(output) + len(expected) <= SHORT_BYTES
    if short or mode in _HERE or output.rstrip() == expected.rstrip():
        return compare.first_difference(output, expected, mode)
    found = _checked(mode, output, expected)
    return "" if found.accepted else found.message


def _checked(name: str, output: bytes, expected: bytes) -> Check:
    limit_s = CPU_S + CPU_S_PER_MB * ((len(output) + len(expected)) >> 20)
    found = ask_worker(OutputPool, name, output, expected, limit_s)
    if isinstance(found, Check):
        return found
    if found == TIME_LIMIT:
        return reject(f"the output cannot be compared within {limit_s:g} s of CPU time")
    bound = f"the {MEMORY_BYTES >> 30} GiB of a worker"
    return unclear(f"no verdict within {bound}" if found == MEMORY_LIMIT else found)


def ask_worker(
    kind: type[OutputPool], name: str, output: bytes, expected: bytes, limit_s: float
) -> Check | str:
    """Return the check of an output by a worker, or why there is none, such as TIME_LIMIT."""
    found = shared_pool(kind).ask({"judge": name}, limit_s, (output, expected))
    if found.readings:
        outcome, verdict, score, message, points = json.loads(found.readings[0])
        return Check(outcome, verdict, score, message, points=points)
    if found.reason == CRASHED:
        raise SandboxError("two workers that compare outputs were ended from outside; try again")
    return found.reason


# ---- in the workers ----


def preload() -> None:
    """Load the judges of values, and what those need."""
    importlib.import_module(VALUE_JUDGES).preload()


def work(request: dict[str, Any], blobs: list[bytes]) -> tuple[bool, str, list[str]]:
    """Return the check of an output, the first of two blobs, by the judge that is named."""
    name, (output, expected) = request["judge"], blobs
    values = importlib.import_module(VALUE_JUDGES).JUDGES
    if name in compare.MODES:
        why = compare.first_difference(output, expected, name)
        check = reject(why) if why else accept()
    elif name in values:
        check = values[name](output, expected)
    else:
        check = builtin(name).check(b"", output, expected)
    fields = (check.outcome, check.verdict, check.score, check.message, check.points)
    return check.accepted, "", [json.dumps(fields)]

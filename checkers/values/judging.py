"""The judge of values as a checker: programs' values are interpreted in workers, never here.

    output ── the very bytes that the expected value makes? ── yes ─▶ accepted
       └── no ─▶ a worker with limits of CPU time and memory: judges.py ─▶ accepted, rejected

A short text may become a value whose comparison takes hours: numbers that collide in a set,
fractions of a million digits. A worker that meets a limit is ended. What meets it decides: with the
expected value for an output as well, the check is unclear, else the program's result is to blame.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from gradebox.checkers.check import Check, Checker, accept, reject, unclear
from gradebox.checkers.long_outputs import OutputPool, ask_worker
from gradebox.checkers.values.codec import Side, pack
from gradebox.checkers.values.literals import RESULT_JUDGES
from gradebox.checkers.values.outputs import OUTPUT_JUDGES, SEVERAL_JUDGES
from gradebox.checkers.workers.pool import MEMORY_BYTES, TIME_LIMIT
from gradebox.checkers.workers.worker import MEMORY_LIMIT

REVISION = 3  # part of records' keys: raise it when something is judged differently
_ENCODED = {**RESULT_JUDGES, **SEVERAL_JUDGES}  # their expected outputs are JSON, of texts
_TEXTS = {**OUTPUT_JUDGES, **_ENCODED}
# Those whose data sets' graders make all calls of a solution in one process.
IN_ONE_PROCESS = frozenset({"value-reference", "wrapped-reference"})
NAMES = frozenset(
    (
        "value",
        "value-reference",
        "wrapped",
        "wrapped-reference",
        "printed-reference",
        *_TEXTS,
    )
)
CPU_S, CPU_S_PER_MB = 1.0, 2.0  # per MB of the expected value
SHORT_BYTES = 1 << 14  # 5 ms of CPU time: outputs of programs, and expected values, up to here


class ValuePool(OutputPool):
    """Workers that judge values, which programs may make as large as they like."""

    def __init__(self) -> None:
        super().__init__(MEMORY_BYTES)


@dataclass(frozen=True)
class ValueJudge(Checker):
    """A `Checker` by its name, one of NAMES."""

    name: str

    @property
    def digest(self) -> str:
        return f"value judge:{REVISION}:{self.name}"

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Judge an output. Raises SandboxError when no worker can be started."""
        if output == expected and self.name not in _ENCODED:
            return accept("the expected output")
        if self.name in _TEXTS:
            if len(output) + len(expected) <= SHORT_BYTES:
                return _TEXTS[self.name](output, expected)
        elif not output:
            return reject("the program ended before it returned")
        elif output == _message(self.name, expected):
            return accept("the expected value")
        limit_s = CPU_S + CPU_S_PER_MB * (len(expected) >> 20)
        found = ask_worker(ValuePool, self.name, output, expected, limit_s)
        if isinstance(found, Check):
            return found
        bound = {
            TIME_LIMIT: f"{limit_s:g} s of CPU time",
            MEMORY_LIMIT: f"{MEMORY_BYTES >> 20} MiB of memory",
        }.get(found)
        if bound is None:
            return reject(found)
        own = expected if self.name in _TEXTS else b'{"cells":[0],"nodes":[]}'
        again = ask_worker(ValuePool, self.name, own, expected, limit_s)
        if again in (TIME_LIMIT, MEMORY_LIMIT):
            return unclear(f"the expected value cannot be compared within {bound}")
        return reject(f"the result cannot be compared within {bound}")


@lru_cache(512)
def _message(name: str, expected: bytes) -> bytes | None:
    """Return what a program writes for exactly the expected value, where that is short.

    None for values that are not equal to themselves, or that a judge reads in another way.
    """
    reread = b"{" in expected and name == "wrapped-reference"  # whole numbers as keys
    if len(expected) > SHORT_BYTES or reread or b"NaN" in expected:
        return None
    try:
        message = pack([json.loads(expected)], Side(), shared=False)
        return json.dumps(message, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return None

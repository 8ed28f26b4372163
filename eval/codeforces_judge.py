"""Judges for the server's Codeforces protocol: `sandbox.server` loads `judge` by name.

Equal by the open-r1 comparison: accepted. Else the checker decides, in a box of its own
with nothing of the solution but its output; without one the output is wrong.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from checkers import open_checker
from checkers.compare import equal, first_difference
from checkers.protocol import Checker
from sandbox.protocol import Sandbox
from sandbox.server.judging import Judged

KEPT = 64  # checkers, so that each is compiled once for many cases

_kept: OrderedDict[tuple[int, str], Checker] = OrderedDict()
_lock = threading.Lock()


def judge(
    sandbox: Sandbox, input: bytes, output: bytes, expected: bytes, checker: str | None
) -> Judged:
    """What the output is worth; SandboxError when the machine failed."""
    if equal(output, expected, "open-r1"):
        return Judged("accepted", "diff")
    program = None if checker is None else _checker(sandbox, checker)
    if program is None:
        return Judged("rejected", "diff", first_difference(output, expected, "open-r1"))
    said = program.check(input, output, expected)
    return Judged(said.outcome, "checker", said.message)


def _checker(sandbox: Sandbox, source: str) -> Checker | None:
    key = (id(sandbox), source)
    with _lock:
        found = _kept.get(key)
        if found is not None:
            _kept.move_to_end(key)
            return found
    made = open_checker(sandbox, source=source, name=None)
    if made is None:
        return None
    with _lock:
        _kept[key] = made
        while len(_kept) > KEPT:
            _kept.popitem(last=False)  # closed by its last user's end, not under its feet
    return made

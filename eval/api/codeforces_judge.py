"""The judge of the server's Codeforces protocol; `gradebox.sandbox.server` loads it by name.

The checker decides, in a sandbox that contains only the solution's output, unless that has the very
bytes of the expected one. Without a checker the two are compared (open-r1 comparison).
"""

from __future__ import annotations

from gradebox.checkers import open_checker
from gradebox.checkers.check import Checker
from gradebox.checkers.long_outputs import first_difference
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.plugins import Judgement

# Each checker is compiled once for many cases. A dropped one may still be in use, so it is not
# closed but freed with its last user.
_checkers: LruCache[tuple[int, str], Checker] = LruCache(64)


def judge(
    sandbox: Sandbox, input: bytes, output: bytes, expected: bytes, checker: str | None
) -> Judgement:
    """Judge an output; `checker` is the source of a Python checker. Raises SandboxError."""
    program = None if checker is None else _checker(sandbox, checker)
    why = first_difference(output, expected, "open-r1" if program is None else "exact")
    if program is None or not why:
        return Judgement("rejected" if why else "accepted", "diff", why)
    check = program.check(input, output, expected)
    return Judgement(check.outcome, "checker", check.message)


def _checker(sandbox: Sandbox, source: str) -> Checker | None:
    key = (id(sandbox), source)
    found = _checkers.get(key)
    if found is None:
        found = open_checker(sandbox, source=source, name=None)
        if found is not None:
            _checkers.put(key, found)
    return found

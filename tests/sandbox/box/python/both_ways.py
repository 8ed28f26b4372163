"""Run a Python program by fork and by a plain start, and compare what can be seen of it."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import Execution, Limits, Program
from tests.sandbox.levels import box_at

LIMITS = Limits(cpu_s=20, wall_s=60, memory_bytes=1 << 30)
STDIN = b"3\n1 2 3\n"
ADDRESS = re.compile(rb"0x[0-9a-f]{8,}")
Seen = dict[str, object]


@dataclass(frozen=True)
class BothWays:
    """Two sandboxes of one isolation level."""

    level: str
    by_fork: EmbeddedSandbox
    plain: EmbeddedSandbox

    def run(
        self,
        source: bytes,
        *,
        stdin: bytes = STDIN,
        files: Mapping[str, bytes] | None = None,
        collect: tuple[str, ...] = (),
        limits: Limits = LIMITS,
    ) -> tuple[Seen, Seen]:
        """Return what a forked run and a plain run of the program show."""
        program = Program("python", {"main.py": source, **(files or {})})
        forked = self.by_fork.compile(program)
        plain = self.plain.compile(program, interpreted=False)
        if not forked.ok:  # the interpreter's own message, which the plain start shows
            execution = self.plain.run(plain, limits, stdin=stdin)
            shown = {"stderr": execution.stderr, "exit_code": execution.exit_code}
            return {"stderr": forked.log, "exit_code": 1}, shown
        return (
            seen(self.by_fork.run(forked, limits, stdin=stdin, collect=collect)),
            seen(self.plain.run(plain, limits, stdin=stdin, collect=collect)),
        )


def seen(execution: Execution) -> Seen:
    """Return what can be seen of a run, its figures apart."""
    return {
        "exit_code": execution.exit_code,
        "signal": execution.signal,
        "stdout": ADDRESS.sub(b"0x", execution.stdout),
        "stderr": ADDRESS.sub(b"0x", execution.stderr),
        "killed_for": execution.killed_for,
        "files": dict(execution.files),
    }


@contextlib.contextmanager
def both_ways(level: str) -> Iterator[BothWays]:
    """Open the two sandboxes; skip the test where the level is not available."""
    with (
        box_at(level) as by_fork,
        box_at(level, python_start="exec") as plain,
    ):
        assert by_fork.describe().details["python_start"] == "fork"
        yield BothWays(level, by_fork, plain)

"""Programs that run in one process with their tests, since the tests use what cannot cross as data.

    candidate + "\\n" + reference ─ one program ─▶ a secret, written after the last test

The secret is new in each run and comes on stdin. A program that ends early, whatever its exit
status, has not written it; one that searches its own process for it can pass.
"""

from __future__ import annotations

import secrets

from gradebox.eval.api.grader import Grader
from gradebox.eval.grading.cases.case_run import check_evidence
from gradebox.eval.grading.retry import Retry
from gradebox.sandbox.model import MIB, Execution, Limits

MEMORY_BYTES = 1024 * MIB
_PROGRAM = """\
import os
def run(text):
    secret, out = os.read(0, 64), os.dup(1)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0), os.dup2(null, 1)
    exec(compile(text, "<program>", "exec"), {{}})
    os.write(out, secret)
    os._exit(0)
run({text!r})
"""


def run_together(grader: Grader, code: str, tests: str, cpu_s: float) -> str:
    """Run a program with its tests; return "" when it passed them, "timed out", or why it failed.

    cpu_s  limit of CPU time

    Raises SandboxError for a fault of the machine that three attempts did not solve.
    """
    secret = secrets.token_hex(16)
    limits = Limits(cpu_s=cpu_s, wall_s=3 * cpu_s + 2, memory_bytes=MEMORY_BYTES)
    program = _PROGRAM.format(text=f"{code}\n{tests}")

    def run() -> Execution:
        execution = grader.run(program, stdin=secret, limits=limits)
        check_evidence(execution)
        return execution

    execution = Retry(attempts=3).call(run, "a program with its tests")
    if execution.killed_for in ("cpu", "wall"):
        return "timed out"
    if execution.killed_for:
        return f"the limit of {execution.killed_for} was exceeded"
    if execution.stdout.decode("latin-1") == secret:
        return ""
    last = execution.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return last or "the program ended before its tests did"

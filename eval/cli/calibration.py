"""Measure the speed of this machine: the CPU time of a fixed program in the sandbox.

Verdicts near the time limit depend on the machine. This figure shows whether two runs differ
because of their machines.
"""

from __future__ import annotations

from typing import Any

from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Limits, Program
from gradebox.sandbox.protocol import Sandbox

RUNS = 3
SOURCE = """\
total, table = 0, {}
for i in range(400000):
    total = (total * 31 + i) % 1000003
    table[total & 4095] = i
print(total, len(table))
"""


def calibrate(sandbox: Sandbox) -> dict[str, Any]:
    """Return {"cpu_s": least CPU seconds of three runs of a fixed Python program, …}.

    `cpu_s` is None and `error` has the reason when the program cannot be run.
    """
    result = {"program": "400,000 steps of integer and dict work in Python", "runs": RUNS}
    alone = "alone" in sandbox.capabilities
    try:
        program = Program("python", {"main.py": SOURCE.encode()})
        compiled = sandbox.compile(program, interpreted=False)
        limits = Limits(cpu_s=30.0, wall_s=92.0)
        runs = [sandbox.run(compiled, limits, alone=alone) for _ in range(RUNS)]
    except (SandboxError, OSError) as e:  # a fault here must not fail a run that is graded
        return {**result, "cpu_s": None, "error": str(e)}
    if any(x.exit_code != 0 for x in runs):
        return {**result, "cpu_s": None, "error": "the program failed"}
    return {**result, "cpu_s": round(min(x.cpu_s for x in runs), 6)}

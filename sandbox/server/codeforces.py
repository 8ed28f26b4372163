"""The Codeforces package's protocol: one test case, judged after the run.

    main.*  checker.py?  input.txt  correct_output.txt?  grader_config
      └ run with input.txt on stdin (or as a file) ─▶ output
                                                       └ judge(input, output, correct) ─▶ "1" / "0"

The real package puts expected output and checker into the solution's own box; here they
stay outside: the solution gets its input and nothing else. Facts of the protocol:
guipenedo/piston, packages/codeforces/1.0.0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from sandbox.errors import SandboxUnavailable
from sandbox.model import MIB, Compiled, Execution, Limits
from sandbox.protocol import Sandbox
from sandbox.server.jobs import CASE_INPUT, CONFIG, Job, Refusal
from sandbox.server.judging import Judge
from sandbox.server.settings import Ceilings

TIMED_OUT, OUT_OF_MEMORY = 124, 134
CASE_OUTPUT = "output.txt"


@dataclass(frozen=True)
class CaseAnswer:
    """What the package's script would have printed, and how it would have exited."""

    stdout: str
    stderr: str
    code: int
    execution: Execution

    def as_stage(self) -> dict[str, Any]:
        return {
            "stdout": self.stdout,
            "stderr": self.stderr,
            "output": self.stdout + self.stderr,
            "code": self.code,
            "signal": None,
            "message": None if self.code == 0 else f"Exited with error status {self.code}",
            "status": "RE" if self.code else None,
            "cpu_time": round(self.execution.cpu_s * 1000, 3),
            "wall_time": round(self.execution.wall_s * 1000, 3),
            "memory": self.execution.memory_bytes,
        }


def run_case(job: Job, compiled: Compiled, sandbox: Sandbox, judge: Judge | None) -> CaseAnswer:
    """Runs one case; raises Refusal for a config that can't be read."""
    config = read_config(job.files.get(CONFIG, b""))
    limits = case_limits(config, job.limits, job.ceilings)
    given = _unix(job.files[CASE_INPUT])
    by_file = config.get("INPUT_MODE", "stdio") == "file"
    execution = sandbox.run(
        compiled,
        limits,
        stdin=b"" if by_file else given,
        files={CASE_INPUT: given} if by_file else {},
        collect=(CASE_OUTPUT,) if by_file else (),
    )
    failed = _failure(execution, config)
    if failed is not None:
        return failed
    output = execution.files.get(CASE_OUTPUT, b"") if by_file else execution.stdout
    expected = job.files.get("correct_output.txt")
    if expected is None:
        return CaseAnswer(output.decode("utf-8", "replace"), "", 0, execution)
    if judge is None:
        raise SandboxUnavailable("this server has no judge: start it with --judge module:function")
    checker = job.files.get("checker.py")
    source = None if checker is None else checker.decode("utf-8", "replace")
    said = judge(sandbox, given, output, _unix(expected), source)
    if said.outcome == "unclear":
        return CaseAnswer("0\n", f"The checker gave no verdict: {said.message}\n", 1, execution)
    right = said.outcome == "accepted"
    word = "is" if right else "isn't"
    words = f"Output {word} correct ({said.by})\n"
    return CaseAnswer("1\n" if right else "0\n", words, 0, execution)


def read_config(raw: bytes) -> dict[str, str]:
    """KEY=value lines. The real package runs them as a shell script; here they are data."""
    config = {}
    for line in raw.decode("utf-8", "replace").splitlines():
        key, sign, value = line.strip().partition("=")
        if sign:
            config[key.strip()] = value.strip().strip("\"'")
    return config


def case_limits(config: dict[str, str], job_limits: Limits, ceilings: Ceilings) -> Limits:
    """The case's own limits: TIME_LIMIT in seconds of CPU, MEMORY_LIMIT in MB of 2**20.

    CPU time decides, not the wall clock of the package's script: wall is 3 × limit + 2 s.
    Raises Refusal for a limit that is no number or over the server's own.
    """
    limits = job_limits
    seconds = _number(config, "TIME_LIMIT")
    if seconds is not None:
        _within("TIME_LIMIT", seconds, ceilings.run_cpu_time / 1000)
        limits = replace(limits, cpu_s=seconds, wall_s=3 * seconds + 2)
    megabytes = _number(config, "MEMORY_LIMIT")
    if megabytes is not None:
        _within("MEMORY_LIMIT", megabytes, ceilings.run_memory_limit / MIB)
        limits = replace(limits, memory_bytes=int(megabytes * MIB))
    return limits


def _within(name: str, value: float, most: float) -> None:
    if value > most:
        raise Refusal(f"grader_config: {name} of {value:g} is over this server's {most:g}")


def _number(config: dict[str, str], name: str) -> float | None:
    text = config.get(name, "")
    if text in ("", "None"):
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 100_000:
        raise Refusal(f"grader_config: {name} is {text[:40]!r}; it must be a positive number")
    return value


def _failure(execution: Execution, config: dict[str, str]) -> CaseAnswer | None:
    if execution.killed_for in ("cpu", "wall"):
        words = f"Time limit exceeded ({config.get('TIME_LIMIT', '')}s)\n"
        return CaseAnswer("0\n", words, TIMED_OUT, execution)
    if execution.killed_for == "memory":
        words = f"Memory limit exceeded ({config.get('MEMORY_LIMIT', '')}MB)\n"
        return CaseAnswer("0\n", words, OUT_OF_MEMORY, execution)
    code = execution.exit_code
    if execution.signal is not None:
        code = 128 + execution.signal
    if execution.killed_for is not None:
        code = code or 1
    if code:
        own = execution.stderr.decode("utf-8", "replace")
        words = f"{own}\nRuntime error with exit code {code}\n"
        return CaseAnswer("0\n", words, code, execution)
    return None


def _unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")

"""The protocol of guipenedo/piston's Codeforces package: run one test, then judge its output.

    main.*  checker.py?  input.txt  correct_output.txt?  grader_config
      └ run with input.txt on stdin (or as a file) ─▶ output
                                                       └ judge(input, output, correct) ─▶ "1" / "0"

That package (packages/codeforces/1.0.0 there) puts the expected output and the checker into the
solution's sandbox. Here the solution gets its input and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.request import CASE_EXPECTED, CASE_INPUT, CONFIG, Job
from gradebox.sandbox.server.settings import Ceilings, Grading, capped

TIMED_OUT, OUT_OF_MEMORY = 124, 134
CASE_OUTPUT = "output.txt"


def run_case(job: Job, compiled: Compiled, sandbox: Sandbox, grading: Grading) -> dict[str, Any]:
    """Run and judge one case; return its stage. Raises BadRequest for an invalid grader_config."""
    config = parse_config(job.files.get(CONFIG, b""))
    limits = case_limits(config, job.limits, job.ceilings)
    case_input = _unix(job.files[CASE_INPUT])
    by_file = config.get("INPUT_MODE", "stdio") == "file"
    interpreted = find(job.program.language).compile is None
    args = job.args[:1] if interpreted else ()  # the main file; the package passes no others
    files = {name.removeprefix("./"): job.files[job.main] for name in args}
    execution = sandbox.run(
        compiled,
        limits,
        stdin=b"" if by_file else case_input,
        args=args,
        files={**files, CASE_INPUT: case_input} if by_file else files,
        collect=(CASE_OUTPUT,) if by_file else (),
    )
    failure = _failure(execution, config)
    if failure is not None:
        return failure
    output = execution.files.get(CASE_OUTPUT, b"") if by_file else execution.stdout
    expected = job.files.get(CASE_EXPECTED)
    if expected is None:
        return _stage(output.decode("utf-8", "replace"), "", 0, execution)
    checker = job.files.get("checker.py")
    source = None if checker is None else checker.decode("utf-8", "replace")
    judgement = grading.judge(case_input, output, _unix(expected), source)
    if judgement.outcome == "unclear":
        message = f"The checker gave no verdict: {judgement.message}\n"
        return _stage("0\n", message, 1, execution)
    accepted = judgement.outcome == "accepted"
    verb = "is" if accepted else "isn't"
    message = f"Output {verb} correct ({judgement.by})\n"
    return _stage("1\n" if accepted else "0\n", message, 0, execution)


def parse_config(raw: bytes) -> dict[str, str]:
    """Parse KEY=value lines, which guipenedo/piston's package runs as a shell script."""
    config = {}
    for line in raw.decode("utf-8", "replace").splitlines():
        key, sign, value = line.strip().partition("=")
        if sign:
            config[key.strip()] = value.strip().strip("\"'")
    return config


def case_limits(config: dict[str, str], job_limits: Limits, ceilings: Ceilings) -> Limits:
    """Return the case's limits: TIME_LIMIT in seconds, MEMORY_LIMIT in MB of 2**20 bytes.

    TIME_LIMIT limits CPU time, so the verdict does not depend on load. (The script of
    guipenedo/piston's package limits wall time.) The wall limit is 3 × TIME_LIMIT + 2 s. Raises
    BadRequest for a limit that is not a positive number or is over the server's.
    """
    limits = job_limits
    seconds = _limit(config, "TIME_LIMIT", ceilings.run_cpu_time / 1000)
    if seconds is not None:
        limits = replace(limits, cpu_s=seconds, wall_s=3 * seconds + 2)
    megabytes = _limit(config, "MEMORY_LIMIT", ceilings.run_memory_limit / MIB)
    if megabytes is not None:
        limits = replace(limits, memory_bytes=int(megabytes * MIB))
    return capped(limits, ceilings.run_limits())


def _limit(config: dict[str, str], name: str, most: float) -> float | None:
    text = config.get(name, "")
    if text in ("", "None"):
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 100_000:
        raise BadRequest(f"grader_config: {name} is {text[:40]!r}; it must be a positive number")
    if value > most:
        raise BadRequest(
            f"grader_config: {name} of {value:g} is over this server's limit of {most:g}"
        )
    return value


def _failure(execution: Execution, config: dict[str, str]) -> dict[str, Any] | None:
    if execution.killed_for in ("cpu", "wall"):
        message = f"Time limit exceeded ({config.get('TIME_LIMIT', '')}s)\n"
        return _stage("0\n", message, TIMED_OUT, execution)
    if execution.killed_for == "memory":
        message = f"Memory limit exceeded ({config.get('MEMORY_LIMIT', '')}MB)\n"
        return _stage("0\n", message, OUT_OF_MEMORY, execution)
    code = execution.exit_code
    if execution.signal is not None:
        code = 128 + execution.signal
    if execution.killed_for is not None:
        code = code or 1
    if code:
        stderr = execution.stderr.decode("utf-8", "replace")
        message = f"{stderr}Runtime error with exit code {code}\n"
        return _stage("0\n", message, code, execution)
    return None


def _stage(stdout: str, stderr: str, code: int, execution: Execution) -> dict[str, Any]:
    """Return a stage with what the script of guipenedo/piston's package would have had."""
    return {
        "stdout": stdout,
        "stderr": stderr,
        "output": stdout + stderr,
        "code": code,
        "signal": None,
        "message": None if code == 0 else f"Exited with error status {code}",
        "status": "RE" if code else None,
        "cpu_time": round(execution.cpu_s * 1000, 3),
        "wall_time": round(execution.wall_s * 1000, 3),
        "memory": execution.memory_bytes,
    }


def _unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")

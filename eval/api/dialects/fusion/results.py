"""SandboxFusion's answers about a run.

    Ran ─▶ {"status", "message", "compile_result", "run_result", "executor_pod_name", "files"}
           and, beside their fields: cpu_time (s), memory_bytes, verdict. Their client knows
           cpu_time in compile_result and run_result, so it is there too.

| the program                       | status  | run_result.status | return_code | verdict |
|-----------------------------------|---------|-------------------|-------------|---------|
| ended with 0                      | Success | Finished          | 0           | null    |
| ended with another code, a signal | Failed  | Finished          | code, -n    | RE      |
| met its CPU or wall limit         | Failed  | TimeLimitExceeded | null        | TLE     |
| met its memory limit              | Failed  | Finished          | -9          | MLE     |
| wrote too much                    | Failed  | Finished          | -9          | OLE     |
| did not compile                   | Failed  | null              | –           | CE      |

SandboxError is for the machine only: nothing that a program does leads to it.
"""

from __future__ import annotations

import base64
import signal
from collections.abc import Mapping
from typing import Any, NamedTuple

from gradebox.eval.api.dialects.programs import Ran
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Compiled, Execution


class RunTimes(NamedTuple):
    """The times of a test, in seconds."""

    wall_s: float | None
    cpu_s: float | None


_FAILED = frozenset({"TLE", "MLE", "RE", "OLE", "CE"})
_KILLED = frozenset({"MLE", "OLE"})
_VERDICTS = {"cpu": "TLE", "wall": "TLE", "memory": "MLE", "output": "OLE"}


def run_answer(ran: Ran) -> dict[str, Any]:
    """Return the answer of POST /run_code."""
    execution = ran.execution
    answer = blank("Failed")
    if ran.compiles:
        answer["compile_result"] = _compile_result(ran.compiled)
    if execution is None:
        return {**answer, "verdict": "CE"}
    verdict = verdict_of(execution)
    return {
        **answer,
        "status": "Failed" if verdict else "Success",
        "run_result": command_result(
            verdict,
            _return_code(execution),
            execution,
            text(execution.stdout),
            text(execution.stderr),
        ),
        "files": {name: base64.b64encode(data).decode() for name, data in execution.files.items()},
        "cpu_time": round(execution.cpu_s, 6),
        "memory_bytes": execution.memory_bytes,
        "verdict": verdict,
    }


def case_answer(test: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer about a test of a grading, from its record.

    A test whose output is wrong ended well: its status is Success.
    """
    verdict, compiled = test["verdict"], record["compile"]
    answer = blank("Failed" if verdict in _FAILED else "Success")
    answer |= {"verdict": verdict, "cpu_time": test["cpu_s"], "memory_bytes": test["memory_bytes"]}
    if verdict == "CE":
        log = str(compiled.get("log") or record["error"])
        return {**answer, "compile_result": command_result("CE", 1, None, "", log)}
    if find(record["language"]).compile is not None:
        log = str(compiled.get("log") or "")
        answer["compile_result"] = command_result(None, 0, None, "", log)
    code = test["exit_code"]
    if code is None or (verdict in _KILLED and not code):
        code = -(test["signal"] or signal.SIGKILL)
    times = RunTimes(test["wall_s"], test["cpu_s"])
    run = command_result(verdict, code, times, test["output"], test["stderr"])
    return {**answer, "run_result": run}


def fault_answer(message: str) -> dict[str, Any]:
    """Return the answer when the machine failed."""
    return {**blank("SandboxError"), "message": message, "verdict": "ER"}


def blank(status: str) -> dict[str, Any]:
    """Return an answer without results."""
    return {
        "status": status,
        "message": "",
        "compile_result": None,
        "run_result": None,
        "executor_pod_name": None,
        "files": {},
        "cpu_time": None,
        "memory_bytes": None,
        "verdict": None,
    }


def command_result(
    verdict: str | None,
    code: int | None,
    times: Execution | RunTimes | None,
    stdout: str,
    stderr: str,
) -> dict[str, Any]:
    """Return a command's part of an answer.

    times  of the command; None for one that need not run
    """
    late = verdict == "TLE"
    return {
        "status": "TimeLimitExceeded" if late else "Finished",
        "execution_time": times.wall_s if times else 0.0,
        "cpu_time": times.cpu_s if times else 0.0,
        "return_code": None if late else code,
        "stdout": stdout,
        "stderr": stderr,
    }


def text(data: bytes) -> str:
    """Return output as text."""
    return data.decode("utf-8", "replace")


def verdict_of(execution: Execution) -> str | None:
    """Return why a run failed, None for one that ended with code 0."""
    if execution.killed_for is not None:
        return _VERDICTS.get(execution.killed_for, "RE")
    return "RE" if execution.exit_code or execution.signal is not None else None


def _return_code(execution: Execution) -> int:
    """Return what Python's subprocess reports: a signal as a negative number."""
    if execution.killed_for is not None:
        return -signal.SIGKILL
    return execution.exit_code or -(execution.signal or 0)


def _compile_result(compiled: Compiled) -> dict[str, Any]:
    execution = compiled.execution
    late = execution is not None and execution.killed_for in ("cpu", "wall")
    code = 0
    if not compiled.ok:
        code = 1 if execution is None else _return_code(execution) or 1
    times = None if compiled.cached else execution
    return command_result("TLE" if late else None, code, times, "", text(compiled.log))

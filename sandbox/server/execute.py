"""Run a Job in a sandbox and return the evidence as Piston's answer."""

from __future__ import annotations

import base64
import signal
from typing import Any

from gradebox.sandbox.model import Compiled, Execution
from gradebox.sandbox.piston.gradebox_server import write_execution
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.codeforces import run_case
from gradebox.sandbox.server.jobs import Job
from gradebox.sandbox.server.plugins import Judge

_KILLED = {
    "cpu": ("TO", "Time limit exceeded"),
    "wall": ("TO", "Time limit exceeded (wall clock)"),
    "output": ("OL", "stdout length exceeded"),
    "memory": ("SG", "Memory limit exceeded"),
}


def execute(job: Job, sandbox: Sandbox, judge: Judge | None) -> dict[str, Any]:
    """Return the answer of POST /api/v2/execute."""
    # In Piston a Python program that does not compile fails when it runs.
    compiled = sandbox.compile(job.program, job.compile_limits, interpreted=job.compile_only)
    try:
        answer: dict[str, Any] = {"language": job.runtime.language, "version": job.runtime.version}
        stage = compile_stage(compiled, job)
        if stage is not None:
            answer["compile"] = stage
        if not compiled.ok:
            # Like Piston: the compiler's stage is also the run's when nothing was run
            return {**answer, "run": stage}
        if job.compile_only:
            return answer
        if job.codeforces:
            return {**answer, "run": run_case(job, compiled, sandbox, judge).as_stage()}
        execution = sandbox.run(
            compiled,
            job.limits,
            stdin=job.stdin,
            args=job.args,
            files=job.files,
            collect=job.collect,
            alone=job.alone,
        )
        return {**answer, "run": run_stage(execution, job)}
    finally:
        compiled.close()


def compile_stage(compiled: Compiled, job: Job) -> dict[str, Any] | None:
    """Return the compiler's stage; None for a language that is not compiled."""
    if job.from_gradebox:
        return {
            "ok": compiled.ok,
            "log_base64": base64.b64encode(compiled.log).decode(),
            "toolchain": compiled.toolchain,
            "cached": compiled.cached,
            "evidence": write_execution(compiled.execution) if compiled.execution else None,
        }
    execution = compiled.execution
    if execution is None and compiled.ok:
        if not job.runtime.codeforces:
            return None
        execution = Execution(0, None, 0.0, 0.0, None)  # the package has one for every language
    log = compiled.log.decode("utf-8", "replace")
    stage = stage_of(execution or Execution(1, None, 0.0, 0.0, None), base64_output=False)
    code = 0 if compiled.ok else stage["code"] if stage["status"] == "TO" else stage["code"] or 1
    return {**stage, "stdout": "", "stderr": log, "output": log, "code": code}


def run_stage(execution: Execution, job: Job) -> dict[str, Any]:
    """Return the stage of the program's run."""
    if job.from_gradebox:
        return {"evidence": write_execution(execution)}
    stage = stage_of(execution, base64_output=job.base64_output)
    if job.collect:
        stage["files"] = {
            name: base64.b64encode(data).decode() for name, data in execution.files.items()
        }
    return stage


def stage_of(execution: Execution, *, base64_output: bool) -> dict[str, Any]:
    """Return an execution as one of Piston's stages."""
    status, message = _status(execution)
    number = int(signal.SIGKILL) if status in ("TO", "OL") else execution.signal
    return {
        **_texts(execution, base64_output),
        "code": execution.exit_code,
        "signal": None if number is None else _signal_name(number),
        "message": message,
        "status": status,
        "cpu_time": round(execution.cpu_s * 1000, 3),
        "wall_time": round(execution.wall_s * 1000, 3),
        "memory": execution.memory_bytes,
    }


def _texts(execution: Execution, base64_output: bool) -> dict[str, Any]:
    if base64_output:
        return {
            "stdout": base64.b64encode(execution.stdout).decode(),
            "stderr": base64.b64encode(execution.stderr).decode(),
            "output": "",
            "encoding": "base64",
        }
    stdout = execution.stdout.decode("utf-8", "replace")
    stderr = execution.stderr.decode("utf-8", "replace")
    return {"stdout": stdout, "stderr": stderr, "output": stdout + stderr}


def _status(execution: Execution) -> tuple[str | None, str | None]:
    if execution.killed_for in _KILLED:
        return _KILLED[execution.killed_for]
    if execution.signal is not None:
        return "SG", f"Caught fatal signal {execution.signal}"
    if execution.exit_code:
        return "RE", f"Exited with error status {execution.exit_code}"
    return None, None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"

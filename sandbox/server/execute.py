"""Run a Job in a sandbox and return the evidence as Piston's answer.

A program that a signal ended is reported as Piston reports it: its packages run programs in a
shell, which exits with 128 + the signal's number and names the signal on stderr. The signal itself
is in `gradebox_signal`.
"""

from __future__ import annotations

import base64
import re
import signal
from dataclasses import replace
from typing import Any

import msgspec

from gradebox.sandbox.box.wire import MAX_FILES
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Compiled, Execution, Program
from gradebox.sandbox.piston.gradebox_server import SingleAnswer, SingleBody
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.codeforces import run_case
from gradebox.sandbox.server.request import Job, sharing_output
from gradebox.sandbox.server.settings import Ceilings, Grading, check_limits


def execute(job: Job, sandbox: Sandbox, grading: Grading) -> dict[str, Any]:
    """Return the answer of POST /api/v2/execute."""
    check_files(job.unpacked, sandbox)
    # In Piston a Python program that does not compile fails when it runs.
    compiled = sandbox.compile(job.program, job.compile_limits, interpreted=False)
    answer: dict[str, Any] = {"language": job.runtime.language, "version": job.runtime.version}
    stage = compile_stage(compiled, job)
    if stage is not None:
        answer["compile"] = stage
    if not compiled.ok:
        # Like Piston: the compiler's stage is also the run's when nothing was run
        return {**answer, "run": stage}
    if job.codeforces:
        return {**answer, "run": run_case(job, compiled, sandbox, grading)}
    execution = sandbox.run(
        compiled,
        job.limits,
        stdin=job.stdin,
        args=job.args,
        files=job.files,
        collect=job.collect,
    )
    return {**answer, "run": run_stage(execution, job)}


def check_files(unpacked: bool, sandbox: Sandbox) -> None:
    """Raise BadRequest for files that a program of this sandbox cannot have.

    unpacked  they are in folders, or many
    """
    level = sandbox.describe().level
    if unpacked and level == "landlock":
        raise BadRequest(
            f"the request has files in folders, or more than {MAX_FILES}, which level {level} "
            "of this server does not allow; send fewer files with plain names, or run the server "
            "where user namespaces are allowed"
        )


# ---- for our own client: a program with the whole evidence ----


def run_single(value: Any, sandbox: Sandbox, ceilings: Ceilings) -> tuple[str, SingleAnswer]:
    """Return the language and the answer of POST /gradebox/run. Raises BadRequest."""
    try:
        body = msgspec.convert(value, SingleBody)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise BadRequest(f"the request is wrong: {error}; is the client another version?") from None
    check_limits(body.compile_limits, ceilings.compile_limits())
    for name in ("files", "run_files", "collect", "args"):
        most = ceilings.args_max if name == "args" else ceilings.files_max
        if len(getattr(body, name)) > most:
            raise BadRequest(f"{name} has {len(getattr(body, name))} elements; at most {most}")
    language, limits = find(body.language).name, body.run_limits
    if limits is not None:
        check_limits(limits, ceilings.run_limits())
    program = Program(language, body.files)
    compiled = sandbox.compile(program, body.compile_limits, interpreted=limits is None)
    run = None
    if compiled.ok and limits is not None:
        run = sandbox.run(
            compiled,
            sharing_output(limits, len(body.collect)),
            stdin=body.stdin,
            args=body.args,
            files=body.run_files,
            collect=body.collect,
            alone=body.alone,
        )
    found = replace(compiled, program=Program(language, {}), artifact=None)
    return language, SingleAnswer(found, run)


# ---- the stages of the answer ----

_STOPPED = {
    "cpu": ("TO", "Time limit exceeded"),
    "wall": ("TO", "Time limit exceeded (wall clock)"),
    "output": ("OL", "stdout length exceeded"),
}
_SILENT = (signal.SIGINT, signal.SIGPIPE)  # a shell does not report their victims


def compile_stage(compiled: Compiled, job: Job) -> dict[str, Any] | None:
    """Return the compiler's stage; None for a language that is not compiled."""
    execution = compiled.execution
    if execution is None and compiled.ok:
        if not job.runtime.codeforces:
            return None
        execution = Execution(0, None, 0.0, 0.0, None)  # the package has one for every language
    log = _with_users_name(compiled.log.decode("utf-8", "replace"), job)
    stage = stage_of(execution or Execution(1, None, 0.0, 0.0, None), base64_output=False)
    code = 0 if compiled.ok else stage["code"] if stage["status"] == "TO" else stage["code"] or 1
    skipped = compiled.ok and compiled.execution is None
    said = f"Skipping compile - {job.runtime.language}\n" if skipped else ""
    return {**stage, "stdout": said, "stderr": log, "output": said + log, "code": code}


def _with_users_name(log: str, job: Job) -> str:
    """Return a compiler's messages with the user's name of the main file."""
    if not job.compiled_as or job.compiled_as == job.main:
        return log
    name = rf"(?:(?<=\./)|(?<![\w./-])){re.escape(job.compiled_as)}(?![\w.-])"
    return re.sub(name, lambda _: job.main, log)


def run_stage(execution: Execution, job: Job) -> dict[str, Any]:
    """Return the stage of the program's run."""
    stage = stage_of(execution, base64_output=job.base64_output, name=job.main)
    if job.collect:
        stage["files"] = {
            name: base64.b64encode(data).decode() for name, data in execution.files.items()
        }
    return stage


def stage_of(execution: Execution, *, base64_output: bool, name: str = "") -> dict[str, Any]:
    """Return an execution as one of Piston's stages.

    name  of the program, for a shell's report of its end
    """
    status, message = _status(execution)
    stopped = status in ("TO", "OL", "EL")
    number = None if stopped else execution.signal
    stderr = execution.stderr + (b"" if number is None else _report(number, name).encode())
    code = None if stopped else execution.exit_code if number is None else 128 + number
    stage = {
        **_texts(execution.stdout, stderr, base64_output),
        "code": code,
        "signal": "SIGKILL" if stopped else None,
        "message": message,
        "status": status,
        "cpu_time": round(execution.cpu_s * 1000, 3),
        "wall_time": round(execution.wall_s * 1000, 3),
        "memory": execution.memory_bytes,
    }
    return stage if number is None else {**stage, "gradebox_signal": signal_name(number)}


def _texts(stdout: bytes, stderr: bytes, base64_output: bool) -> dict[str, Any]:
    if base64_output:
        return {
            "stdout": base64.b64encode(stdout).decode(),
            "stderr": base64.b64encode(stderr).decode(),
            "output": "",
            "encoding": "base64",
        }
    out, err = stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace")
    return {"stdout": out, "stderr": err, "output": out + err}


def status_of(execution: Execution) -> str | None:
    """Return Piston's status of an execution; None: it ended with code 0."""
    return _status(execution)[0]


def _status(execution: Execution) -> tuple[str | None, str | None]:
    if execution.killed_for in _STOPPED:
        return _STOPPED[execution.killed_for]
    if execution.stderr_cut:
        return "EL", "stderr length exceeded"
    if execution.killed_for == "memory":
        return "RE", "Memory limit exceeded"
    if execution.signal is not None:
        return "RE", f"Exited with error status {128 + execution.signal}"
    if execution.exit_code:
        return "RE", f"Exited with error status {execution.exit_code}"
    return None, None


def _report(number: int, name: str) -> str:
    """Return what a shell prints when a signal ends a program."""
    if number in _SILENT:
        return ""
    description = signal.strsignal(number) or f"Signal {number}"
    if number == signal.SIGTERM:
        return f"{description}\n"
    return f"run: line 1:     3 {description:<24}{name}\n"


def signal_name(number: int) -> str:
    """Return a signal's name, such as SIGSEGV or SIGRTMIN+6."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"

"""Run a Job in a sandbox and return the evidence as Piston's answer."""

from __future__ import annotations

from typing import Any

from gradebox.sandbox.box.wire import MAX_FILES
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.jobs.codeforces import run_case
from gradebox.sandbox.server.jobs.request import Job
from gradebox.sandbox.server.jobs.stages import compile_stage, run_stage
from gradebox.sandbox.server.plugins import Judge


def execute(job: Job, sandbox: Sandbox, judge: Judge | None) -> dict[str, Any]:
    """Return the answer of POST /api/v2/execute."""
    check_files(job.unpacked, sandbox)
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

"""`--sandbox gradebox`: each command of a sample runs in a box, with the sample's files.

    exec, write_file, read_file ─▶ a box: unpack the files, act, pack the files ─▶ state

The state is one archive in memory (in_the_box.py), and no file of the host's. A box has no network;
processes in the background end with their command. A command that fails, hangs or writes too much
is reported to the caller; what the machine fails at is tried again, then SandboxUnavailableError.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)

from gradebox.eval.api.calls import shared_grader
from gradebox.eval.common.errors import Retry
from gradebox.eval.frameworks.inspect import in_the_box as box
from gradebox.eval.grading.cases.case_run import check_evidence
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB, Execution, Limits, Program
from gradebox.sandbox.protocol import Sandbox

STATE_BYTES = 128 * MIB  # of a sample's files
MEMORY_BYTES = 2048 * MIB
LONGEST_S = 6 * 3600.0  # for a command without a timeout
FILE_S = 120.0  # to read or write a file, with unpacking and packing the sample's files
PACKING_S = 60.0
_PROGRAM = Program("python", {"main.py": Path(box.__file__).read_bytes()})
_ERRORS: Mapping[str, type[OSError]] = {
    one.__name__: one
    for one in (
        FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError, TimeoutError,
    )
}  # fmt: skip


@sandboxenv(name="gradebox")
class GradeboxSandboxEnvironment(SandboxEnvironment):
    """The files of one sample, and boxes for its commands."""

    def __init__(self) -> None:
        super().__init__()
        self._state = b""
        self._turn = anyio.Lock()  # commands of a sample see each other's files

    @classmethod
    async def sample_init(
        cls, task_name: str, config: object, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Return the environment of a sample."""
        return {"default": cls()}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: object,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Forget the sample's files."""
        for environment in environments.values():
            environment.as_type(cls)._state = b""

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command; `timeout` counts from its start, not while it waits for a core.

        Raises TimeoutError, PermissionError, OutputLimitExceededError, UnicodeDecodeError,
        SandboxUserUnsupportedError for any user but the box's, and SandboxUnavailableError.
        A command that timed out is not run again.
        """
        if user is not None:
            raise SandboxUserUnsupportedError(
                f"the gradebox sandbox has one user: it cannot execute as {user!r}"
            )
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        seconds = min(timeout or LONGEST_S, LONGEST_S)
        request = {
            "act": "exec", "cmd": cmd, "cwd": cwd or "", "env": env or {}, "timeout": seconds,
            "output_limit": limit,
        }  # fmt: skip
        status, files = await self._run(request, _bytes(input), seconds)
        if status.get("error") == "OutputLimitExceededError":
            cut = files.get(box.OUT, b"")[:limit].decode("utf-8", "replace")
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, cut)
        self._raise(status, " ".join(cmd)[:200])
        stderr = files.get(box.ERR, b"").decode("utf-8")
        code = int(status.get("code", 1))
        if status.get("too_large"):
            code = code or 1
            stderr += f"\ngradebox: the files are over {STATE_BYTES >> 20} MiB: changes are lost\n"
        return ExecResult(code == 0, code, files.get(box.OUT, b"").decode("utf-8"), stderr)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file; its folders are made. Raises PermissionError, IsADirectoryError."""
        status, _ = await self._run({"act": "write", "file": file}, _bytes(contents), FILE_S)
        self._raise(status, file)
        if status.get("too_large"):
            raise OSError(f"the sample's files would be over {STATE_BYTES >> 20} MiB")

    async def read_file(self, file: str, text: bool = True) -> Any:
        """Return a file as text or bytes.

        Raises FileNotFoundError, IsADirectoryError, PermissionError, UnicodeDecodeError and
        OutputLimitExceededError.
        """
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        request = {"act": "read", "file": file, "limit": limit}
        status, files = await self._run(request, b"", FILE_S)
        if status.get("error") == "OutputLimitExceededError":
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        self._raise(status, file)
        data = files.get(box.OUT, b"")
        return data.decode("utf-8") if text else data

    async def _run(
        self, request: dict[str, Any], stdin: bytes, seconds: float
    ) -> tuple[dict[str, Any], Mapping[str, bytes]]:
        """Return what in_the_box.py says of a request, and the files it wrote."""
        request["state_limit"] = STATE_BYTES
        async with self._turn:
            run = partial(_in_box, json.dumps(request).encode(), self._state, stdin, seconds)
            try:
                execution = await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
            except SandboxError as error:
                raise SandboxUnavailableError(f"the gradebox sandbox failed: {error}") from None
            files = execution.files
            if box.STATUS not in files:
                return _ended(execution, request["act"]), {}
            if request["act"] != "read" and box.STATE in files:
                self._state = files[box.STATE]
        return _status(files[box.STATUS]), files

    def _raise(self, status: Mapping[str, Any], what: str) -> None:
        name = str(status.get("error", ""))
        if name:
            raise _ERRORS.get(name, OSError)(str(status.get("message", what)))


def _in_box(request: bytes, state: bytes, stdin: bytes, seconds: float) -> Execution:
    with shared_grader(sandbox="local").use_sandbox() as sandbox:
        return _run_in(sandbox, request, state, stdin, seconds)


def _run_in(
    sandbox: Sandbox, request: bytes, state: bytes, stdin: bytes, seconds: float
) -> Execution:
    if "processes" not in sandbox.capabilities:
        raise SandboxError("at this level of isolation a program starts no others: gradebox doctor")
    files = {box.REQUEST: request, **({box.STATE: state} if state else {})}
    limits = Limits(
        cpu_s=min(16 * seconds + PACKING_S, 86_400.0),
        wall_s=seconds + PACKING_S,
        memory_bytes=MEMORY_BYTES,
        output_bytes=STATE_BYTES + 64 * MIB,
        processes=512,
        open_files=1024,
        file_size_bytes=STATE_BYTES + 64 * MIB,
        disk_bytes=4 * STATE_BYTES,
    )

    def run() -> Execution:
        compiled = sandbox.compile(_PROGRAM)
        names = (box.STATUS, box.OUT, box.ERR, box.STATE)
        found = sandbox.run(compiled, limits, stdin=stdin, files=files, collect=names)
        check_evidence(found)
        return found

    return Retry(attempts=3).call(run, "a command of a sample")


def _ended(execution: Execution, act: str) -> dict[str, Any]:
    """Return the status of a box that ended before its status was written; no files are kept."""
    if execution.killed_for in ("wall", "cpu"):
        return {"error": "TimeoutError"}
    if execution.killed_for:
        return {"error": "OSError", "message": f"the limit of {execution.killed_for} was exceeded"}
    if act != "exec":
        return {"error": "OSError", "message": "the sample's files can't be unpacked"}
    return {"code": 137}


def _status(raw: bytes) -> dict[str, Any]:
    """Return a status; a command may have written it."""
    try:
        found = json.loads(raw)
        code = found.get("code", 0)
        return found if isinstance(code, int) else {"code": 1}
    except (ValueError, AttributeError, RecursionError):
        return {"code": 1}


def _bytes(text: str | bytes | None) -> bytes:
    return text.encode() if isinstance(text, str) else text or b""

"""Runs on our own server (sandbox.server): no launcher, bytes travel as base64 both ways.

It answers `gradebox` at GET /, and takes these fields beside Piston's own:

    stdin_encoding, output_encoding   "base64"
    collect                           names of files to hand back in `run.files`
    limits                            an object: every field of sandbox.Limits
    compile_only, alone               true
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
from typing import Any, cast, get_args

from sandbox import languages
from sandbox.model import Compiled, Execution, LimitName, Limits, Program
from sandbox.piston.faults import Transient
from sandbox.piston.fleet import Endpoint
from sandbox.piston.launched import QUEUE_S, RunRequest
from sandbox.piston.request import File, encode

_NAMES: frozenset[str] = frozenset(get_args(LimitName))


class Native:
    """What a client does with an endpoint that is sandbox.server."""

    def compile(self, endpoint: Endpoint, program: Program, limits: Limits) -> Compiled:
        """Compiles there; the server keeps what it compiled by content."""
        value = self._post(
            endpoint,
            program,
            {"compile_only": True, "limits": dataclasses.asdict(limits)},
            limits.wall_s,
        )
        stage = _object(value.get("compile"), "compile")
        refused = not stage.get("ok")
        return Compiled(
            program=program,
            ok=not refused,
            log=_bytes(stage.get("log_base64"), "log"),
            toolchain=str(stage.get("toolchain", ""))[:300],
            cached=bool(stage.get("cached")),
            execution=read_execution(stage["evidence"]) if stage.get("evidence") else None,
        )

    def run(
        self, endpoint: Endpoint, request: RunRequest, compile_limits: Limits, *, alone: bool
    ) -> Execution:
        """One run; the evidence is the server's own, nothing is derived here."""
        fields: dict[str, Any] = {
            "stdin": base64.b64encode(request.stdin).decode(),
            "stdin_encoding": "base64",
            "output_encoding": "base64",
            "args": list(request.args),
            "collect": list(request.collect),
            "limits": dataclasses.asdict(request.limits),
            "compile_limits": dataclasses.asdict(compile_limits),
            "alone": alone,
        }
        wall_s = 3 * request.limits.wall_s + compile_limits.wall_s
        value = self._post(endpoint, request.compiled.program, fields, wall_s, request)
        stage = _object(value.get("run"), "run")
        if "evidence" not in stage:
            raise Transient(f"{endpoint.url}: the program does not compile there any more")
        return read_execution(stage["evidence"])

    def _post(
        self,
        endpoint: Endpoint,
        program: Program,
        fields: dict[str, Any],
        wall_s: float,
        request: RunRequest | None = None,
    ) -> dict[str, Any]:
        row = languages.find(program.language)
        files = [File(n, c) for n, c in program.files.items()]
        own = [File(n, c).as_json() for n, c in ((request and request.files) or {}).items()]
        body = encode(row.name, "*", files, {**fields, "run_files": own, "gradebox": 1})
        kept = request.limits.output_bytes if request else 1 << 20
        value = endpoint.transport.post(
            "/api/v2/execute", body, QUEUE_S + wall_s, answer_max=3 * kept + (16 << 20)
        )
        return _object(value, "answer")


def write_execution(execution: Execution) -> dict[str, Any]:
    """The evidence as JSON, bytes in base64."""
    value = {
        f.name: getattr(execution, f.name)
        for f in dataclasses.fields(execution)
        if f.name not in ("stdout", "stderr", "files", "limits_hit")
    }
    value["limits_hit"] = sorted(execution.limits_hit)
    value["stdout"] = base64.b64encode(execution.stdout).decode()
    value["stderr"] = base64.b64encode(execution.stderr).decode()
    value["files"] = {n: base64.b64encode(c).decode() for n, c in execution.files.items()}
    return value


def read_execution(value: Any) -> Execution:
    """The reverse of `write_execution`; Transient when it does not fit."""
    said = dict(_object(value, "evidence"))
    try:
        files = _object(said.pop("files"), "files")
        hit = [str(n) for n in said.pop("limits_hit")]
        known = {f.name for f in dataclasses.fields(Execution)}
        execution = Execution(
            **{
                **{k: v for k, v in said.items() if k in known},
                "stdout": _bytes(said["stdout"], "stdout"),
                "stderr": _bytes(said["stderr"], "stderr"),
                "files": {str(n): _bytes(c, "file") for n, c in files.items()},
                "limits_hit": cast("frozenset[LimitName]", frozenset(hit) & _NAMES),
            }
        )
    except (KeyError, TypeError) as error:
        raise Transient(f"the server's evidence lacks or mistypes a field: {error}") from error
    numbers = (execution.cpu_s, execution.wall_s, execution.stdout_bytes)
    ends = (execution.exit_code, execution.signal, execution.memory_bytes)
    if not all(isinstance(n, (int, float)) and n >= 0 for n in numbers) or not all(
        e is None or isinstance(e, int) for e in ends
    ):
        raise Transient("the server's evidence has a figure that no run can have")
    named = isinstance(execution.killed_for, str) and execution.killed_for in _NAMES
    if execution.killed_for is not None and not named:
        raise Transient(f"the server's evidence names no limit: {execution.killed_for!r:.60}")
    return execution


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Transient(f"{name} is a JSON {type(value).__name__}, not an object")
    return value


def _bytes(value: Any, name: str) -> bytes:
    if value is None:
        return b""
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise Transient(f"{name} is not base64: {error}") from error

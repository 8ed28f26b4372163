"""Runs on gradebox.sandbox.server: no launcher, bytes travel as base64 both ways.

That server reports `gradebox` at GET / and takes these fields beside Piston's own:

    stdin_encoding, output_encoding   "base64"
    collect                           names of files to return in `run.files`
    run_files                         files of the run; `files` has the program's only
    limits, compile_limits            objects with every field of sandbox.Limits
    compile_only, alone               booleans
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from gradebox.sandbox import languages
from gradebox.sandbox.languages import Language
from gradebox.sandbox.model import Compiled, Execution, LimitName, Limits, Program
from gradebox.sandbox.piston.backend import COMPILE_LIMITS, RunRequest
from gradebox.sandbox.piston.faults import Transient
from gradebox.sandbox.piston.fleet import Endpoint, Lease
from gradebox.sandbox.piston.http.execute import QUEUE_S, ROUTE, File, encode

_LIMIT_NAMES: frozenset[str] = frozenset(get_args(LimitName))
_LEVELS = ("full", "delegated", "userns", "landlock", "none")
_FIGURES = frozenset({"cpu", "memory", "processes"})


def isolation(endpoint: Endpoint) -> tuple[str, frozenset[str]]:
    """Return an endpoint's isolation level and its exact figures, as far as it reports them."""
    reported = endpoint.server_sandbox or {}
    level, exact = reported.get("level"), reported.get("exact")
    if not endpoint.gradebox or level not in _LEVELS:
        return "piston", frozenset({"cpu"})
    names = {name for name in exact if isinstance(name, str)} if isinstance(exact, list) else set()
    return str(level), _FIGURES & names


class GradeboxServer:
    """The backend of endpoints that are gradebox.sandbox.server."""

    def can_run(self, endpoint: Endpoint, row: Language) -> bool:
        return row.name in endpoint.runtimes

    def toolchain(self, endpoint: Endpoint, row: Language) -> str:
        return f"{row.name} {endpoint.runtimes.get(row.name, '')}"

    def prepare(self, endpoint: Endpoint) -> None:
        """Do nothing: this server has no limits to find out."""

    def compile(self, endpoint: Endpoint, program: Program, limits: Limits) -> Compiled:
        """Compile a program; the server keeps it, by content."""
        fields = {"compile_only": True, "limits": dataclasses.asdict(limits)}
        value = self._post(endpoint, _body(program, fields), limits.wall_s)
        stage = _object(value.get("compile"), "compile")
        ok = stage.get("ok")
        if not isinstance(ok, bool):
            raise Transient(f"{endpoint.url}: compile.ok is {str(ok)[:40]}, not true or false")
        return Compiled(
            program=program,
            ok=ok,
            log=_bytes(stage.get("log_base64"), "log"),
            toolchain=str(stage.get("toolchain", ""))[:300],
            cached=bool(stage.get("cached")),
            execution=read_execution(stage["evidence"]) if stage.get("evidence") else None,
        )

    def run(self, lease: Lease, request: RunRequest) -> Execution:
        """Run a program; the evidence is the server's own."""
        files = [File(n, c) for n, c in request.files.items()]
        fields: dict[str, Any] = {
            "stdin_encoding": "base64",
            "output_encoding": "base64",
            "args": list(request.args),
            "collect": list(request.collect),
            "limits": dataclasses.asdict(request.limits),
            "compile_limits": dataclasses.asdict(COMPILE_LIMITS),
            "alone": lease.alone,
        }
        wall_s = 3 * request.limits.wall_s + COMPILE_LIMITS.wall_s
        program, output_bytes = request.compiled.program, request.limits.output_bytes
        body = _body(program, fields, {"stdin": request.stdin}, files)
        value = self._post(lease.endpoint, body, wall_s, output_bytes)
        stage = _object(value.get("run"), "run")
        if "evidence" not in stage:
            raise Transient(f"{lease.endpoint.url}: the program no longer compiles there")
        return read_execution(stage["evidence"])

    def _post(
        self, endpoint: Endpoint, body: bytes, wall_s: float, output_bytes: int = 1 << 20
    ) -> dict[str, Any]:
        answer_max = 3 * output_bytes + (16 << 20)
        return _object(endpoint.transport.post(ROUTE, body, QUEUE_S + wall_s, answer_max), "answer")


def _body(
    program: Program,
    fields: dict[str, Any],
    data: Mapping[str, bytes] | None = None,
    run_files: Sequence[File] = (),
) -> bytes:
    """Return the body of a request; see `encode`."""
    row = languages.find(program.language)
    files = [File(n, c) for n, c in program.files.items()]
    own = {**fields, "gradebox": 1}
    return encode(row.name, files, own, data=data, run_files=run_files)


def write_execution(execution: Execution) -> dict[str, Any]:
    """Return an Execution as JSON, bytes in base64."""
    return {
        **vars(execution),
        "limits_hit": sorted(execution.limits_hit),
        "stdout": base64.b64encode(execution.stdout).decode(),
        "stderr": base64.b64encode(execution.stderr).decode(),
        "files": {n: base64.b64encode(c).decode() for n, c in execution.files.items()},
    }


def read_execution(value: Any) -> Execution:
    """Read what `write_execution` wrote; raise Transient when it is malformed."""
    fields = {
        name: field
        for name, field in _object(value, "evidence").items()
        if name in Execution.__dataclass_fields__
    }
    try:
        execution = Execution(
            **{
                **fields,
                "stdout": _bytes(fields["stdout"], "stdout"),
                "stderr": _bytes(fields["stderr"], "stderr"),
                "files": {
                    n: _bytes(c, "file") for n, c in _object(fields["files"], "files").items()
                },
                "limits_hit": cast(
                    "frozenset[LimitName]", _LIMIT_NAMES & {str(n) for n in fields["limits_hit"]}
                ),
            }
        )
    except (KeyError, TypeError) as error:
        raise Transient(f"the server's evidence lacks or mistypes a field: {error}") from error
    numbers = (execution.cpu_s, execution.wall_s, execution.stdout_bytes)
    ends = (execution.exit_code, execution.signal, execution.memory_bytes)
    if not all(type(n) in (int, float) and 0 <= n < math.inf for n in numbers) or not all(
        e is None or type(e) is int for e in ends
    ):
        raise Transient("the server's evidence has a figure that no run can have")
    killed_for: Any = execution.killed_for
    if killed_for is not None and not (isinstance(killed_for, str) and killed_for in _LIMIT_NAMES):
        raise Transient(f"the server's evidence names an unknown limit: {killed_for!r:.60}")
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

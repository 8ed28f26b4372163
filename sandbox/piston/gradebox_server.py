"""The backend of endpoints that are gradebox.sandbox.server, which need no launcher.

That server reports `gradebox` at GET /. Its POST /api/v2/execute takes one field beside Piston's
own and then answers with the whole evidence, for what is no solution: checkers, single programs.

    gradebox: {compile_limits, run_limits?, run_files, alone}   limits have every field of Limits

Without `run_limits` the program is compiled only. The last `run_files` files are those of the run.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any, get_args

from gradebox.sandbox.errors import Transient
from gradebox.sandbox.languages import Language, find
from gradebox.sandbox.model import Compiled, Execution, LimitName, Limits, Program
from gradebox.sandbox.piston.backend import COMPILE_LIMITS, RunRequest
from gradebox.sandbox.piston.execute import QUEUE_S, ROUTE, SentFile, encode
from gradebox.sandbox.piston.fleet import Endpoint, Lease

PROTOCOL = 2  # of what is beyond Piston's
COMPILE_ANSWER_BYTES = 16 << 20
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
        wanted = {"compile_limits": vars(limits)}
        answer = _ask(endpoint, program, {}, wanted, {}, limits.wall_s, COMPILE_ANSWER_BYTES)
        stage = as_object(answer.get("compile"), "compile")
        ok = stage.get("ok")
        if not isinstance(ok, bool):
            raise Transient(f"{endpoint.url}: compile.ok is {str(ok)[:40]}, not true or false")
        return Compiled(
            program=program,
            ok=ok,
            log=as_bytes(stage.get("log_base64"), "log"),
            toolchain=str(stage.get("toolchain", ""))[:300],
            cached=bool(stage.get("cached")),
            execution=read_execution(stage["evidence"]) if stage.get("evidence") else None,
        )

    def run(self, lease: Lease, request: RunRequest) -> Execution:
        """Run a program; the evidence is the server's own."""
        limits = request.limits
        wanted = {
            "compile_limits": vars(COMPILE_LIMITS),
            "run_limits": vars(limits),
            "alone": lease.alone,
        }
        fields = {
            "stdin": base64.b64encode(request.stdin).decode(),
            "stdin_encoding": "base64",
            "args": list(request.args),
            "collect": list(request.collect),
        }
        wait_s = COMPILE_LIMITS.wall_s + 3 * limits.wall_s
        most = 2 * (limits.output_bytes + limits.stderr_bytes) + COMPILE_ANSWER_BYTES
        program = request.compiled.program
        answer = _ask(lease.endpoint, program, request.files, wanted, fields, wait_s, most)
        if as_object(answer.get("compile"), "compile").get("ok") is not True:
            raise Transient(f"{lease.endpoint.url}: the program no longer compiles there")
        found = read_execution(as_object(answer.get("run"), "run").get("evidence"))
        sizes = [len(found.stdout), *map(len, found.files.values())]
        if max(sizes) > limits.output_bytes or not set(found.files) <= set(request.collect):
            raise Transient(f"{lease.endpoint.url}: the evidence has more than the run may have")
        return found


def _ask(
    endpoint: Endpoint,
    program: Program,
    run_files: Mapping[str, bytes],
    wanted: Mapping[str, Any],
    fields: Mapping[str, Any],
    wait_s: float,
    answer_max: int,
) -> dict[str, Any]:
    files = [SentFile(*pair) for pair in (*program.files.items(), *run_files.items())]
    own = {**wanted, "run_files": len(run_files)}
    body = encode(find(program.language).name, files, {"gradebox": own, **fields})
    return as_object(endpoint.transport.post(ROUTE, body, QUEUE_S + wait_s, answer_max), "answer")


# ---- an Execution as JSON; what is read is hostile until it was checked ----

_LIMIT_NAMES: frozenset[str] = frozenset(get_args(LimitName))
_FLAGS = ("stdout_cut", "stderr_cut", "contended", "forked")


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
    """Read what `write_execution` wrote; raise Transient for what no run can have."""
    fields = as_object(value, "evidence")
    known = {name: v for name, v in fields.items() if name in Execution.__dataclass_fields__}
    try:
        known |= {
            "stdout": as_bytes(fields["stdout"], "stdout"),
            "stderr": as_bytes(fields["stderr"], "stderr"),
            "files": {
                n: as_bytes(c, "file") for n, c in as_object(fields["files"], "files").items()
            },
            "limits_hit": _LIMIT_NAMES & {str(n) for n in fields["limits_hit"]},
        }
        execution = Execution(**known)
    except (KeyError, TypeError) as error:
        raise Transient(f"the server's evidence lacks or mistypes a field: {error}") from error
    numbers = (execution.cpu_s, execution.wall_s, execution.stdout_bytes)
    ends = (execution.exit_code, execution.signal, execution.memory_bytes)
    if (
        not all(type(n) in (int, float) and 0 <= n < math.inf for n in numbers)
        or not all(e is None or type(e) is int for e in ends)
        or not all(type(getattr(execution, name)) is bool for name in _FLAGS)
    ):
        raise Transient("the server's evidence has a figure that no run can have")
    killed_for: Any = execution.killed_for
    if killed_for is not None and not (isinstance(killed_for, str) and killed_for in _LIMIT_NAMES):
        raise Transient(f"the server's evidence names an unknown limit: {killed_for!r:.60}")
    return execution


def as_object(value: Any, name: str) -> dict[str, Any]:
    """Return a JSON object; raise Transient for any other value."""
    if not isinstance(value, dict):
        raise Transient(f"{name} is a JSON {type(value).__name__}, not an object")
    return value


def as_bytes(value: Any, name: str) -> bytes:
    """Return the bytes of base64, none for null; raise Transient for any other value."""
    if value is None:
        return b""
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise Transient(f"{name} is not base64: {error}") from error

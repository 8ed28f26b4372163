"""The backend of endpoints that are gradebox.sandbox.server, which need no launcher.

That server reports `gradebox` at GET /. Its POST /api/v2/execute takes one field beside Piston's
own and then answers with the whole evidence, for what is no solution: checkers, single programs.

    gradebox: {compile_limits, run_limits?, run_files, alone}   limits have every field of Limits

Without `run_limits` the program is compiled only. The last `run_files` files are those of the run.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from gradebox.sandbox.languages import Language, find
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.piston.backend import COMPILE_LIMITS, RunRequest
from gradebox.sandbox.piston.faults import Transient
from gradebox.sandbox.piston.fleet import Endpoint, Lease
from gradebox.sandbox.piston.http.execute import QUEUE_S, ROUTE, File, encode
from gradebox.sandbox.piston.http.executions import as_bytes, as_object, read_execution

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
    files = [File(*pair) for pair in (*program.files.items(), *run_files.items())]
    own = {**wanted, "run_files": len(run_files)}
    body = encode(find(program.language).name, files, {"gradebox": own, **fields})
    return as_object(endpoint.transport.post(ROUTE, body, QUEUE_S + wait_s, answer_max), "answer")

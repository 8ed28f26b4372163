"""The backend of endpoints that are gradebox.sandbox.server, which need no launcher.

That server reports `gradebox` at GET /, with the version and the most runs of the route for raw
bytes (runs/), which has all runs. Compilations, and runs on a server without that route, are
requests of Piston's API with these fields beside Piston's own:

    stdin_encoding, output_encoding   "base64"
    collect                           names of files to return in `run.files`
    run_files                         files of the run; `files` has the program's only
    limits, compile_limits            objects with every field of sandbox.Limits
    compile_only, alone               booleans
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping, Sequence
from itertools import chain
from typing import Any

from gradebox.sandbox import languages
from gradebox.sandbox.languages import Language
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.piston.backend import COMPILE_LIMITS, RunRequest
from gradebox.sandbox.piston.faults import Transient
from gradebox.sandbox.piston.fleet import Endpoint, Lease
from gradebox.sandbox.piston.http.execute import QUEUE_S, ROUTE, File, encode
from gradebox.sandbox.piston.runs import frames
from gradebox.sandbox.piston.runs.exchange import RunsRequest, exchange
from gradebox.sandbox.piston.runs.executions import as_bytes, as_object, read_execution

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


def most_runs(about: Mapping[str, Any]) -> int:
    """Return how many runs a request may have, by what a server reports; 0: it has no such route.

    about  `gradebox` of GET /
    """
    runs = about.get("runs")
    if not isinstance(runs, dict) or runs.get("version") != frames.VERSION:
        return 0
    most = runs.get("most")
    return max(0, min(most, frames.MOST_RUNS)) if type(most) is int else 0


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
        stage = as_object(value.get("compile"), "compile")
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
        if lease.endpoint.most_runs:
            one = RunsRequest(
                request.compiled.program,
                [request.limits],
                [request.stdin],
                request.args,
                request.files,
                request.collect,
                lease.alone,
            )
            [execution] = chain.from_iterable(exchange(lease.endpoint.transport, one))
            return execution
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
        stage = as_object(value.get("run"), "run")
        if "evidence" not in stage:
            raise Transient(f"{lease.endpoint.url}: the program no longer compiles there")
        return read_execution(stage["evidence"])

    def run_many(
        self, lease: Lease, program: Program, limits: Sequence[Limits], stdins: Sequence[bytes]
    ) -> Generator[list[Execution], None, None]:
        """Run a program once for each input; at most the endpoint's `most_runs`."""
        return exchange(lease.endpoint.transport, RunsRequest(program, limits, stdins))

    def _post(
        self, endpoint: Endpoint, body: bytes, wall_s: float, output_bytes: int = 1 << 20
    ) -> dict[str, Any]:
        answer_max = 3 * output_bytes + (16 << 20)
        return as_object(
            endpoint.transport.post(ROUTE, body, QUEUE_S + wall_s, answer_max), "answer"
        )


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

"""The backend of endpoints that are gradebox.sandbox.server, which need no launcher.

That server reports `gradebox` at GET /, with the version and the most runs of the route for raw
bytes (runs/), which has all runs. Compilations are requests of Piston's API with two fields beside
Piston's own: `gradebox` 1, and `limits`, an object with every field of sandbox.Limits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping, Sequence
from itertools import chain
from typing import Any

from gradebox.sandbox.languages import Language, find
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.piston.backend import RunRequest
from gradebox.sandbox.piston.faults import Transient
from gradebox.sandbox.piston.fleet import Endpoint, Lease
from gradebox.sandbox.piston.http.execute import QUEUE_S, ROUTE, File, encode
from gradebox.sandbox.piston.runs import frames
from gradebox.sandbox.piston.runs.exchange import RunsRequest, exchange
from gradebox.sandbox.piston.runs.executions import as_bytes, as_object, read_execution

ANSWER_BYTES = 16 << 20  # of a compilation
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
        files = [File(name, content) for name, content in program.files.items()]
        fields = {"gradebox": 1, "limits": dataclasses.asdict(limits)}
        body = encode(find(program.language).name, files, fields)
        value = endpoint.transport.post(ROUTE, body, QUEUE_S + limits.wall_s, ANSWER_BYTES)
        stage = as_object(as_object(value, "answer").get("compile"), "compile")
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

    def run_many(
        self, lease: Lease, program: Program, limits: Sequence[Limits], stdins: Sequence[bytes]
    ) -> Generator[list[Execution], None, None]:
        """Run a program once for each input; at most the endpoint's `most_runs`."""
        return exchange(lease.endpoint.transport, RunsRequest(program, limits, stdins))

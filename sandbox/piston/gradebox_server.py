"""The backend of endpoints that are gradebox.sandbox.server, which need no launcher.

That server reports `gradebox` at GET /. Its POST /gradebox/run takes a `SingleBody` and answers
with a `SingleAnswer`, the whole evidence, for what is no solution: checkers, single programs. What
is read is hostile until it was checked, on both sides.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import msgspec

from gradebox.sandbox.errors import BadRequest, Transient
from gradebox.sandbox.languages import Language
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.piston.execute import COMPILE_LIMITS, QUEUE_S
from gradebox.sandbox.piston.fleet import Endpoint, Lease, RunRequest

PROTOCOL = 4  # of what is beyond Piston's
ROUTE = "/gradebox/run"
COMPILE_ANSWER_BYTES = 16 << 20
_LEVELS = ("full", "delegated", "userns", "landlock", "none")
_FIGURES = frozenset({"cpu", "memory", "processes"})


class SingleBody(msgspec.Struct, forbid_unknown_fields=True):
    """A program to compile and to run; without `run_limits`, to compile only."""

    language: str
    files: dict[str, bytes]
    compile_limits: Limits
    run_limits: Limits | None = None
    stdin: bytes = b""
    args: list[str] = []
    run_files: dict[str, bytes] = {}
    collect: list[str] = []
    alone: bool = False


class SingleAnswer(msgspec.Struct):
    """What `Sandbox.compile`, but for the program, and `Sandbox.run` returned."""

    compiled: Compiled
    run: Execution | None = None


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
        body = SingleBody(program.language, dict(program.files), limits)
        found = _ask(endpoint, body, limits.wall_s, COMPILE_ANSWER_BYTES).compiled
        return replace(found, program=program, toolchain=found.toolchain[:300], artifact=None)

    def run(self, lease: Lease, request: RunRequest) -> Execution:
        """Run a program; the evidence is the server's own."""
        limits, program = request.limits, request.compiled.program
        body = SingleBody(
            program.language,
            dict(program.files),
            COMPILE_LIMITS,
            limits,
            request.stdin,
            list(request.args),
            dict(request.files),
            list(request.collect),
            lease.alone,
        )
        wait_s = COMPILE_LIMITS.wall_s + 3 * limits.wall_s
        most = 2 * (limits.output_bytes + limits.stderr_bytes) + COMPILE_ANSWER_BYTES
        found = _ask(lease.endpoint, body, wait_s, most).run
        if found is None:
            raise Transient(f"{lease.endpoint.url}: the program no longer compiles there")
        sizes = [len(found.stdout), *map(len, found.files.values())]
        if max(sizes) > limits.output_bytes or not set(found.files) <= set(request.collect):
            raise Transient(f"{lease.endpoint.url}: the evidence has more than the run may have")
        return found


def _ask(endpoint: Endpoint, body: SingleBody, wait_s: float, answer_max: int) -> SingleAnswer:
    try:
        raw = msgspec.json.encode(body)
    except UnicodeEncodeError as error:
        raise BadRequest(f"an argument or a file name is not text: {error}") from None
    return read_answer(endpoint.transport.post(ROUTE, raw, QUEUE_S + wait_s, answer_max))


def read_answer(value: Any) -> SingleAnswer:
    """Return a server's answer; raise Transient for what no program can have."""
    try:
        answer = msgspec.convert(value, SingleAnswer)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise Transient(f"the server's evidence is not one: {error}") from None
    for x in filter(None, (answer.compiled.execution, answer.run)):
        if not all(0 <= n < math.inf for n in (x.cpu_s, x.wall_s, x.stdout_bytes)):
            raise Transient("the server's evidence has a figure that no run can have")
    return answer

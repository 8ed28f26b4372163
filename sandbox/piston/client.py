"""`PistonSandbox`: one or several Piston servers as a sandbox.

    compile ─▶ a Compiled that any endpoint can run
    run ─▶ lease an endpoint ─▶ one request ─▶ Execution
             ▲ Transient: another endpoint, or the same one later ┘

Jobs are stateless, so a request that failed is simply sent again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

from gradebox.sandbox import languages
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.common.cpus import usable_cores
from gradebox.sandbox.endpoints import endpoints_from
from gradebox.sandbox.errors import (
    BadRequest,
    MissingToolchain,
    Refused,
    SandboxError,
    SandboxUnavailable,
    Transient,
)
from gradebox.sandbox.languages import Language
from gradebox.sandbox.model import (
    Compiled,
    Description,
    Execution,
    Interaction,
    Limits,
    Program,
)
from gradebox.sandbox.piston.execute import COMPILE_LIMITS
from gradebox.sandbox.piston.fleet import Endpoint, Fleet, Lease, RunRequest
from gradebox.sandbox.piston.gradebox_server import GradeboxServer, isolation
from gradebox.sandbox.piston.launcher import check_names
from gradebox.sandbox.piston.packages import PACKAGES
from gradebox.sandbox.piston.probe import identify
from gradebox.sandbox.piston.stock_piston import StockPiston
from gradebox.sandbox.piston.transport import TOKEN_VARIABLE, Transport
from gradebox.sandbox.protocol import Capability

log = logging.getLogger("gradebox.piston")

DESTROYED_AFTER = 3  # destroyed reports of one run: then the program is held responsible

T = TypeVar("T")


class PistonSandbox(Closeable):
    """Implements `sandbox.Sandbox` over Piston's HTTP API v2.

    endpoints             URLs; none: PISTON_ENDPOINTS or PISTON_ENDPOINT, else http://localhost:2000
    slots                 runs at once over all endpoints; 0: one for each core of this machine
    endpoint_concurrency  requests at once to one endpoint; None: the slots shared out evenly
    package               "piston": the packages python and gcc; "codeforces": the package of
                          that name, used as a runtime only
    token                 bearer token; None: the value of GRADEBOX_ENDPOINT_TOKEN

    Raises SandboxUnavailable when an endpoint does not answer.
    """

    def __init__(
        self,
        endpoints: Sequence[str] | None = None,
        *,
        slots: int,
        endpoint_concurrency: int | None = None,
        package: Literal["piston", "codeforces"] = "piston",
        token: str | None = None,
    ) -> None:
        if slots < 0:
            raise BadRequest(f"slots is {slots}; it must be at least 1, or 0 for one a core")
        slots = slots or usable_cores()
        if endpoint_concurrency is not None and endpoint_concurrency < 1:
            raise BadRequest(
                f"endpoint concurrency is {endpoint_concurrency}; it must be at least 1"
            )
        urls = endpoints_from(endpoints)
        token = token or os.environ.get(TOKEN_VARIABLE) or None
        cap = endpoint_concurrency or -(-slots // len(urls))
        transports = [Transport(url, token=token) for url in urls]
        members = [Endpoint(t.base_url, t, cap) for t in transports]
        self._slots = min(slots, cap * len(members))
        self._package = package
        self._stock = StockPiston(package)
        self._gradebox = GradeboxServer()
        self._fleet = Fleet(members, identify)
        try:
            for endpoint in members:
                identify(endpoint)
        except Refused as error:
            self._fleet.close()
            raise SandboxUnavailable(
                f"the Piston server can't be used: {error} (docs/piston.md); or use --sandbox local"
            ) from error
        except Transient as error:
            self._fleet.close()
            raise SandboxUnavailable(
                f"no Piston server answers at {endpoint.url}: {error}; start one "
                "(docs/piston.md) or use --sandbox local"
            ) from error

    @property
    def capabilities(self) -> frozenset[Capability]:
        """See `Sandbox.capabilities`. "grade": every endpoint is a server of ours."""
        ours = all(endpoint.gradebox for endpoint in self._fleet.endpoints)
        return frozenset({"collect", "alone", "grade"} if ours else {"collect", "alone"})

    @property
    def slots(self) -> int:
        return self._slots

    def compile(
        self, program: Program, limits: Limits | None = None, *, interpreted: bool = True
    ) -> Compiled:
        """Compile on one endpoint; other endpoints compile when a run first gets there."""
        row = languages.find(program.language)
        if not program.files:
            raise BadRequest("a program needs at least one file")
        check_names(list(program.files))
        self._require(row)

        def compile_once(lease: Lease) -> Compiled:
            backend = self._backend(lease.endpoint)
            return backend.compile(lease.endpoint, program, limits or COMPILE_LIMITS)

        if row.compile is None and not interpreted:
            return self._not_compiled(program, row)
        try:
            return self._attempt(compile_once, row)[0]
        except SandboxError as fault:
            if row.compile is not None:
                raise
            log.info("not compiled before its runs: %s", fault)
            return self._not_compiled(program, row)

    def _not_compiled(self, program: Program, row: Language) -> Compiled:
        able = (e for e in self._fleet.endpoints if self._backend(e).can_run(e, row))
        toolchain = next((self._backend(e).toolchain(e, row) for e in able), "")
        return Compiled(program, True, toolchain=toolchain)

    def run(
        self,
        compiled: Compiled,
        limits: Limits,
        *,
        stdin: bytes = b"",
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        collect: Sequence[str] = (),
        alone: bool = False,
    ) -> Execution:
        """Run on one endpoint; `alone` keeps this client's other runs off that endpoint."""
        check_limits(limits)
        files = files or {}
        check_names([*files, *collect])
        if any("\0" in a for a in args):
            raise BadRequest("an argument holds a NUL character")
        if not compiled.ok:
            raise BadRequest("the program did not compile, so it can't be run")
        request = RunRequest(compiled, limits, stdin, args, files, collect)
        execution = self._run(request, alone)
        if execution.killed_for == "wall" and execution.contended and not alone:
            # wall time on a busy server says little: a second run, alone, decides
            execution = self._run(request, True)
        return execution

    def ask(self, language: str, question: Callable[[Endpoint], T]) -> T:
        """Return the answer of a server of ours that has a language; ask again after its faults.

        question  asks an endpoint; raises Transient or Refused
        """
        row = languages.find(language)
        self._require(row)
        return self._fleet.attempt(
            lambda e: e.gradebox and self._can_run(row, e), lambda lease: question(lease.endpoint)
        )

    def interact(self, *args: Any, **options: Any) -> Interaction:
        """Raise SandboxUnavailable: the program would share a box with its interactor's answer."""
        raise SandboxUnavailable(
            "a Piston server can't run two programs apart that talk to each other; "
            "use --sandbox local for interactive problems"
        )

    def check(self, names: Sequence[str]) -> None:
        """Raise SandboxError where a server fails its probe or none has one of these languages."""
        for endpoint in self._fleet.endpoints:
            self._backend(endpoint).prepare(endpoint)
        for name in names:
            self._require(languages.find(name))

    def describe(self) -> Description:
        """Return servers, versions and limits found; `advice` names settings to raise."""
        toolchains: dict[str, str] = {}
        endpoints = self._fleet.endpoints
        for endpoint in endpoints:
            backend = self._backend(endpoint)
            try:
                backend.prepare(endpoint)
            except SandboxError as error:
                log.warning("%s could not be probed: %s", endpoint.url, error)
            for row in languages.TABLE.values():
                if backend.can_run(endpoint, row):
                    toolchains.setdefault(row.name, backend.toolchain(endpoint, row))
        levels, exact = zip(*(isolation(endpoint) for endpoint in endpoints), strict=True)
        return Description(
            backend="piston",
            level=levels[0] if len(set(levels)) == 1 else "mixed",
            exact=frozenset.intersection(*exact),
            toolchains=toolchains,
            details={
                "servers": sorted({e.version for e in endpoints}),
                "endpoints": len(endpoints),
                "package": self._package,
                "behind": [e.server_sandbox for e in endpoints if e.server_sandbox],
                "advice": sorted({line for e in endpoints for line in e.limits.advice}),
            },
            addresses=tuple(e.url for e in endpoints),
        )

    def close(self) -> None:
        self._fleet.close()

    def _backend(self, endpoint: Endpoint) -> GradeboxServer | StockPiston:
        return self._gradebox if endpoint.gradebox else self._stock

    def _run(self, request: RunRequest, alone: bool) -> Execution:
        row = languages.find(request.compiled.program.language)
        destroyed = 0

        def run_once(lease: Lease) -> Execution:
            nonlocal destroyed
            try:
                return self._backend(lease.endpoint).run(lease, request)
            except Transient as fault:
                destroyed += fault.evidence is not None
                if fault.evidence is None or destroyed < DESTROYED_AFTER:
                    raise
                return fault.evidence

        execution, shared = self._attempt(run_once, row, alone=alone)
        return replace(execution, contended=True) if shared else execution

    def _attempt(
        self, once: Callable[[Lease], T], row: Language, *, alone: bool = False
    ) -> tuple[T, bool]:
        """Try until it works; return the result, and whether it shared its endpoint.

        A server of ours knows itself which runs shared a core, and reports it.
        """

        def tried(lease: Lease) -> tuple[T, bool]:
            value = once(lease)
            return value, not lease.endpoint.gradebox and self._fleet.shared(lease)

        return self._fleet.attempt(partial(self._can_run, row), tried, alone=alone)

    def _can_run(self, row: Language, endpoint: Endpoint) -> bool:
        return self._backend(endpoint).can_run(endpoint, row)

    def _require(self, row: Language) -> None:
        """Raise MissingToolchain, with what to install, when no endpoint has the language."""
        endpoints = self._fleet.endpoints
        if any(self._backend(e).can_run(e, row) for e in endpoints):
            return
        package = self._stock.package
        if not package.supports(row):
            able = [name for name, other in PACKAGES.items() if other.supports(row)]
            where = f"with --piston-package {self._package}" if able else "on a Piston server"
            remedies = [*(f"--piston-package {name}" for name in able), "--sandbox local"]
            raise MissingToolchain(f"{row.name} can't be run {where}; use {' or '.join(remedies)}")
        installed = ", ".join(sorted({name for e in endpoints for name in e.runtimes}))[:300]
        raise MissingToolchain(
            f"no Piston endpoint has what {row.name} needs "
            f"({', '.join(package.needs(row))}; installed: {installed or 'none'}"
            "); install the packages (docs/piston.md) or use --sandbox local"
        )


def check_limits(limits: Limits) -> None:
    """Raise BadRequest for a limit under which no run is possible."""
    for name, value in vars(limits).items():
        least = 0.0 if name in ("output_bytes", "stderr_bytes", "file_size_bytes") else 1e-3
        if not least <= value < 1e15:
            raise BadRequest(f"limit {name} is {value}; it must be from {least:g} to 1e15")

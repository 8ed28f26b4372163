"""`PistonSandbox`: the sandbox that is one or several Piston servers.

    compile ─▶ a Compiled that any endpoint can run
    run ─▶ lease an endpoint ─▶ one request ─▶ Execution
             ▲ Transient: another endpoint, or the same one later ┘

Jobs are stateless, so a request that failed is simply sent again.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from sandbox import languages
from sandbox.closing import Closing
from sandbox.errors import BadRequest, MissingToolchain, SandboxError, SandboxUnavailable
from sandbox.languages import Language
from sandbox.model import MIB, Compiled, Description, Execution, Interaction, Limits, Program
from sandbox.piston.build import Built
from sandbox.piston.endpoints import endpoints_from
from sandbox.piston.evidence import Tampered, forged_execution
from sandbox.piston.faults import Refused, Transient
from sandbox.piston.fleet import Endpoint, Fleet, Lease
from sandbox.piston.launched import Launched, RunRequest
from sandbox.piston.native import Native
from sandbox.piston.probe import identify
from sandbox.piston.request import check_names
from sandbox.piston.transport import Transport
from sandbox.protocol import Capability

log = logging.getLogger("gradebox.piston")

TOKEN_VARIABLE = "GRADEBOX_ENDPOINT_TOKEN"
ATTEMPTS = 6  # for one run, over all endpoints
FORGED_AFTER = 3  # damaged reports of one run after which it is the program's own doing
COMPILE_LIMITS = Limits(
    cpu_s=30, wall_s=60, memory_bytes=2048 * MIB, output_bytes=256 * MIB, processes=64
)

T = TypeVar("T")


class PistonSandbox(Closing):
    """Implements `sandbox.Sandbox` over Piston's HTTP API v2.

    endpoints             URLs; none: PISTON_ENDPOINTS, else http://localhost:2000
    slots                 runs wanted at once, over all endpoints (0: one a core here)
    endpoint_concurrency  requests at once to one endpoint (default: slots shared out)
    package               "piston": the packages python and gcc; "codeforces": that one,
                          used as a runtime only
    token                 bearer token, for servers that ask for one (default: the
                          variable GRADEBOX_ENDPOINT_TOKEN)

    Raises SandboxUnavailable when an endpoint named by the caller does not answer.
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
        slots = slots or len(os.sched_getaffinity(0))
        if endpoint_concurrency is not None and endpoint_concurrency < 1:
            raise BadRequest(
                f"endpoint concurrency is {endpoint_concurrency}; it must be at least 1"
            )
        urls = endpoints_from(endpoints)
        token = token or os.environ.get(TOKEN_VARIABLE) or None
        cap = endpoint_concurrency or -(-slots // len(urls))
        members = [Endpoint(url, Transport(url, token=token), cap) for url in urls]
        self._slots = min(slots, cap * len(members))
        self._launched = Launched(package)
        self._native = Native()
        self._package = package
        self._fleet = Fleet(members, identify)
        try:
            self._identify_all(members)
        except SandboxError:
            self._fleet.close()
            raise

    def _identify_all(self, members: Sequence[Endpoint]) -> None:
        for endpoint in members:
            try:
                identify(endpoint)
            except (Transient, Refused) as error:
                raise SandboxUnavailable(
                    f"no Piston server answers at {endpoint.url}: {error}; start one "
                    "(docs/piston.md) or use --sandbox local"
                ) from error

    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset({"collect", "alone"})

    @property
    def slots(self) -> int:
        return self._slots

    def compile(self, program: Program, limits: Limits | None = None) -> Compiled:
        """Compiles on one endpoint; others do so when a run first gets there."""
        row = languages.find(program.language)
        if not program.files:
            raise BadRequest("a program needs at least one file")
        check_names(list(program.files))
        wanted = limits or COMPILE_LIMITS
        self._require(row)

        def once(lease: Lease) -> Compiled:
            endpoint = lease.endpoint
            if endpoint.gradebox:
                return self._native.compile(endpoint, program, wanted)
            built, cached = self._launched.compile(endpoint, program, wanted)
            return self._compiled(program, row, endpoint, built, cached)

        return self._attempts(once, lambda e: self._able(e, row))[0]

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
        """Runs it on one endpoint; `alone` keeps this client's other runs off that one."""
        check_limits(limits)
        check_names([*(files or {}), *collect])
        if any("\0" in a for a in args):
            raise BadRequest("an argument holds a NUL")
        if not compiled.ok:
            raise BadRequest("the program did not compile, so it can't be run")
        row = languages.find(compiled.program.language)
        request = RunRequest(compiled, limits, stdin, args, files, collect)
        execution, shared = self._run(request, row, alone)
        if execution.killed_for == "wall" and shared and not alone:
            # a busy server's wall clock says little: what counts is a run by itself
            execution, shared = self._run(request, row, True)
        return _contended(execution) if shared else execution

    def interact(
        self,
        first: Compiled,
        second: Compiled,
        first_limits: Limits,
        second_limits: Limits,
        *,
        second_args: Sequence[str] = (),
        second_files: Mapping[str, bytes] | None = None,
        second_collect: Sequence[str] = (),
        transcript_bytes: int = 65536,
    ) -> Interaction:
        """Not possible: both would share one box, and the interactor knows the answer."""
        raise SandboxUnavailable(
            "a Piston server can't run two programs apart that talk to each other; "
            "use --sandbox local for interactive problems"
        )

    def describe(self) -> Description:
        """Servers, versions and learnt limits; `advice` names settings to raise."""
        toolchains: dict[str, str] = {}
        for endpoint in self._fleet.endpoints:
            if not endpoint.gradebox and self._launched.runtime in endpoint.runtimes:
                try:
                    self._launched.prepare(endpoint)
                except SandboxError as error:
                    log.warning("%s could not be probed: %s", endpoint.url, error)
            for row in languages.TABLE.values():
                if self._able(endpoint, row):
                    toolchains.setdefault(row.name, self._toolchain(row, endpoint))
        learnt = [e.learnt for e in self._fleet.endpoints]
        return Description(
            backend="piston",
            level="piston",
            exact=frozenset({"cpu"}),
            toolchains=toolchains,
            details={
                "servers": sorted({e.version for e in self._fleet.endpoints}),
                "endpoints": len(self._fleet.endpoints),
                "package": self._package,
                "behind": [e.behind for e in self._fleet.endpoints if e.behind],
                "advice": sorted({line for one in learnt for line in one.advice}),
            },
        )

    def close(self) -> None:
        self._fleet.close()

    def _run(self, request: RunRequest, row: Language, alone: bool) -> tuple[Execution, bool]:
        def once(lease: Lease) -> Execution:
            if not lease.endpoint.gradebox:
                return self._launched.run(lease.endpoint, request, COMPILE_LIMITS, lease.waited)
            began = time.monotonic()
            done = self._native.run(lease.endpoint, request, COMPILE_LIMITS, alone=alone)
            lease.waited(time.monotonic() - began - done.wall_s)
            return done

        def forged(fault: Tampered) -> Execution | None:
            if not fault.forged or fault.stage is None:
                return None
            return forged_execution(fault.stage, request.limits)

        return self._attempts(once, lambda e: self._able(e, row), alone=alone, forged=forged)

    def _attempts(
        self,
        once: Callable[[Lease], T],
        able: Callable[[Endpoint], bool],
        *,
        alone: bool = False,
        forged: Callable[[Tampered], T | None] | None = None,
    ) -> tuple[T, bool]:
        """Tries until it works: what came, and whether it shared its endpoint.

        A refusal is final for its endpoint; a fault sends the next try elsewhere first.
        """
        avoid: list[Endpoint] = []
        refused: list[Endpoint] = []
        last: SandboxError = SandboxUnavailable("no Piston endpoint has what this run needs")
        damaged = 0
        for _ in range(ATTEMPTS):
            if not any(able(e) and e not in refused for e in self._fleet.endpoints):
                break
            lease = self._fleet.acquire(
                lambda e: able(e) and e not in refused, alone=alone, avoid=avoid
            )
            try:
                value = once(lease)
            except Refused as fault:
                self._fleet.settle(lease)
                refused.append(lease.endpoint)
                last = fault
            except Transient as fault:
                tampered = isinstance(fault, Tampered)
                shared = self._fleet.settle(lease, failed=not tampered, pause_s=fault.pause_s)
                log.info("%s: tried again: %s", lease.endpoint.url, fault)
                avoid.append(lease.endpoint)
                lease.endpoint.fault = str(fault)
                last = fault
                damaged += isinstance(fault, Tampered) and fault.forged
                if isinstance(fault, Tampered) and damaged >= FORGED_AFTER and forged is not None:
                    given = forged(fault)
                    if given is not None:
                        return given, shared
            except BaseException:
                self._fleet.settle(lease)
                raise
            else:
                return value, self._fleet.settle(lease, waited_s=lease.waited_s)
        raise last

    def _able(self, endpoint: Endpoint, row: Language) -> bool:
        if endpoint.gradebox:
            return row.name in endpoint.runtimes
        return self._launched.runnable(row) and self._launched.able(endpoint, row)

    def _require(self, row: Language) -> None:
        """MissingToolchain, with what to install, when no endpoint has the language."""
        if any(self._able(e, row) for e in self._fleet.endpoints):
            return
        have = sorted({name for e in self._fleet.endpoints for name in e.runtimes})
        if not self._launched.runnable(row):
            raise MissingToolchain(
                f"{row.name} can't be run on a Piston server; use --sandbox local"
            )
        raise MissingToolchain(
            f"no Piston endpoint has what {row.name} needs "
            f"({', '.join(self._launched.needs(row))}; installed: {', '.join(have)[:300] or 'none'}"
            "); install the packages (docs/piston.md) or use --sandbox local"
        )

    def _compiled(
        self, program: Program, row: Language, endpoint: Endpoint, built: Built | None, cached: bool
    ) -> Compiled:
        return Compiled(
            program=program,
            ok=built is None or built.code == 0,
            log=b"" if built is None else built.log,
            toolchain=self._toolchain(row, endpoint),
            cached=cached,
        )

    def _toolchain(self, row: Language, endpoint: Endpoint) -> str:
        if endpoint.gradebox:
            return f"{row.name} {endpoint.runtimes.get(row.name, '')}"
        name = self._launched.needs(row)[-1]
        return f"{name} {endpoint.runtimes.get(name, '')} ({endpoint.version})"


def check_limits(limits: Limits) -> None:
    """BadRequest for a limit that no run could live under; nothing has run by then."""
    for name, value in vars(limits).items():
        least = 0.0 if name in ("output_bytes", "stderr_bytes", "file_size_bytes") else 1e-3
        if not least <= value < 1e15:
            raise BadRequest(f"limit {name} is {value}; it must be from {least:g} to 1e15")


def _contended(execution: Execution) -> Execution:
    return execution if execution.contended else replace(execution, contended=True)

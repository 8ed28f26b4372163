"""Several servers used as one, each with its own limit of requests at once.

    acquire ─▶ Lease(endpoint) ─▶ release(good | failed)

A request goes to the least busy endpoint, so that slow ones get fewer. One that fails is left out
for a pause that doubles, and is asked for its runtimes before it is used again. One that is busy
(429) is paused in the same way and not asked: that would be two more requests.

`Fleet.attempt` tries one piece of work on several servers. A refusal is final for its endpoint;
after any other fault the next try prefers another. Servers that are busy (429) are asked for as
long as the fleet waits for servers that fail.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import Refused, SandboxError, SandboxUnavailable, Transient
from gradebox.sandbox.model import Compiled, Limits
from gradebox.sandbox.piston.execute import ServerLimits
from gradebox.sandbox.piston.transport import Transport

log = logging.getLogger("gradebox.piston")

T = TypeVar("T")

ATTEMPTS = 6  # for one run, over all endpoints
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 30.0
NO_ENDPOINT = (
    "no Piston endpoint has the packages for this run's language; install them (docs/piston.md) or "
    "use --sandbox local"
)
PROBLEMS_KNOWN = 10_000  # by their names, of each server
WAIT_S = 120.0  # how long runs wait for servers that fail: a restart takes less

CanRun = Callable[["Endpoint"], bool]


@dataclass(frozen=True)
class RunRequest:
    """One run as the caller asked for it; the fields are those of Sandbox.run."""

    compiled: Compiled
    limits: Limits
    stdin: bytes = b""
    args: Sequence[str] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    collect: Sequence[str] = ()


@dataclass(eq=False)
class Endpoint:
    """One server: what it is, what it allows, and the requests under way there.

    cap              requests at once, at most
    runtimes         language or alias → version, as the server lists them
    gradebox         it is gradebox.sandbox.server, which needs no launcher
    server_sandbox   that server's description of its own sandbox
    platform         machine and C library; binaries run on every endpoint of the same platform
    fixed_addresses  programs can be started without address space randomisation
    limits           found by probing, when `probed`
    failures         in a row, the first one at `failing_since`
    last_fault       its latest failure, for messages
    doubtful         it failed, otherwise than by being busy, and has not worked since
    reserved         held for a run that is to be alone
    starts           requests started so far
    counted_starts   requests up to this one belong to failures that were counted
    problems         names of the problems that it was sent, one at a time
    """

    url: str
    transport: Transport
    cap: int
    runtimes: dict[str, str] = field(default_factory=dict)
    version: str = ""
    gradebox: bool = False
    server_sandbox: dict[str, Any] = field(default_factory=dict)
    platform: str = ""
    fixed_addresses: bool = False
    limits: ServerLimits = field(default_factory=ServerLimits)
    probed: bool = False
    probing: threading.Lock = field(default_factory=threading.Lock)
    inflight: int = 0
    failures: int = 0
    failing_since: float = 0.0
    last_fault: str = ""
    doubtful: bool = False
    down_until: float = 0.0
    reserved: bool = False
    starts: int = 0
    counted_starts: int = 0
    problems: LruCache[Hashable, str] = field(default_factory=lambda: LruCache(PROBLEMS_KNOWN))
    uploading: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class Lease:
    """The right to send one request to an endpoint.

    shared    another request was under way when this one started
    number    of this request at its endpoint
    """

    endpoint: Endpoint
    alone: bool
    shared: bool
    number: int


class Fleet:
    """Hands out leases. Any thread may call any method.

    check   asks an endpoint that failed whether it works again; raises Transient or Refused
    wait_s  how long a request waits for endpoints that fail; None: WAIT_S
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        check: Callable[[Endpoint], None],
        clock: Callable[[], float] = time.monotonic,
        *,
        wait_s: float | None = None,
    ) -> None:
        self.endpoints = list(endpoints)
        self._check = check
        self._clock = clock
        self._wait_s = WAIT_S if wait_s is None else wait_s
        self._changed = threading.Condition()
        self._closed = False

    def acquire(
        self, can_run: CanRun, *, alone: bool = False, avoid: Collection[Endpoint] = ()
    ) -> Lease:
        """Wait for a lease of an endpoint that can run the request.

        alone  wait until nothing else runs on the endpoint, and keep other runs away
        avoid  endpoints to use only when there is no other

        Raises SandboxUnavailable when no endpoint can run it, or all have failed for `wait_s`.
        """
        while True:
            lease = self._take(can_run, alone, avoid)
            if not lease.endpoint.doubtful or self._works_again(lease):
                return lease

    def attempt(
        self,
        can_run: CanRun,
        once: Callable[[Lease], T],
        *,
        alone: bool = False,
        patience_s: float = math.inf,
    ) -> T:
        """Return what `once` returns for the lease of an endpoint; try again after its faults.

        patience_s  no further try begins later than this

        Raises the last fault when there were ATTEMPTS faults in a row, or no endpoint is left.
        """
        began, faults = self._clock(), 0
        avoid: list[Endpoint] = []
        refused: list[Endpoint] = []
        last: SandboxError = SandboxUnavailable(NO_ENDPOINT)

        def able(endpoint: Endpoint) -> bool:
            return endpoint not in refused and can_run(endpoint)

        while faults < ATTEMPTS and any(map(able, self.endpoints)):
            if self._clock() - began > patience_s:
                break
            lease = self.acquire(able, alone=alone, avoid=avoid)
            endpoint = lease.endpoint
            try:
                found = once(lease)
            except Refused as fault:
                self.release(lease)
                refused.append(endpoint)
                faults, last = faults + 1, fault
            except Transient as fault:
                self.release(
                    lease, failed=fault.server_failed, busy=fault.busy, pause_s=fault.pause_s
                )
                log.info("%s: tried again: %s", endpoint.url, fault)
                avoid.append(endpoint)
                endpoint.last_fault = str(fault)
                faults, last = faults + (not fault.busy), fault
            except BaseException:
                self.release(lease)
                raise
            else:
                self.release(lease)
                return found
        raise last

    def release(
        self, lease: Lease, *, failed: bool = False, busy: bool = False, pause_s: float = 0.0
    ) -> None:
        """Give a lease back.

        busy     the failure shows that the server works
        pause_s  what a failing server asked for, kept up to LONGEST_PAUSE_S
        """
        endpoint = lease.endpoint
        with self._changed:
            endpoint.inflight -= 1
            if lease.alone:
                endpoint.reserved = False
            if failed:
                self._pause(endpoint, lease, pause_s)
                endpoint.doubtful |= not busy
            else:
                endpoint.failures, endpoint.doubtful = 0, False
            self._changed.notify_all()

    def shared(self, lease: Lease) -> bool:
        """Return whether another request was under way at any time since the lease began."""
        return lease.shared or lease.endpoint.starts != lease.number

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connections that are not in use."""
        for endpoint in self.endpoints:
            endpoint.transport.close()

    def _pause(self, endpoint: Endpoint, lease: Lease, asked_s: float) -> None:
        """Leave an endpoint out. A fault that fails every request under way counts once."""
        if not endpoint.failures:
            endpoint.failing_since = self._clock()
        if lease.number > endpoint.counted_starts:
            endpoint.failures += 1
            endpoint.counted_starts = endpoint.starts
        pause_s = max(asked_s, FIRST_PAUSE_S * 2.0 ** (endpoint.failures - 1))
        until = self._clock() + min(LONGEST_PAUSE_S, pause_s)
        endpoint.down_until = max(endpoint.down_until, until)

    def _take(self, can_run: CanRun, alone: bool, avoid: Collection[Endpoint]) -> Lease:
        reserved: Endpoint | None = None
        with self._changed:
            while True:
                if self._closed:
                    raise SandboxUnavailable("the Piston client is closed")
                able = [e for e in self.endpoints if can_run(e)]
                if not able:
                    raise SandboxUnavailable(NO_ENDPOINT)
                now = self._clock()
                if all(e.down_until > now >= e.failing_since + self._wait_s for e in able):
                    raise SandboxUnavailable(_given_up(able, now))
                preferred = [e for e in able if e not in avoid and e.failures < 3] or able
                if reserved is not None and reserved not in preferred:
                    reserved.reserved, reserved = False, None
                endpoint = reserved or self._free(preferred, now, alone)
                if endpoint is not None and alone:
                    reserved = endpoint
                    endpoint.reserved = True
                    if endpoint.inflight:
                        endpoint = None
                if endpoint is not None:
                    endpoint.inflight += 1
                    endpoint.starts += 1
                    return Lease(endpoint, alone, endpoint.inflight > 1, endpoint.starts)
                soonest = min(
                    (e.down_until - now for e in preferred if e.down_until > now), default=1
                )
                self._changed.wait(max(0.01, min(1.0, soonest)))

    @staticmethod
    def _free(endpoints: Sequence[Endpoint], now: float, alone: bool) -> Endpoint | None:
        free = [e for e in endpoints if e.down_until <= now and not e.reserved]
        if not alone:
            free = [e for e in free if e.inflight < e.cap]
        return min(free, key=lambda e: (e.inflight + 1) / e.cap, default=None)

    def _works_again(self, lease: Lease) -> bool:
        """Ask a server that failed before; release the lease when it still fails.

        A refusal is a failure here: a proxy that has lost its server answers 404.
        """
        try:
            self._check(lease.endpoint)
        except (Transient, Refused) as fault:
            lease.endpoint.last_fault = str(fault)
            self.release(lease, failed=True)
            return False
        except BaseException:
            self.release(lease)
            raise
        return True


def _given_up(endpoints: Sequence[Endpoint], now: float) -> str:
    return "no Piston endpoint answers any more: " + ", ".join(
        f"{e.url} ({e.failures} failures in {now - e.failing_since:.0f} s, the last: "
        f"{e.last_fault[:200] or '?'})"
        for e in endpoints
    )

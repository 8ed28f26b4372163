"""Several servers as one: each with its own cap, a failing one left out and tried again.

    acquire ─▶ Lease(endpoint) ─▶ settle(good | failed)

An endpoint that makes requests wait gets a smaller share (its window shrinks); one that
fails sits out for a time that doubles, and is asked for its runtimes before it is used.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.errors import SandboxUnavailable
from sandbox.piston.faults import Refused, Transient
from sandbox.piston.limits import LearntLimits
from sandbox.piston.transport import Transport

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 30.0
GIVE_UP_AFTER = 7  # failures in a row after which waiting for it is not worth it
SLOW_S = 1.0  # seconds a request may spend outside its own compile and run


@dataclass(eq=False)
class Endpoint:
    """One server, what was learnt of it and what is under way there.

    runtimes   language or alias → version, as the server lists them
    gradebox   it is sandbox.server: bytes travel as they are, no launcher needed
    behind     what that server says of its own sandbox
    platform   machine and C library: a binary made on one runs on the other
    """

    url: str
    transport: Transport
    cap: int
    runtimes: dict[str, str] = field(default_factory=dict)
    version: str = ""
    gradebox: bool = False
    behind: dict[str, Any] = field(default_factory=dict)
    platform: str = ""
    fixed_addresses: bool = False
    learnt: LearntLimits = field(default_factory=LearntLimits)
    probed: bool = False
    probing: threading.Lock = field(default_factory=threading.Lock)
    inflight: int = 0
    window: float = 0.0
    failures: int = 0
    fault: str = ""  # what it last failed with, for the message that gives it up
    down_until: float = 0.0
    held: bool = False
    starts: int = 0
    counted: int = 0  # requests started up to here belong to failures that were counted


@dataclass
class Lease:
    """The right to send one request to an endpoint.

    waited_s  what the request took beyond the run itself: queue, network, server
    """

    endpoint: Endpoint
    alone: bool
    shared: bool
    start_number: int
    waited_s: float = 0.0

    def waited(self, seconds: float) -> None:
        self.waited_s = seconds


class Fleet:
    """Hands out leases, at most `cap` at once for each endpoint."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        check: Callable[[Endpoint], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.endpoints = list(endpoints)
        self._check = check
        self._clock = clock
        self._ready = threading.Condition()
        self._closed = False
        for endpoint in self.endpoints:
            endpoint.window = float(endpoint.cap)

    def acquire(
        self,
        able: Callable[[Endpoint], bool],
        *,
        alone: bool = False,
        avoid: Collection[Endpoint] = (),
    ) -> Lease:
        """Waits for a place. `avoid` are taken only when no other could ever serve.

        Raises SandboxUnavailable when no endpoint is able or all have long been failing.
        """
        while True:
            lease = self._take(able, alone, avoid)
            if not lease.endpoint.failures or self._healthy(lease):
                return lease

    def settle(
        self, lease: Lease, *, failed: bool = False, waited_s: float = 0.0, pause_s: float = 0.0
    ) -> bool:
        """Gives the place back; True when another request was under way at some time.

        `pause_s` is what a failing server asked for by itself, kept up to LONGEST_PAUSE_S.
        """
        endpoint = lease.endpoint
        with self._ready:
            shared = lease.shared or endpoint.starts != lease.start_number
            endpoint.inflight -= 1
            if lease.alone:
                endpoint.held = False
            if failed:
                self._rest(endpoint, lease, pause_s)
            else:
                endpoint.failures = 0
                slow = waited_s > SLOW_S
                step = endpoint.window * 0.7 if slow else endpoint.window + 0.2
                endpoint.window = min(float(endpoint.cap), max(1.0, step))
            self._ready.notify_all()
        return shared

    def close(self) -> None:
        with self._ready:
            self._closed = True
            self._ready.notify_all()
        for endpoint in self.endpoints:
            endpoint.transport.close()

    def _rest(self, endpoint: Endpoint, lease: Lease, asked_s: float) -> None:
        """One fault of a server fails all that is under way there: it counts once."""
        if lease.start_number > endpoint.counted:
            endpoint.failures += 1
            endpoint.counted = endpoint.starts
        pause_s = max(asked_s, FIRST_PAUSE_S * 2.0 ** (endpoint.failures - 1))
        until = self._clock() + min(LONGEST_PAUSE_S, pause_s)
        endpoint.down_until = max(endpoint.down_until, until)

    def _take(
        self, able: Callable[[Endpoint], bool], alone: bool, avoid: Collection[Endpoint]
    ) -> Lease:
        holding: Endpoint | None = None
        with self._ready:
            while True:
                if self._closed:
                    raise SandboxUnavailable("the Piston client is closed")
                fit = [e for e in self.endpoints if able(e)]
                if not fit:
                    raise SandboxUnavailable("no Piston endpoint has what this run needs")
                now = self._clock()
                if all(e.failures >= GIVE_UP_AFTER and e.down_until > now for e in fit):
                    raise SandboxUnavailable(
                        "no Piston endpoint answers any more: "
                        + ", ".join(
                            f"{e.url} ({e.failures} failures, the last: {e.fault[:200] or '?'})"
                            for e in fit
                        )
                    )
                preferred = [e for e in fit if e not in avoid and e.failures < 3] or fit
                if holding is not None and holding not in preferred:
                    holding.held, holding = False, None
                endpoint = holding or self._free(preferred, now, alone)
                if endpoint is not None and alone:
                    holding = endpoint
                    endpoint.held = True
                    if endpoint.inflight:
                        endpoint = None
                if endpoint is not None:
                    endpoint.inflight += 1
                    endpoint.starts += 1
                    return Lease(endpoint, alone, endpoint.inflight > 1, endpoint.starts)
                soonest = min(
                    (e.down_until - now for e in preferred if e.down_until > now), default=1
                )
                self._ready.wait(max(0.01, min(1.0, soonest)))

    @staticmethod
    def _free(endpoints: Sequence[Endpoint], now: float, alone: bool) -> Endpoint | None:
        open_ = [e for e in endpoints if e.down_until <= now and not e.held]
        if not alone:
            open_ = [e for e in open_ if e.inflight < max(1, int(e.window))]
        return min(open_, key=lambda e: (e.inflight + 1) / e.window, default=None)

    def _healthy(self, lease: Lease) -> bool:
        """Asks a server that failed before whether it is back.

        A refusal there is as good as silence: a proxy that has lost its server answers 404.
        """
        try:
            self._check(lease.endpoint)
        except (Transient, Refused) as fault:
            lease.endpoint.fault = str(fault)
            self.settle(lease, failed=True)
            return False
        except BaseException:
            self.settle(lease)
            raise
        return True

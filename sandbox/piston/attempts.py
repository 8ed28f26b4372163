"""Tries of one piece of work on the endpoints of a fleet, until one of them works.

A refusal is final for its endpoint; after any other fault the next try prefers another. Servers
that are busy (429) are asked for as long as the fleet waits for servers that fail.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from gradebox.sandbox.errors import SandboxError, SandboxUnavailable
from gradebox.sandbox.piston.faults import Busy, Refused, Transient
from gradebox.sandbox.piston.fleet import NO_ENDPOINT, CanRun, Endpoint, Fleet, Lease

log = logging.getLogger("gradebox.piston")

ATTEMPTS = 6  # for one run, over all endpoints


class Attempts:
    """The tries of one piece of work; `last` is the last fault."""

    def __init__(self, fleet: Fleet, can_run: CanRun, *, alone: bool = False) -> None:
        self._faults = 0
        self._fleet = fleet
        self._can_run = can_run
        self._alone = alone
        self._avoid: list[Endpoint] = []
        self._refused: list[Endpoint] = []
        self.last: SandboxError = SandboxUnavailable(NO_ENDPOINT)

    @contextmanager
    def lease(self) -> Iterator[Lease]:
        """Wait for an endpoint; a fault in the body of the `with` statement is kept, not raised.

        Raises the last fault when there were ATTEMPTS faults in a row, or no endpoint is left.
        """

        def able(endpoint: Endpoint) -> bool:
            return endpoint not in self._refused and self._can_run(endpoint)

        if self._faults >= ATTEMPTS or not any(map(able, self._fleet.endpoints)):
            raise self.last
        lease = self._fleet.acquire(able, alone=self._alone, avoid=self._avoid)
        try:
            yield lease
        except Refused as fault:
            self._fleet.release(lease)
            self._refused.append(lease.endpoint)
            self._failed(fault)
        except Transient as fault:
            busy = isinstance(fault, Busy)
            self._fleet.release(lease, failed=fault.server_failed, busy=busy, pause_s=fault.pause_s)
            log.info("%s: tried again: %s", lease.endpoint.url, fault)
            self._avoid.append(lease.endpoint)
            lease.endpoint.last_fault = str(fault)
            self._failed(fault, counts=not busy)
        except BaseException:
            self._fleet.release(lease)
            raise
        else:
            self._fleet.release(lease)

    def _failed(self, fault: SandboxError, *, counts: bool = True) -> None:
        self._faults += counts
        self.last = fault

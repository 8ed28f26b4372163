"""Bound the open connections, and the time one may take to send the head of a request.

    opened ─▶ waits for a head ─▶ busy with a request ─▶ waits ─▶ … ─▶ closed
                └ too long, or too many connections: the one that waits longest is closed

A client that sends its request at once is therefore served however many silent ones there are.
aiohttp has a time limit for idle connections, but none for their number.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

KEEP_ALIVE_S = 75.0  # an idle connection stays open for so long after an answer


class Connections:
    """The open connections of a server.

    most    connections at once
    head_s  seconds from the opening of a connection to the end of its first request's head
    """

    def __init__(self, most: int, head_s: float) -> None:
        self._most = most
        self._head_s = head_s
        self._open: set[asyncio.BaseTransport] = set()
        self._waiting: dict[asyncio.BaseTransport, asyncio.TimerHandle] = {}  # longest first

    def opened(self, transport: asyncio.Transport) -> None:
        self._open.add(transport)
        self._wait(transport, self._head_s)
        if len(self._open) > self._most:
            self._abort(next(iter(self._waiting)))

    def busy(self, transport: asyncio.BaseTransport | None) -> None:
        """Note that the head of a request arrived."""
        timer = self._waiting.pop(transport, None) if transport else None
        if timer is not None:
            timer.cancel()

    def idle(self, transport: asyncio.BaseTransport | None) -> None:
        """Note that a request was answered."""
        if transport in self._open:
            self._wait(transport, KEEP_ALIVE_S)

    def closed(self, transport: asyncio.BaseTransport) -> None:
        self.busy(transport)
        self._open.discard(transport)

    def abort(self) -> None:
        """Close every connection at once."""
        for transport in list(self._open):
            self._abort(transport)

    def _wait(self, transport: Any, seconds: float) -> None:
        self.busy(transport)
        loop = asyncio.get_running_loop()
        self._waiting[transport] = loop.call_later(seconds, self._abort, transport)

    def _abort(self, transport: Any) -> None:
        self.closed(transport)
        transport.abort()


class Connection(web.RequestHandler):
    """One HTTP connection, which reports its opening and its end."""

    def __init__(self, connections: Connections, manager: web.Server, **settings: Any) -> None:
        super().__init__(manager, loop=asyncio.get_running_loop(), **settings)
        self._connections = connections
        self._opened: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._opened = transport
        self._connections.opened(transport)  # type: ignore[arg-type]

    def connection_lost(self, error: BaseException | None) -> None:
        if self._opened is not None:
            self._connections.closed(self._opened)
        super().connection_lost(error)

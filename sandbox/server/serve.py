"""Start a server and shut it down: admitted requests are finished, later ones refused."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable

from aiohttp import web

from gradebox.sandbox.errors import SandboxUnavailable
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.admission import KEEP_ALIVE_S, Connection
from gradebox.sandbox.server.app import Server
from gradebox.sandbox.server.settings import Grading, ServerSettings

ACCEPTED_AT_ONCE = 256  # connections accepted before their number is looked at
UNREAD_S = 1.0  # a shutdown waits so long for clients to read answers that need no place

log = logging.getLogger("gradebox.server")


async def serve(
    sandbox: Sandbox,
    settings: ServerSettings,
    grading: Grading,
    *,
    ready: Callable[[int], None] = lambda port: None,
    stop: asyncio.Event | None = None,
) -> bool:
    """Serve until SIGTERM, SIGINT or `stop`; call `ready` with the port.

    Returns True when every admitted request was answered. A second signal ends the waiting.
    Raises SandboxUnavailable when the port cannot be used.
    """
    stop = stop or asyncio.Event()
    stop_now = asyncio.Event()
    _handle_signals(stop, stop_now)
    server = Server(sandbox, settings, grading)
    runner = web.AppRunner(
        server.application(), handler_cancellation=True, shutdown_timeout=UNREAD_S
    )
    await runner.setup()
    listener: asyncio.Server | None = None

    def connection() -> Connection:
        assert runner.server is not None
        return Connection(
            server.connections,
            runner.server,
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=KEEP_ALIVE_S,
        )

    try:
        loop = asyncio.get_running_loop()
        try:
            listener = await loop.create_server(
                connection, settings.host, settings.port, backlog=ACCEPTED_AT_ONCE
            )
        except OSError as error:
            raise SandboxUnavailable(
                f"can't listen at {settings.host}:{settings.port}: {error.strerror or error}; "
                "choose another --port"
            ) from error
        ready(int(listener.sockets[0].getsockname()[1]))
        await stop.wait()
        log.info("shutting down; finishing %d requests first", server.admission.present)
        done = await _drain(server, settings.grace_s, stop_now)
    finally:
        if listener is not None:
            listener.close()
        await runner.cleanup()
        server.connections.abort()
        server.admission.close()
    return done


def _handle_signals(stop: asyncio.Event, stop_now: asyncio.Event) -> None:
    def handle() -> None:
        (stop_now if stop.is_set() else stop).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, handle)
        except (RuntimeError, ValueError, NotImplementedError):
            return  # not the main thread: the caller uses `stop`


async def _drain(server: Server, grace_s: float, stop_now: asyncio.Event) -> bool:
    """Wait for admitted requests, at most `grace_s` and until `stop_now`."""
    drain = asyncio.ensure_future(server.admission.drain(grace_s))
    stopped = asyncio.ensure_future(stop_now.wait())
    await asyncio.wait({drain, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if drain.done():
        return drain.result()
    drain.cancel()
    return False

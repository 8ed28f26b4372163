"""Starts a server and ends it cleanly: what runs is finished, what comes later refused."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable

from aiohttp import web

from sandbox.errors import SandboxUnavailable
from sandbox.protocol import Sandbox
from sandbox.server.app import Server
from sandbox.server.grading import Grading
from sandbox.server.judging import Judge
from sandbox.server.settings import ServerSettings

log = logging.getLogger("gradebox.server")


async def serve(
    sandbox: Sandbox,
    settings: ServerSettings,
    judge: Judge | None,
    *,
    grading: Grading | None = None,
    ready: Callable[[int], None] = lambda port: None,
    stop: asyncio.Event | None = None,
) -> bool:
    """Serves until SIGTERM, SIGINT or `stop`; `ready` gets the port.

    True when everything admitted was answered; a second signal ends the waiting.
    """
    stop = stop or asyncio.Event()
    again = asyncio.Event()
    _on_signals(stop, again)
    server = Server(sandbox, settings, judge, grading)
    runner = web.AppRunner(server.application(), access_log=None, handler_cancellation=True)
    await runner.setup()
    try:
        site = web.TCPSite(runner, settings.host, settings.port, backlog=1024)
        try:
            await site.start()
        except OSError as error:
            raise SandboxUnavailable(
                f"can't listen at {settings.host}:{settings.port}: {error.strerror or error}; "
                "choose another --port"
            ) from error
        ready(_port(runner))
        await stop.wait()
        log.info("ending: %d requests are finished first", server.admission.present)
        done = await _drained(server, settings.grace_s, again)
    finally:
        await runner.cleanup()
        server.admission.close()
    return done


def _port(runner: web.AppRunner) -> int:
    address = runner.addresses[0]
    return int(address[1])


def _on_signals(stop: asyncio.Event, again: asyncio.Event) -> None:
    def hear() -> None:
        (again if stop.is_set() else stop).set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, hear)
        except (RuntimeError, ValueError, NotImplementedError):
            return  # not the main thread: whoever started this ends it with `stop`


async def _drained(server: Server, grace_s: float, again: asyncio.Event) -> bool:
    """Waits for what was admitted, at most `grace_s`, or until told a second time."""
    drain = asyncio.ensure_future(server.admission.drain(grace_s))
    told = asyncio.ensure_future(again.wait())
    await asyncio.wait({drain, told}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    if drain.done():
        return drain.result()
    drain.cancel()
    return False

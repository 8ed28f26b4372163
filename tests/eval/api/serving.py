"""A server with the grading service, over a sandbox of the test."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gradebox.eval.api.service import open_service
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.app import serve
from gradebox.sandbox.server.settings import ServerSettings


@contextmanager
def serving(box: Sandbox, dataset: str | None = None, **settings: Any) -> Iterator[str]:
    """Run a server in a thread; yield its address."""
    loop = asyncio.new_event_loop()
    stop, ready, ports = asyncio.Event(), threading.Event(), []
    chosen = ServerSettings(port=0, grace_s=10, dataset=dataset, **settings)
    service = open_service(box, chosen)

    def run() -> None:
        asyncio.set_event_loop(loop)

        def listen(port: int) -> None:
            ports.append(port)
            ready.set()

        loop.run_until_complete(serve(box, chosen, service, ready=listen, stop=stop))
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        service.close()


@contextmanager
def answered_by(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run a server of this handler on a port of its own; yield its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

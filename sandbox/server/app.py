"""The HTTP application: Piston's API v2, POST /grade, health and metrics; its start and its end.

request ─▶ origin, token ─▶ admission ─▶ body ─▶ in a thread: parse, execute ─▶ answer
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import io
import json
import logging
import signal
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

import msgspec
from aiohttp import web

from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.common.loopback import is_loopback
from gradebox.sandbox.errors import (
    BadRequest,
    MissingToolchain,
    RequestRefused,
    SandboxError,
    SandboxUnavailable,
)
from gradebox.sandbox.model import MIB, Description
from gradebox.sandbox.piston.gradebox_server import PROTOCOL, ROUTE
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.admission import (
    KEEP_ALIVE_S,
    Admission,
    Connection,
    Connections,
    Metrics,
)
from gradebox.sandbox.server.connect import CLOSE_S, MESSAGE_BYTES, converse
from gradebox.sandbox.server.execute import execute, run_single, status_of
from gradebox.sandbox.server.incoming import (
    check_host,
    check_origin,
    check_size,
    encode,
    parse,
    receive,
)
from gradebox.sandbox.server.request import Job, parse_job
from gradebox.sandbox.server.runtimes import list_runtimes
from gradebox.sandbox.server.settings import (
    Answer,
    Grading,
    Route,
    Routes,
    ServerRequest,
    ServerSettings,
    telling,
)

log = logging.getLogger("gradebox.server")

VERSION = "Piston v3.1.1"  # clients check which API this is
CONNECT = "/api/v2/connect"
TOKEN_HEADERS = ("X-Auth-Token", "X-API-KEY")  # of Judge0's clients and of Jobe's
WITH_BODY = ("POST", "PUT")
SPARE_CONNECTIONS = 256  # allowed beyond those of admitted requests
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# What a request keeps until its client has read the answer.
_held: ContextVar[contextlib.ExitStack] = ContextVar("held")


class Server:
    """The state that the routes share. Create it inside a running event loop."""

    def __init__(self, sandbox: Sandbox, settings: ServerSettings, grading: Grading) -> None:
        self.sandbox = sandbox
        self.settings = settings
        self.grading = grading
        self.description: Description = sandbox.describe()
        self.runtimes = list_runtimes(self.description.toolchains)
        slots = settings.slots or sandbox.slots
        self.admission = Admission(slots, settings.queue, settings.held_bytes)
        self.connections = Connections(slots + settings.queue + SPARE_CONNECTIONS, settings.head_s)
        self.metrics = Metrics(self.admission)

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self._answer, self._check])
        for (method, path), handler in {
            ("GET", "/health"): self.health,
            ("GET", "/metrics"): self.show_metrics,
            ("GET", CONNECT): self.connect,
            **{place: self._handler(route) for place, route in self._routes().items()},
        }.items():
            # as in Piston, a slash at the end is allowed
            for spelling in dict.fromkeys((path, path.rstrip("/") + "/")):
                app.router.add_route(method, spelling, handler)
                if method == "GET" and path != CONNECT:
                    app.router.add_route("HEAD", spelling, handler)
        return app

    def _routes(self) -> Routes:
        packages = dict.fromkeys((r.runtime or r.language, r.version) for r in self.runtimes)
        facts = {
            "/": {
                "message": VERSION,
                "gradebox": {"protocol": PROTOCOL, "sandbox": self.description.as_json()},
            },
            "/api/v2/runtimes": [r.as_json() for r in self.runtimes],
            "/api/v2/packages": [
                {"language": n, "language_version": v, "installed": True} for n, v in packages
            ],
        }
        return {
            **{("GET", path): telling(fact) for path, fact in facts.items()},
            ("POST", "/api/v2/execute"): lambda asked: (200, self.run(self.parse_job(asked.body))),
            ("POST", ROUTE): self._run_single,
            ("POST", "/api/v2/packages"): self._install,
            ("DELETE", "/api/v2/packages"): _remove,
            **self.grading.routes,
        }

    async def health(self, request: web.Request) -> web.Response:
        if self.admission.closing:
            return _json(503, {"status": "closing"})
        about = {
            "status": "ok",
            "present": self.admission.present,
            "running": self.admission.running,
            "slots": self.admission.slots,
            "queue": self.admission.queue,
        }
        return _json(200, about)

    async def show_metrics(self, request: web.Request) -> web.Response:
        return web.Response(
            body=self.metrics.text(), headers={"Content-Type": self.metrics.content_type}
        )

    def _handler(self, route: Route) -> Handler:
        """Return the handler of a route; a request without a body needs no place."""

        async def handle(request: web.Request) -> web.Response:
            parameters = {**request.query, **request.match_info}
            if request.method in WITH_BODY:
                return await self._admit(request, partial(ServerRequest, parameters), route)
            asked = ServerRequest(parameters)
            response = await asyncio.to_thread(lambda: _json(*route(asked)))
            _held.get().enter_context(self.admission.held(response.content_length or 0))
            return response

        return handle

    async def _admit(
        self, request: web.Request, asked: Callable[..., ServerRequest], route: Route
    ) -> web.Response:
        """Answer a JSON body in a thread; refuse the request when no place is free.

        The place is kept until the client has read the answer.
        """
        limit = self.settings.body_bytes
        if request.content_type != "application/json":
            raise RequestRefused(415, "requests must be of type application/json")
        check_size(request.content_length or 0, limit)  # before the client sends the body
        if request.headers.get("Content-Encoding", "").strip().lower() not in ("", "identity"):
            raise RequestRefused(415, "send the body as it is, without a Content-Encoding")
        began = time.monotonic()
        size = request.content_length  # a body of unknown size counts as the largest
        place = _held.get().enter_context(self.admission.place(limit if size is None else size))
        raw = await receive(request, limit, self.settings.upload_s)
        cancelled = Cancellation()

        def answer() -> tuple[int, io.BytesIO]:
            status, value = route(asked(parse(raw), cancelled))
            body = encode(value)
            self.admission.hold(place, body.getbuffer().nbytes)
            return status, body

        status, body = await self.admission.run(answer, cancelled=cancelled)
        self.metrics.seconds.observe(time.monotonic() - began)
        # a file is sent in pieces; bytes would be copied as a whole
        whole = body.getvalue() if body.getbuffer().nbytes < MIB else body
        return web.Response(status=status, body=whole, content_type="application/json")

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Run a program interactively over a WebSocket, which has a place until it is closed."""
        message_bytes = min(MESSAGE_BYTES, self.settings.body_bytes)
        _held.get().enter_context(self.admission.place(2 * message_bytes))
        socket = web.WebSocketResponse(max_msg_size=message_bytes, compress=False, timeout=CLOSE_S)
        await socket.prepare(request)
        await converse(socket, self, _held.get())
        return socket

    def _run_single(self, asked: ServerRequest) -> Answer:
        language, answer = run_single(asked.body, self.sandbox, self.settings.ceilings)
        ran = None if answer.run is None else status_of(answer.run)
        self.metrics.count(language, ran if answer.compiled.ok else "CE")
        return 200, msgspec.json.encode(answer)

    def _install(self, asked: ServerRequest) -> Answer:
        """Install nothing: a package that is present counts as installed."""
        name = asked.body.get("language") if isinstance(asked.body, dict) else None
        present = {n for r in self.runtimes for n in (r.language, r.runtime, *r.aliases)}
        if isinstance(name, str) and name in present:
            return 200, {"language": name, "version": str(asked.body.get("version", "*"))}
        raise RequestRefused(
            404,
            f"Requested package {str(name)[:60]}-* does not exist: this server runs the languages "
            "that are installed on its machine (apt-get install …, then restart it)",
        )

    def parse_job(self, body: Any, *, talking: bool = False) -> Job:
        """Return the job of a decoded request. Raises BadRequest."""
        return parse_job(body, self.runtimes, self.settings.ceilings, talking=talking)

    def run(self, job: Job) -> dict[str, Any]:
        """Run a job and return Piston's answer."""
        answer = execute(job, self.sandbox, self.grading)
        stage = answer.get("run") or {}
        status = "CE" if stage is answer.get("compile") else stage.get("status")
        self.metrics.count(job.runtime.row, status)
        return answer

    @web.middleware
    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer in JSON whatever happens, within a time limit; count the answers by status."""
        transport = request.transport
        self.connections.busy(transport)
        try:
            with contextlib.ExitStack() as held:
                _held.set(held)
                response = await self._response(request, handler)
                self.metrics.answers.labels(str(response.status)).inc()
                await self._send(request, response)
        finally:
            self.connections.idle(transport)
        return response

    async def _response(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except RequestRefused as refused:
            response = _json(refused.status, {"message": str(refused)})
            if refused.retry_after_s:
                response.headers["Retry-After"] = str(refused.retry_after_s)
            return response
        except (BadRequest, MissingToolchain) as error:
            return _json(400, {"message": str(error)})
        except SandboxError as error:
            log.error("the sandbox failed: %s", error)
            return _json(500, {"message": f"the sandbox failed: {error}"})
        except web.HTTPException as error:
            message = "Not Found" if error.status == 404 else error.reason
            return _json(error.status, {"message": message})
        except ConnectionError:
            return _json(499, {"message": "the client disconnected"})
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            return _json(500, {"message": "the server failed; its log has the details"})

    async def _send(self, request: web.Request, response: web.StreamResponse) -> None:
        """Write an answer; disconnect a client that does not read it in time."""
        transport = request.transport
        if transport is None or isinstance(response, web.WebSocketResponse):
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self.settings.upload_s, transport.abort)
        try:
            await response.prepare(request)
            await response.write_eof()
        except ConnectionError:
            transport.abort()
        finally:
            timer.cancel()

    @web.middleware
    async def _check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse what may come from a web page, or has no token."""
        check_origin(request)
        token = self.settings.token
        if token is None:
            check_host(request, is_loopback(self.settings.host), self.settings.allowed_hosts)
        elif request.path.rstrip("/") != "/health":
            given = [
                request.headers.get("Authorization", ""),
                *(f"Bearer {request.headers.get(name, '')}" for name in TOKEN_HEADERS),
            ]
            # aiohttp passes a byte that is not UTF-8 on as a lone surrogate
            raw = [one.encode("utf-8", "surrogateescape") for one in given]
            if not any(hmac.compare_digest(one, f"Bearer {token}".encode()) for one in raw):
                raise RequestRefused(401, "a bearer token is required")
        return await handler(request)


def _remove(asked: ServerRequest) -> Answer:
    raise BadRequest("this server does not remove languages from its machine")


def _json(status: int, value: Any) -> web.Response:
    return web.Response(
        status=status, body=json.dumps(value).encode(), content_type="application/json"
    )


# ---- starting and shutting down: admitted requests are finished, later ones refused ----

ACCEPTED_AT_ONCE = 256  # connections accepted before their number is looked at
UNREAD_S = 1.0  # a shutdown waits so long for clients to read answers that need no place


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

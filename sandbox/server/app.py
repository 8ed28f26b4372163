"""The HTTP application: Piston's API v2, POST /grade, health and metrics.

request ─▶ token ─▶ admission ─▶ body ─▶ in a thread: parse_job, execute ─▶ answer
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from gradebox.sandbox.errors import BadRequest, MissingToolchain, SandboxError
from gradebox.sandbox.model import Description
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.admission import Admission, ClientGone, QueueFull, ShuttingDown
from gradebox.sandbox.server.connect import MESSAGE_BYTES, converse
from gradebox.sandbox.server.execute import execute
from gradebox.sandbox.server.jobs import Job, parse_job
from gradebox.sandbox.server.metrics import Metrics
from gradebox.sandbox.server.plugins import Grading, Judge
from gradebox.sandbox.server.runtimes import list_runtimes
from gradebox.sandbox.server.settings import ServerSettings

log = logging.getLogger("gradebox.server")

VERSION = "Piston v3.1.1"  # clients check which API this is
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """The state that the routes share. Create it inside a running event loop."""

    def __init__(
        self,
        sandbox: Sandbox,
        settings: ServerSettings,
        judge: Judge | None,
        grading: Grading | None = None,
    ) -> None:
        self.sandbox = sandbox
        self.settings = settings
        self.judge = judge
        self.grading = grading
        self.description: Description = sandbox.describe()
        self.runtimes = list_runtimes(self.description.toolchains)
        slots = settings.slots or sandbox.slots
        self.admission = Admission(slots, settings.queue, settings.held_bytes)
        self.metrics = Metrics(self.admission)

    def application(self) -> web.Application:
        app = web.Application(
            client_max_size=self.settings.body_bytes,
            middlewares=[self._errors_as_json, self._check_token],
            handler_args={"keepalive_timeout": 75.0},
        )
        app.add_routes([
            web.get("/", self.about),
            web.get("/health", self.health),
            web.get("/metrics", self.show_metrics),
            web.get("/api/v2/runtimes", self.list_runtimes),
            web.post("/api/v2/execute", self.execute),
            web.get("/api/v2/connect", self.connect),
            web.get("/api/v2/packages", self.list_packages),
            web.post("/api/v2/packages", self.install_package),
            web.delete("/api/v2/packages", self.remove_package),
            web.post("/grade", self.grade),
        ])  # fmt: skip
        return app

    async def about(self, request: web.Request) -> web.Response:
        about = {"protocol": 1, "sandbox": self.description.as_json()}
        return _json(200, {"message": VERSION, "gradebox": about})

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

    async def list_runtimes(self, request: web.Request) -> web.Response:
        return _json(200, [r.as_json() for r in self.runtimes])

    async def list_packages(self, request: web.Request) -> web.Response:
        packages = dict.fromkeys((r.runtime or r.language, r.version) for r in self.runtimes)
        return _json(
            200,
            [{"language": n, "language_version": v, "installed": True} for n, v in packages],
        )

    async def install_package(self, request: web.Request) -> web.Response:
        """Install nothing: a package that is present counts as installed."""
        body = await _read_json(request)
        name = body.get("language") if isinstance(body, dict) else None
        present = {n for r in self.runtimes for n in (r.language, r.runtime, *r.aliases)}
        if isinstance(name, str) and name in present:
            return _json(200, {"language": name, "version": str(body.get("version", "*"))})
        message = (
            f"Requested package {str(name)[:60]}-* does not exist: this server runs the languages "
            "that are installed on its machine (apt-get install …, then restart it)"
        )
        return _json(404, {"message": message})

    async def remove_package(self, request: web.Request) -> web.Response:
        return _json(400, {"message": "this server does not remove languages from its machine"})

    async def execute(self, request: web.Request) -> web.Response:
        return await self._admit(request, self._execute)

    async def grade(self, request: web.Request) -> web.Response:
        """Grade solutions: {"solutions": […], "problem": {…} or an id} → {"records": […]}."""
        return await self._admit(request, self._grade)

    async def _admit(
        self, request: web.Request, answer_to: Callable[[bytes], bytes]
    ) -> web.Response:
        """Answer a JSON body in a thread, or refuse it when there is no place."""
        if not request.content_type.startswith("application/json"):
            return _json(415, {"message": "requests must be of type application/json"})
        announced = request.content_length or 0
        if announced > self.settings.body_bytes:  # refuse it before it is sent
            raise web.HTTPRequestEntityTooLarge(self.settings.body_bytes, announced)
        began = time.monotonic()
        try:
            with self.admission.place(self._size(request)):
                raw = await asyncio.wait_for(request.read(), self.settings.upload_s)
                answer = await self.admission.run(lambda: answer_to(raw))
                self.metrics.seconds.observe(time.monotonic() - began)
                return web.Response(body=answer, content_type="application/json")
        except asyncio.TimeoutError:
            message = f"the request did not arrive within {self.settings.upload_s:g} s"
            return _json(408, {"message": message})
        except web.RequestPayloadError as error:
            return _json(400, {"message": f"the request's body can't be read: {error}"})
        except (BadRequest, MissingToolchain) as error:
            return _json(400, {"message": str(error)})
        except SandboxError as error:
            log.error("the sandbox failed: %s", error)
            return _json(500, {"message": f"the sandbox failed: {error}"})

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Gather the whole input of a job from a WebSocket, run the job, then send its output.

        The request occupies one of the server's slots until the socket is closed.
        """
        message_bytes = min(MESSAGE_BYTES, self.settings.body_bytes)
        with self.admission.place(message_bytes) as place:
            socket = web.WebSocketResponse(max_msg_size=message_bytes)
            await socket.prepare(request)
            await converse(
                socket, self._parse_job, self._run_in_thread, place, self.settings.upload_s
            )
            return socket

    def _size(self, request: web.Request) -> int:
        """Return the bytes to reserve: the most, for a body of unknown or compressed size."""
        packed = "Content-Encoding" in request.headers  # 400 kB of deflate may be 400 MB
        size = None if packed else request.content_length
        return min(self.settings.body_bytes if size is None else size, self.settings.body_bytes)

    async def _run_in_thread(self, job: Job) -> dict[str, Any]:
        return await self.admission.run(lambda: self._run(job))

    # Called in threads, since a body of hundreds of megabytes would block the event loop.
    def _execute(self, raw: bytes) -> bytes:
        return _encode(self._run(self._parse_job(_decode(raw))))

    def _grade(self, raw: bytes) -> bytes:
        if self.grading is None:
            raise BadRequest("this server does not grade; start it with python -m sandbox.server")
        return _encode(self.grading.grade(_decode(raw)))

    def _parse_job(self, body: Any) -> Job:
        return parse_job(body, self.runtimes, self.settings.ceilings)

    def _run(self, job: Job) -> dict[str, Any]:
        answer = execute(job, self.sandbox, self.judge)
        stage = answer.get("run") or {}
        status = "CE" if stage is answer.get("compile") else stage.get("status") or "OK"
        self.metrics.executions.labels(job.runtime.row, status).inc()
        return answer

    @web.middleware
    async def _errors_as_json(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer in JSON whatever happens, and count the answers by status."""
        try:
            response = await handler(request)
        except web.HTTPRequestEntityTooLarge:
            message = (
                f"the request is over {self.settings.body_bytes} bytes; send less, or start the "
                "server with a larger --body-limit"
            )
            response = _json(413, {"message": message})
        except web.HTTPException as error:
            message = "Not Found" if error.status == 404 else error.reason
            response = _json(error.status, {"message": message})
        except QueueFull as full:
            response = _retry_later(429, str(full), full.retry_after_s)
        except ShuttingDown:
            response = _retry_later(503, "the server is shutting down", 5)
        except (ClientGone, ConnectionError):
            response = _json(499, {"message": "the client disconnected"})
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            response = _json(500, {"message": "the server failed; its log has the details"})
        self.metrics.answers.labels(str(response.status)).inc()
        return response

    @web.middleware
    async def _check_token(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        token = self.settings.token
        if token is not None and request.path != "/health":
            given = request.headers.get("Authorization", "")
            # aiohttp passes a byte that is not UTF-8 on as a lone surrogate
            given_raw = given.encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(given_raw, f"Bearer {token}".encode()):
                raise web.HTTPUnauthorized(reason="a bearer token is required")
        return await handler(request)


def _decode(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the request is not JSON: {error}") from error


def _encode(answer: Any) -> bytes:
    return json.dumps(answer, separators=(",", ":")).encode()


async def _read_json(request: web.Request) -> Any:
    try:
        return json.loads(await request.read())
    except (ValueError, RecursionError):
        return None


def _json(status: int, value: Any) -> web.Response:
    return web.Response(
        status=status, body=json.dumps(value).encode(), content_type="application/json"
    )


def _retry_later(status: int, message: str, retry_after_s: int) -> web.Response:
    response = _json(status, {"message": message})
    response.headers["Retry-After"] = str(retry_after_s)
    return response

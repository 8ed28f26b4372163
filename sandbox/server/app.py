"""The HTTP application: Piston's API v2, health and metrics, over one Sandbox.

request ─▶ token ─▶ admission ─▶ body ─▶ thread: read_job, execute ─▶ answer
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

from sandbox.errors import BadRequest, MissingToolchain, SandboxError
from sandbox.model import Description
from sandbox.protocol import Sandbox
from sandbox.server.admission import Abandoned, Admission, Closing, Full
from sandbox.server.connect import MESSAGE_BYTES, converse
from sandbox.server.execute import execute
from sandbox.server.grading import Grading
from sandbox.server.jobs import Job, Refusal, read_job
from sandbox.server.judging import Judge
from sandbox.server.metrics import Metrics
from sandbox.server.runtimes import list_runtimes
from sandbox.server.settings import ServerSettings

log = logging.getLogger("gradebox.server")

VERSION = "Piston v3.1.1"  # whose API this is; clients look at it
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """Everything the routes share. Make it inside a running event loop."""

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
            middlewares=[self._counted, self._authorised],
            handler_args={"keepalive_timeout": 75.0},
        )
        app.router.add_get("/", self.about)
        app.router.add_get("/health", self.health)
        app.router.add_get("/metrics", self.show_metrics)
        app.router.add_get("/api/v2/runtimes", self.list_runtimes)
        app.router.add_post("/api/v2/execute", self.execute)
        app.router.add_post("/grade", self.grade)
        app.router.add_get("/api/v2/connect", self.connect)
        app.router.add_get("/api/v2/packages", self.list_packages)
        app.router.add_post("/api/v2/packages", self.install_package)
        app.router.add_delete("/api/v2/packages", self.remove_package)
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
        """Nothing is installed by request; what is there already counts as done."""
        body = await _read_json(request)
        name = body.get("language") if isinstance(body, dict) else None
        here = {n for r in self.runtimes for n in (r.language, r.runtime, *r.aliases)}
        if isinstance(name, str) and name in here:
            return _json(200, {"language": name, "version": str(body.get("version", "*"))})
        words = (
            f"Requested package {str(name)[:60]}-* does not exist: this server runs the languages "
            "that are installed on its machine (apt-get install …, then restart it)"
        )
        return _json(404, {"message": words})

    async def remove_package(self, request: web.Request) -> web.Response:
        return _json(400, {"message": "this server does not remove languages from its machine"})

    async def execute(self, request: web.Request) -> web.Response:
        return await self._admitted(request, self._answer)

    async def grade(self, request: web.Request) -> web.Response:
        """Whole solutions: {"solutions": […], "problem": {…} or an id} → {"records": […]}."""
        return await self._admitted(request, self._grade)

    async def _admitted(
        self, request: web.Request, answer_to: Callable[[bytes], bytes]
    ) -> web.Response:
        """The answer to a JSON body, made in a thread; refused when there is no place."""
        if not request.content_type.startswith("application/json"):
            return _json(415, {"message": "requests must be of type application/json"})
        announced = request.content_length or 0
        if announced > self.settings.body_bytes:  # refused before it comes, not after
            raise web.HTTPRequestEntityTooLarge(self.settings.body_bytes, announced)
        began = time.monotonic()
        try:
            with self.admission.place(self._size(request)):
                raw = await asyncio.wait_for(request.read(), self.settings.upload_s)
                answer = await self.admission.work(lambda: answer_to(raw))
                self.metrics.seconds.observe(time.monotonic() - began)
                return web.Response(body=answer, content_type="application/json")
        except asyncio.TimeoutError:
            words = f"the request did not arrive within {self.settings.upload_s:g} s"
            return _json(408, {"message": words})
        except web.RequestPayloadError as error:
            return _json(400, {"message": f"the request's body can't be read: {error}"})
        except (Refusal, BadRequest, MissingToolchain) as refusal:
            return _json(400, {"message": str(refusal)})
        except SandboxError as fault:
            log.error("the sandbox failed: %s", fault)
            return _json(500, {"message": f"the sandbox failed: {fault}"})

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """A job over a WebSocket; it has its place, as a request has, from the first message on."""
        message_bytes = min(MESSAGE_BYTES, self.settings.body_bytes)
        with self.admission.place(message_bytes) as place:
            socket = web.WebSocketResponse(max_msg_size=message_bytes)
            await socket.prepare(request)
            await converse(
                socket, self._read_job, self._run_in_thread, place, self.settings.upload_s
            )
            return socket

    def _size(self, request: web.Request) -> int:
        """Bytes to reserve; a body of unknown size, or packed, counts as the largest."""
        packed = "Content-Encoding" in request.headers  # 400 kB of deflate were 400 MB
        size = None if packed else request.content_length
        return min(self.settings.body_bytes if size is None else size, self.settings.body_bytes)

    async def _run_in_thread(self, job: Job) -> dict[str, Any]:
        return await self.admission.work(lambda: self._run(job))

    def _answer(self, raw: bytes) -> bytes:
        """In a thread: a body of hundreds of megabytes must not hold up other requests."""
        return _encoded(self._run(self._read_job(_decoded(raw))))

    def _grade(self, raw: bytes) -> bytes:
        """In a thread, too."""
        if self.grading is None:
            raise Refusal("this server does not grade; start it with python -m sandbox.server")
        return _encoded(self.grading.grade(_decoded(raw)))

    def _read_job(self, body: Any) -> Job:
        return read_job(body, self.runtimes, self.settings.ceilings)

    def _run(self, job: Job) -> dict[str, Any]:
        answer = execute(job, self.sandbox, self.judge)
        stage = answer.get("run") or {}
        status = "CE" if stage is answer.get("compile") else stage.get("status") or "OK"
        self.metrics.executions.labels(job.runtime.row, status).inc()
        return answer

    @web.middleware
    async def _counted(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answers in JSON whatever happens, and counts the answers."""
        try:
            response = await handler(request)
        except web.HTTPRequestEntityTooLarge:
            limit = self.settings.body_bytes
            words = (
                f"the request is over {limit} bytes; start the server with a larger --body-limit"
            )
            response = _json(413, {"message": words})
        except web.HTTPException as error:
            words = "Not Found" if error.status == 404 else error.reason
            response = _json(error.status, {"message": words})
        except Full as full:
            response = _busy(429, str(full), full.retry_after_s)
        except Closing:
            response = _busy(503, "the server is shutting down", 5)
        except (Abandoned, ConnectionError):
            response = _json(499, {"message": "the client went away"})
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            response = _json(500, {"message": "the server failed; its log says more"})
        self.metrics.answers.labels(str(response.status)).inc()
        return response

    @web.middleware
    async def _authorised(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        token = self.settings.token
        if token is not None and request.path != "/health":
            given = request.headers.get("Authorization", "")
            # headers may hold any byte, which aiohttp hands on as a lone surrogate
            given_raw = given.encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(given_raw, f"Bearer {token}".encode()):
                raise web.HTTPUnauthorized(reason="a bearer token is needed")
        return await handler(request)


def _decoded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Refusal(f"the request is not JSON: {error}") from error


def _encoded(answer: Any) -> bytes:
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


def _busy(status: int, words: str, retry_after_s: int) -> web.Response:
    response = _json(status, {"message": words})
    response.headers["Retry-After"] = str(retry_after_s)
    return response

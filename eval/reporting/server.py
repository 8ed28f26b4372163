"""The server of the view: routes below a random token, for this machine's browser.

    /TOKEN/                  the table of runs; the run itself when there is one only
    /TOKEN/run/0/            the page of a run, which asks for:
        changes, summary, solution, source, test   GET
        run                                        POST, unless running is off
    /TOKEN/compare?a=0&b=1   what changed between two runs, as JSON

Every request needs the token, a known Host and no foreign Origin; POST needs our own Origin.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import signal
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from aiohttp import web

from gradebox.eval.common.errors import InputError
from gradebox.eval.reporting.comparison import find_differences, paired, read_run
from gradebox.eval.reporting.page import html_page, page_policy
from gradebox.eval.reporting.reruns import Edit, Reruns
from gradebox.eval.reporting.run_view import RunView
from gradebox.sandbox.common.loopback import is_loopback
from gradebox.sandbox.errors import BadRequest, RequestRefused, SandboxError
from gradebox.sandbox.server.incoming import (
    check_host,
    check_origin,
    check_size,
    encode,
    parse,
    receive,
)

BODY_BYTES = 4 << 20
BODY_S = 30.0
CLOSE_S = 1.0
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
log = logging.getLogger("gradebox.view")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Query = Mapping[str, str]


class ViewServer:
    """The routes over some runs.

    host     where it listens, for the check of Host; `names` are further names of it
    reruns   what runs edited programs; None: running is off
    """

    def __init__(
        self, runs: Sequence[RunView], reruns: Reruns | None, host: str, names: Collection[str]
    ) -> None:
        self.runs = runs
        self.reruns = reruns
        self.token = secrets.token_urlsafe(24)
        self._loopback_only = is_loopback(host)
        self._names = names

    def application(self) -> web.Application:
        """Return the application. Every route is below the token; others are refused."""
        app = web.Application(middlewares=[self._answer], client_max_size=BODY_BYTES)
        top = "/{token}/"
        app.router.add_get(top, self.start)
        app.router.add_get(f"{top}runs", self.list_runs)
        app.router.add_get(f"{top}compare", self.compare)
        run = f"{top}run/{{number}}/"
        app.router.add_get(run, self.page)
        answers: dict[str, Callable[[RunView, Query], Any]] = {
            "changes": lambda run, query: run.changes(*_numbers(query, "epoch", "after")),
            "summary": lambda run, query: run.summary(),
            "solution": lambda run, query: run.detail(_record(run, query)),
            "source": lambda run, query: run.sources.of(run.results(), _record(run, query)),
            "test": self._test,
        }
        for name, answer in answers.items():
            app.router.add_get(run + name, partial(self.asked, answer))
        app.router.add_post(f"{run}run", self.run)
        return app

    async def start(self, request: web.Request) -> web.Response:
        """Return the table of runs, or the page of the only run."""
        if len(self.runs) == 1:
            raise web.HTTPFound("run/0/")
        return _page("gradebox view", {"view": {"kind": "runs"}, "name": "runs"})

    async def page(self, request: web.Request) -> web.Response:
        """Return the page of a run, without data."""
        run = self._run_of(request)
        view = {"kind": "run", "run": self.reruns is not None, "runs": len(self.runs)}
        return _page(f"{run.title} · gradebox view", {"view": view, "name": run.title})

    async def list_runs(self, request: web.Request) -> web.Response:
        """Return for each run its name, its path, whether it is finished, and its statistics."""

        def facts() -> list[dict[str, Any]]:
            found = []
            for run in self.runs:
                while run.changes(0, 1 << 62)["more"]:
                    pass
                value = {"name": run.title, "path": run.name, "finished": bool(run.metrics())}
                found.append({**value, **run.summary()})
            return found

        return _json(await asyncio.to_thread(facts))

    async def compare(self, request: web.Request) -> web.Response:
        """Return the paired statistics of two runs, with what differs besides their solutions."""
        a, b = (self._run(request.query.get(name, "")) for name in ("a", "b"))

        def result() -> dict[str, Any]:
            first, second = read_run(a.name), read_run(b.name)
            found = paired(first.shares, second.shares)
            if found is None:
                raise InputError(f"{a.name} and {b.name} have no problem in common")
            return {**found, "differences": [asdict(d) for d in find_differences(first, second)]}

        return _json(await asyncio.to_thread(result))

    async def asked(
        self, answer: Callable[[RunView, Query], Any], request: web.Request
    ) -> web.Response:
        """Return what a function of the run and the query answers, in a thread."""
        run, query = self._run_of(request), request.query
        return _json(await asyncio.to_thread(answer, run, query))

    def _test(self, run: RunView, query: Query) -> dict[str, Any]:
        name = query.get("case", "")
        return self._running().test(run.results(), _record(run, query), name)

    def _running(self) -> Reruns:
        if self.reruns is None:
            raise RequestRefused(403, "running is off; start the view without --no-run")
        return self.reruns

    async def run(self, request: web.Request) -> web.Response:
        """Run an edited program and return its record."""
        reruns = self._running()
        if not request.headers.getall("Origin", []):
            raise RequestRefused(403, "a request to run has no Origin; only the page may run")
        if request.content_type != "application/json":
            raise RequestRefused(415, "requests must be of type application/json")
        check_size(request.content_length or 0, BODY_BYTES)
        run = self._run_of(request)
        edit = Edit.of(parse(await receive(request, BODY_BYTES, BODY_S)))
        record = _record(run, request.query)
        return _json(await asyncio.to_thread(reruns.run, run.results(), record, edit))

    def _run_of(self, request: web.Request) -> RunView:
        return self._run(request.match_info["number"])

    def _run(self, number: str) -> RunView:
        if number.isascii() and number.isdigit() and int(number[:9]) < len(self.runs):
            return self.runs[int(number[:9])]
        raise RequestRefused(404, f"there are {len(self.runs)} runs, and not run {number[:20]!r}")

    @web.middleware
    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check a request, and turn what goes wrong into JSON with a message."""
        try:
            check_origin(request)
            check_host(request, self._loopback_only, self._names)
            given = request.path.split("/")[1].encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(given, self.token.encode()):
                raise RequestRefused(403, "the address has no valid token; use the printed one")
            response = await handler(request)
        except RequestRefused as refused:
            response = _json({"message": str(refused)}, refused.status)
        except (InputError, BadRequest) as error:
            response = _json({"message": str(error)}, 409)
        except SandboxError as error:
            response = _json({"message": f"the sandbox failed: {error}"}, 500)
        except web.HTTPException as error:
            if error.status < 400:
                raise
            response = _json({"message": error.reason}, error.status)
        except Exception:
            log.exception("%s %s failed", request.method, request.match_info.route.handler)
            response = _json({"message": "the view failed; its terminal has the details"}, 500)
        response.headers.update(HEADERS)
        return response


def _page(title: str, meta: dict[str, Any]) -> web.Response:
    text = "".join(html_page(title, meta, asks=True))
    policy = f"{page_policy(asks=True)}; frame-ancestors 'none'"
    headers = {"Content-Security-Policy": policy}
    return web.Response(text=text, content_type="text/html", headers=headers)


def _json(value: Any, status: int = 200) -> web.Response:
    body = encode(value).getvalue()
    return web.Response(status=status, body=body, content_type="application/json")


def _numbers(query: Query, *names: str) -> list[int]:
    found = [query.get(name, "0") for name in names]
    for name, text in zip(names, found, strict=True):
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise RequestRefused(400, f"{name} is {text[:20]!r}; it must be a whole number")
    return [int(text) for text in found]


def _record(run: RunView, query: Query) -> dict[str, Any]:
    epoch, place = _numbers(query, "epoch", "place")
    return run.record(epoch, place)


async def serve_view(
    server: ViewServer, host: str, port: int, ready: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM; call `ready` with the address.

    Raises InputError when the port can't be used.
    """
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    runner = web.AppRunner(server.application(), access_log=None, shutdown_timeout=CLOSE_S)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            why = f"can't listen at {host}:{port}: {error.strerror or error}"
            raise InputError(f"{why}; choose another --port") from None
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{runner.addresses[0][1]}/{server.token}/")
        await stop.wait()
    finally:
        await runner.cleanup()

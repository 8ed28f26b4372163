"""One browser for all tests of a worker, skipped without Chromium; and a view of a small run."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiohttp import web

from gradebox.eval.debugging.reopen import Overrides
from gradebox.eval.reporting.reruns import Reruns
from gradebox.eval.reporting.run_view import RunView
from gradebox.eval.reporting.server import ViewServer
from gradebox.eval.results.statistics.counts import StatisticsOptions
from tests.eval.debugging.small_run import SmallRun
from tests.eval.reporting.browser import CHROMIUM, MISSING, Browser, open_browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip(MISSING)
    with open_browser(tmp_path_factory.mktemp("browser")) as browser:
        browser.size(1280, 900)
        browser.dark(False)
        yield browser


@contextmanager
def serving(*folders: Path, reruns: Reruns | None = None) -> Iterator[str]:
    """Serve a view of these folders, whose records are read, in a thread; yield its address."""
    runs = [RunView(str(folder), StatisticsOptions(), Overrides()) for folder in folders]
    while any(run.changes(run.epoch, 0)["more"] for run in runs):
        pass
    server = ViewServer(runs, reruns, "127.0.0.1", ())
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    runner = web.AppRunner(server.application(), shutdown_timeout=0.1)

    async def start() -> int:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return int(runner.addresses[0][1])

    try:
        port = asyncio.run_coroutine_threadsafe(start(), loop).result(60)
        yield f"http://127.0.0.1:{port}/{server.token}/"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for part in (*runs, *([reruns] if reruns else [])):
            part.close()


@pytest.fixture(scope="package")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    return SmallRun(tmp_path_factory.mktemp("run"))


@pytest.fixture
def address(small_run: SmallRun) -> Iterator[str]:
    """Yield the address of a view of the small run, with running in its scripted sandbox."""
    with serving(small_run.path, reruns=Reruns(Overrides(), small_run.sandbox)) as found:
        yield found

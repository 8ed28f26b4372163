"""Fake servers and clients, closed after each test; pauses between tries are shortened."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gradebox.sandbox.piston import PistonSandbox, fleet

from .fake_piston import FakePiston, Received, Settings


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "FIRST_PAUSE_S", 0.005)
    monkeypatch.delenv("PISTON_ENDPOINTS", raising=False)


@pytest.fixture(scope="module")
def _shared() -> Iterator[tuple[FakePiston, dict[str, PistonSandbox]]]:
    """One fake server and its probed clients for a module: probing takes ten runs."""
    clients: dict[str, PistonSandbox] = {}
    with FakePiston() as server:
        yield server, clients
        for one in clients.values():
            one.close()


@pytest.fixture
def piston(_shared: tuple[FakePiston, dict[str, PistonSandbox]]) -> FakePiston:
    server = _shared[0]
    server.script.clear()
    server.always = None
    server.received = Received()
    return server


@pytest.fixture
def server() -> Iterator[Callable[..., FakePiston]]:
    """Return a function that starts a fake with other settings."""
    made: list[FakePiston] = []

    def make(**settings: Any) -> FakePiston:
        made.append(FakePiston(Settings(**settings)))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def client(
    _shared: tuple[FakePiston, dict[str, PistonSandbox]],
) -> Iterator[Callable[..., PistonSandbox]]:
    made: list[PistonSandbox] = []

    def connect(*servers: FakePiston, slots: int = 1, **options: Any) -> PistonSandbox:
        urls = [s.url for s in servers]
        if urls != [_shared[0].url]:
            made.append(PistonSandbox(urls, slots=slots, **options))
            return made[-1]
        key = f"{slots} {options}"
        if key not in _shared[1]:
            _shared[1][key] = PistonSandbox(urls, slots=slots, **options)
        return _shared[1][key]

    yield connect
    for one in made:
        one.close()

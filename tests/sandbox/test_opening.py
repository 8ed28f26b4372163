"""Which sandbox `open_sandbox` opens."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from gradebox.sandbox import SandboxUnavailable
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.opening import open_sandbox


@pytest.fixture
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server answers at the default address."""
    monkeypatch.delenv("PISTON_ENDPOINTS", raising=False)
    monkeypatch.setattr("gradebox.sandbox.opening.DEFAULT_ENDPOINT", "http://127.0.0.1:9")


@pytest.mark.usefixtures("no_server")
@pytest.mark.parametrize("kind", ["auto", "local"])
def test_without_a_server_the_box_is_opened(kind: str) -> None:
    with open_sandbox(kind, slots=1, languages=["python"]) as sandbox:  # type: ignore[arg-type]
        assert isinstance(sandbox, EmbeddedSandbox)


@pytest.mark.usefixtures("no_server")
@pytest.mark.parametrize("kind", ["auto", "piston"])
def test_given_servers_are_never_replaced(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PISTON_ENDPOINTS", "http://127.0.0.1:9")
    with pytest.raises(SandboxUnavailable, match=r"127\.0\.0\.1:9"):
        open_sandbox(kind, slots=1).close()  # type: ignore[arg-type]


class Other(BaseHTTPRequestHandler):
    """Another program that listens at the default address."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"runtimes": "none"}')

    def log_message(self, *_: object) -> None:
        pass


def test_another_program_at_the_default_address_is_not_used_as_piston(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PISTON_ENDPOINTS", raising=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Other)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr("gradebox.sandbox.opening.DEFAULT_ENDPOINT", address)
    try:
        with open_sandbox("auto", slots=1, languages=["python"]) as sandbox:
            assert isinstance(sandbox, EmbeddedSandbox)
    finally:
        server.shutdown()
        server.server_close()

"""A web page must not run programs: Origin, Host (DNS rebinding) and content types."""

import asyncio
import json
import socket
from typing import Any

import aiohttp
import pytest
import requests

from gradebox.sandbox import Limits, Program
from gradebox.sandbox.piston import PistonSandbox
from gradebox.sandbox.server.__main__ import names
from testing.rows import rows

from .conftest import CODE, Served

JOB = json.dumps({"language": "python", "version": "*", "files": [CODE]})
POSTS = ("/api/v2/execute", "/grade", "/api/v2/packages")


def raw_request(server: Served, *headers: str, version: str = "1.1") -> int:
    """Post a job with exactly these headers; return the status."""
    port = int(server.url.rpartition(":")[2])
    lines = [f"POST /api/v2/execute HTTP/{version}", *headers, "Content-Type: application/json"]
    text = "\r\n".join([*lines, "Connection: close", f"Content-Length: {len(JOB)}", "", JOB])
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(text.encode())
        return int(line.makefile("rb").readline().split()[1])


@pytest.mark.parametrize("token", [None, "secret"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "http://localhost:1", "https://localhost.evil"]
)
def test_a_foreign_origin_is_refused(start, origin, token):
    server = start(token=token)
    headers = {"Origin": origin, "Authorization": "Bearer secret"}
    for route in POSTS:
        answer = requests.post(server.url + route, data="{}", headers=headers, timeout=30)
        assert (answer.status_code, "Origin" in answer.json()["message"]) == (403, True)
    assert server.get("/api/v2/runtimes", **headers).status_code == 403

    async def handshake() -> int:
        async with aiohttp.ClientSession() as session:
            try:
                await session.ws_connect(server.url + "/api/v2/connect", headers=headers)
            except aiohttp.WSServerHandshakeError as error:
                return error.status
            return 101

    assert asyncio.run(handshake()) == 403


def test_the_own_origin_is_accepted(start):
    server = start()
    assert server.get("/api/v2/runtimes", Origin=server.url).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    rows(__file__, "hosts"),
)
def test_the_host_must_be_loopback_on_a_loopback_address(start, headers, status):
    server = start()
    assert raw_request(server, *headers) == status
    assert len(server.sandbox.calls) == (status == 200)


@pytest.mark.parametrize("headers", [[], ["Host: "], ["Host: localhost", "Host: evil.example"]])
def test_a_missing_or_doubled_host_is_refused(start, headers):
    server = start()
    assert raw_request(server, *headers) in (400, 403)
    assert raw_request(server, *headers, version="1.0") in (400, 403)
    assert server.sandbox.calls == []


def test_with_a_token_the_host_does_not_matter(start):
    server = start(token="secret")
    assert raw_request(server, "Host: judge.example", "Authorization: Bearer secret") == 200
    assert raw_request(server, "Host: judge.example") == 401


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the loopback address count as another, and the names box and evil lead to it."""
    lookup = socket.getaddrinfo
    monkeypatch.setattr("gradebox.sandbox.server.app.is_loopback", lambda host: False)

    def resolve(host: Any, *args: Any, **more: Any) -> Any:
        return lookup("127.0.0.1" if host in ("box", "evil") else host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


@pytest.mark.usefixtures("elsewhere")
def test_clients_without_a_token_work_at_other_addresses(start):
    server = start(allowed_hosts=frozenset({"box"}))
    port = server.url.rpartition(":")[2]
    for host in ("box", "127.0.0.1"):
        with PistonSandbox([f"http://{host}:{port}"], slots=1) as client:
            compiled = client.compile(Program("python", {"main.py": b"print(1)"}))
            assert client.run(compiled, Limits(), stdin=b"back").stdout == b"back"
    assert raw_request(server, "Host: 192.168.1.5:2000") == 200  # a page cannot rebind an address
    calls = len(server.sandbox.calls)
    refused = requests.post(f"http://evil:{port}/api/v2/execute", json={}, timeout=30)
    assert (refused.status_code, "--allow-host" in refused.json()["message"]) == (403, True)
    assert raw_request(server, "Host: evil.box") == 403
    assert len(server.sandbox.calls) == calls


def test_the_names_of_the_flag():
    assert names("Box, judge.lan.") == {"box", "judge.lan"}
    assert names(None) == frozenset()
    for text in ("box:2000", "http://box", "*", "a b"):
        with pytest.raises(ValueError, match=r"--allow-host has .*without ports"):
            names(text)


@pytest.mark.parametrize("route", POSTS)
@pytest.mark.parametrize(
    "kind",
    ["application/jsonp", "application/json-patch+json", "text/plain", "text/json",
     "multipart/form-data", "application/x-www-form-urlencoded", "", None],
)  # fmt: skip
def test_only_json_is_taken_for_json(start, route, kind):
    server = start()
    headers = {} if kind is None else {"Content-Type": kind}
    answer = requests.post(server.url + route, data=JOB.encode(), headers=headers, timeout=30)
    assert answer.status_code == 415
    assert server.sandbox.calls == []


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_what_piston_clients_send_is_accepted(start, kind):
    answer = requests.post(
        start().url + "/api/v2/execute", data=JOB, headers={"Content-Type": kind}, timeout=30
    )
    assert answer.status_code == 200

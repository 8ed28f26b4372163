"""The bodies of requests: size, compression, structure."""

import base64
import gzip
import json
import tracemalloc

import pytest
import requests

from gradebox.sandbox.errors import RequestRefused
from gradebox.sandbox.server import connect, incoming
from gradebox.sandbox.server.incoming import parse, structure_bytes

from .conftest import CODE, Served
from .test_connect import INIT, talk

POSTS = ("/api/v2/execute", "/grade")
JOB = json.dumps({"language": "python", "version": "*", "files": [CODE]}).encode()


def post(server: Served, route: str, raw: bytes, encoding: str | None = None) -> requests.Response:
    headers = {"Content-Type": "application/json"}
    if encoding is not None:
        headers["Content-Encoding"] = encoding
    return requests.post(server.url + route, data=raw, headers=headers, timeout=60)


@pytest.mark.parametrize("encoding", ["gzip", "DEFLATE", "gzip, gzip", "br"])
def test_a_compressed_body_is_refused(start, encoding):
    server = start()
    answer = post(server, "/api/v2/execute", gzip.compress(JOB), encoding)
    assert (answer.status_code, "without a Content-Encoding" in answer.text) == (415, True)
    assert post(server, "/api/v2/execute", JOB, "identity").json()["run"]["code"] == 0


# ---- structure -----------------------------------------------------------------------------

BOMBS = {
    "objects": b"[" + b"{}," * 1_500_000 + b"0]",
    "lists": b"[" + b"[],[1]," * 700_000 + b"0]",
    "keys": b'{"files": {' + b'"1234":0,' * 600_000 + b'"0":0}}',
    "strings": b"[" + b'"ab",' * 1_500_000 + b'""]',
    "digits": b'{"stdin": ' + b"1" * 5_000_000 + b"}",
    "after a string": b'{"stdin": "\\\\", "x": [' + b"{}," * 1_500_000 + b"0]}",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("route", POSTS)
def test_much_structure_is_refused_before_it_is_parsed(start, route, name):
    answer = post(start(), route, BOMBS[name])
    assert answer.status_code == 413


@pytest.mark.slow
def test_much_structure_in_a_message_is_refused(start, monkeypatch):
    monkeypatch.setattr(connect, "INIT_S", 60.0)
    bomb = {**INIT, "more": [{}] * 1_500_000}
    came, code = talk(start().url, json.dumps(bomb, separators=(",", ":")))
    assert code == 4002
    assert "outside strings" in came[-1]["message"]


@pytest.mark.slow
def test_much_text_is_no_structure(start):
    for text in ("{},[1],\n" * 800_000, '"\\' * 2_000_000, "漢, " * 1_000_000):
        assert start().python(stdin=text).json()["run"]["stdout"] == text


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 100_000,
        b'{"files": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"language": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}",
        b'{"solutions": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"run_timeout": ' + b"9" * 4000 + b"}",
        b'{"stdin": 1e999999999}',
        JOB.decode().encode("utf-16"),
        b'{"language": "\xff"}',
        b"",
    ],
    ids=["deep", "files", "language", "solutions", "int", "float", "utf-16", "utf-8", "empty"],
)
@pytest.mark.parametrize("route", POSTS)
def test_odd_json_is_a_bad_request(start, route, raw):
    answer = post(start(), route, raw)
    assert (answer.status_code, list(answer.json())) == (400, ["message"])


SHAPES = {
    "objects": b"[" + b"{}," * 100_000 + b"0] ",
    "objects with a key": b"[" + b'{"a":0},' * 50_000 + b"0]",
    "keys": b"{" + b",".join(b'"%d":0' % i for i in range(50_000)) + b"}",
    "strings": b"[" + b'"ab",' * 100_000 + b"0]",
    "floats": b"[" + b"1.5," * 100_000 + b"0] ",
    "a text with one wide character": b'"' + b"a" * 5_000_000 + "\U0001f600".encode() + b'"',
    "escapes": b'"' + b"\\u6f22" * 1_000_000 + b'"',
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_parsing_takes_a_bounded_multiple_of_the_body(name, monkeypatch):
    """10 bytes for each byte, and 80 for each outside strings: 160 MiB at the limit."""
    monkeypatch.setattr(incoming, "STRUCTURE_BYTES", len(SHAPES[name]) - 1)
    structure = structure_bytes(SHAPES[name])
    monkeypatch.undo()
    tracemalloc.start()
    try:
        raw = bytearray(SHAPES[name])
        size = len(raw)
        parse(raw)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 10 * size + 80 * structure + (4 << 20)


def test_a_body_is_emptied_once_it_is_text():
    raw = bytearray(b'{"a": 1}')
    assert parse(raw) == {"a": 1}
    assert raw == b""
    with pytest.raises(RequestRefused, match="not JSON"):
        parse(raw)


def test_answers_are_written_as_json_dumps_does(monkeypatch):
    monkeypatch.setattr(incoming, "PIECE_CHARS", 3)
    for value in (
        {},
        [],
        {"a": {}},
        {"a": {"b": '\U0001f600\\"\ud800x' * 5, "c": None}},
        ["long text"],
    ):
        assert incoming.encode(value).read().decode() == json.dumps(value, separators=(",", ":"))


@pytest.mark.slow
def test_long_base64_is_decoded(start):
    server = start()
    data = bytes(range(256)) * 40_000
    text = base64.b64encode(data).decode()
    file = {"name": "data", "content": text, "encoding": "base64"}
    assert server.python(stdin=text, stdin_encoding="base64", files=[CODE, file]).status_code == 200
    (call,) = server.sandbox.calls
    assert (call.stdin, call.files["data"]) == (data, data)
    early = text[: 4 << 20][:-2] + "==" + text[4 << 20 :]
    assert server.python(stdin=early, stdin_encoding="base64").status_code == 400


# ---- WebSockets ----------------------------------------------------------------------------

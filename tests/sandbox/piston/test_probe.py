"""The questions that a client asks a server before its first run, and what may go wrong there."""

from typing import Any

import pytest

from gradebox.sandbox import Limits, Program, SandboxError
from gradebox.sandbox.piston import fleet
from gradebox.sandbox.piston.probe import ANSWER_BYTES

from .fake_piston import Handler
from .faults import REPLIES

PRINTS_ONE = Program("python", {"main.py": b"print(1)"})


@pytest.mark.slow(seconds=6)
def test_a_server_that_allows_five_requests_a_second_gets_through(server, client, monkeypatch):
    monkeypatch.setattr(fleet, "FIRST_PAUSE_S", 0.25)
    box = client(server(per_second=5), slots=2)
    for _ in range(4):
        assert box.run(box.compile(PRINTS_ONE), Limits()).stdout == b"1\n"


def test_a_server_that_was_replaced_is_asked_anew(server, client):
    piston = server()
    box = client(piston)
    program = box.compile(PRINTS_ONE)
    assert box.describe().details["advice"] == []
    piston.settings.languages, piston.settings.output_max = ("python", "c++", "ruby"), 20_000
    piston.script.append(REPLIES["status_500_empty"])  # its end, as the client sees it
    assert box.run(program, Limits()).stdout == b"1\n"
    assert "PISTON_OUTPUT_MAX_SIZE" in box.describe().details["advice"][0]


def test_a_server_that_stays_busy_is_given_up_in_words(server, client, monkeypatch):
    monkeypatch.setattr("gradebox.sandbox.piston.probe.BUSY_S", 0.05)
    monkeypatch.setattr(fleet, "WAIT_S", 0.2)
    piston = server()
    box = client(piston)
    program = box.compile(PRINTS_ONE, interpreted=False)
    piston.always = REPLIES["busy_429"]
    with pytest.raises(SandboxError, match=r"answers any more: .* \(429\)"):
        box.run(program, Limits())


@pytest.mark.slow(seconds=2)
def test_an_endless_answer_is_not_read_to_its_end(server, client):
    piston = server()
    sent = [0]

    def endless(handler: Handler, body: dict[str, Any]) -> None:
        handler.close_connection = True
        handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"run":"')
        while True:
            sent[0] += handler.wfile.write(b"x" * (1 << 20))

    piston.script.append(endless)
    box = client(piston)
    assert box.run(box.compile(PRINTS_ONE), Limits()).stdout == b"1\n"
    assert ANSWER_BYTES < sent[0] < ANSWER_BYTES + (16 << 20)  # and what the sockets hold


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize(
    ("head", "part"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
    ],
    ids=["100 Continue", "chunks of one byte", "trailers"],
)
def test_bytes_beside_an_answers_body_are_counted(server, client, head, part):
    piston = server()
    sent = [0]

    def endless(handler: Handler, body: dict[str, Any]) -> None:
        handler.close_connection = True
        handler.wfile.write(head)
        while True:
            sent[0] += handler.wfile.write(part * 10_000)

    piston.script.append(endless)
    box = client(piston)
    assert box.run(box.compile(PRINTS_ONE), Limits()).stdout == b"1\n"
    assert sent[0] < 2 * ANSWER_BYTES + (16 << 20)

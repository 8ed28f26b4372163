"""Answers of a hostile server: each is a fault of the server, and none takes much memory."""

import socket
import threading
from typing import Any

import pytest

from gradebox.sandbox.errors import Transient
from gradebox.sandbox.model import Program
from gradebox.sandbox.piston import PistonSandbox, transport
from gradebox.sandbox.piston.execute import COMPILE_LIMITS
from gradebox.sandbox.piston.fleet import Endpoint
from gradebox.sandbox.piston.gradebox_server import GradeboxServer, read_answer
from gradebox.sandbox.piston.transport import Transport
from testing.rows import rows

GOOD = {"exit_code": 0, "signal": None, "cpu_s": 0.1, "wall_s": 0.2, "memory_bytes": 9}
COMPILED = {"program": {"language": "python", "files": {}}, "ok": True}


def test_good_evidence_is_read():
    found = read_answer({"compiled": COMPILED, "run": GOOD}).run
    assert found is not None and found.wall_s == 0.2


@pytest.mark.parametrize(
    "field",
    rows(__file__, "evidence_that_no"),
    ids=str,
)
def test_evidence_that_no_run_can_have_is_rejected(field):
    with pytest.raises(Transient):
        read_answer({"compiled": COMPILED, "run": {**GOOD, **field}})


class _Answers(Transport):
    """Answers every request with one value."""

    def __init__(self, value: Any) -> None:
        super().__init__("http://server")
        self.value = value

    def post(self, *args: Any) -> Any:
        return self.value


@pytest.mark.parametrize("change", [{"ok": None}, {"ok": 0}, {"ok": "false"}], ids=str)
def test_a_malformed_answer_is_no_compile_error(change):
    endpoint = Endpoint("http://server", _Answers({"compiled": {**COMPILED, **change}}), 1)
    program = Program("python", {"main.py": b"print(1)"})
    with pytest.raises(Transient, match=r"at `\$\.compiled\.ok`"):
        GradeboxServer().compile(endpoint, program, COMPILE_LIMITS)


def test_the_answer_to_who_are_you_is_bounded(piston, monkeypatch):
    Transport(piston.url).get("/api/v2/runtimes")
    monkeypatch.setattr(transport, "ABOUT_BYTES_MAX", 20)
    with pytest.raises(Transient, match="the answer is over 20 bytes; the rest was not read"):
        Transport(piston.url).get("/api/v2/runtimes")
    with pytest.raises(Exception, match="no Piston server answers"):
        PistonSandbox([piston.url], slots=1)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"Transfer-Encoding: chunked\r\n\r\n-5\r\n{}", "non-negative"),
        (b"Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", "compressed, which was not"),
        (b"Content-Encoding: gzip, gzip\r\nContent-Length: 1\r\n\r\nx", "compressed"),
    ],
    ids=["a chunk of -5 bytes", "gzip", "gzip twice"],
)
def test_an_answer_in_a_form_that_was_not_asked_for_is_a_fault(answer, words):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 200 OK\r\n" + answer)

        thread = threading.Thread(target=serve)
        thread.start()
        host, port = listening.getsockname()
        with pytest.raises(Transient, match=words):
            Transport(f"http://{host}:{port}").get("/api/v2/runtimes")
        thread.join()

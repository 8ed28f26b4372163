"""A model server on loopback with configured answers, including faults.

with FakeServer(chat("hello")) as server: …          every call answers the same
FakeServer(then(status(429), chat("late")))          a fault, then this answer for all calls
FakeServer(lambda call: chat(call.body["prompt"]))   answers that depend on the call
"""

import functools
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.at_once import AtOnce


@dataclass(frozen=True)
class Call:
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Answer:
    """A server's answer. After `cut` bytes of the body the connection is reset."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: int | None = None
    trickle_s: float = 0.0


Handler = Callable[[Call], Answer]


def raw(body: bytes, **kwargs: Any) -> Answer:
    return Answer(body=body, **kwargs)


def as_json(value: Any, **kwargs: Any) -> Answer:
    return Answer(body=json.dumps(value).encode(), **kwargs)


def status(code: int, value: Any = None, **kwargs: Any) -> Answer:
    body = {"error": {"message": "configured"}} if value is None else value
    return as_json(body, status=code, **kwargs)


def chat(text: Any, **fields: Any) -> Answer:
    """Return a chat completion as vLLM and OpenRouter write it."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    choice |= {"finish_reason": fields.pop("finish_reason", "stop"), "text": text}
    usage = {"prompt_tokens": 7, "completion_tokens": 11}
    return as_json({"model": "fake", "choices": [choice], "usage": usage, **fields})


def then(*answers: Answer) -> Handler:
    """Return a handler that gives each answer once in order, and then always the last one."""
    left = list(answers)
    lock = threading.Lock()

    def handler(call: Call) -> Answer:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return handler


class FakeServer:
    """The server, with its address in `url` and the received requests in `calls`."""

    def __init__(self, answer: Answer | Handler) -> None:
        handler = answer if callable(answer) else lambda call: answer
        self.calls: list[Call] = []
        calls, lock = self.calls, threading.Lock()
        self.at_once = at_once = AtOnce()

        class Http(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # the body follows the headers without 40 ms between

            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("content-length") or 0))
                body = json.loads(data) if data else None
                headers = {k.lower(): v for k, v in self.headers.items()}
                call = Call(self.path, headers, body)
                with lock:
                    calls.append(call)
                at_once.entered()
                try:
                    answer = handler(call)
                    time.sleep(answer.delay_s)
                finally:
                    at_once.left()
                try:
                    self._send(answer)
                except OSError:
                    self.close_connection = True

            def _send(self, answer: Answer) -> None:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                if answer.cut is not None:
                    self.wfile.write(answer.body[: answer.cut])
                    # With linger 0 the close is a reset, as when a server dies.
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.close_connection = True
                    self.connection.close()
                    return
                if answer.trickle_s:
                    for byte in answer.body:
                        self.wfile.write(bytes([byte]))
                        time.sleep(answer.trickle_s)
                    return
                self.wfile.write(answer.body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            request_queue_size = 128

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass

        self._server = Quiet(("127.0.0.1", 0), Http)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def __enter__(self) -> "FakeServer":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@functools.cache
def _bound() -> socket.socket:
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    return bound


def free_url() -> str:
    """Return an address where nothing listens; it stays taken, so that no other server gets it."""
    return f"http://127.0.0.1:{_bound().getsockname()[1]}"

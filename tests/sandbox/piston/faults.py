"""Faults of real servers, for FakePiston.script. Each replaces one answer."""

import base64
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from .fake_piston import Fault, Handler, execute


def replies(status: int, body: Any) -> Fault:
    """Answer with a value as JSON; None is an empty body."""
    return lambda handler, _: handler.reply(status, body)


def replies_raw(body: bytes) -> Fault:
    return lambda handler, _: handler.reply_raw(200, body)


_FAILED = {
    **dict.fromkeys(("code", "signal", "memory", "cpu_time", "wall_time")),
    **dict.fromkeys(("stdout", "stderr", "output"), ""),
    "status": "XX",
    "message": "Cannot create box",
}
REPLIES: dict[str, Fault] = {
    "status_500_empty": replies(500, None),
    "status_400_stack": replies(400, {"stack": "Error: something inside\n    at job.js:1"}),
    "status_400_nothing": replies(400, {}),
    "sandbox_failed": replies(200, {"run": _FAILED, "language": "python", "version": "3"}),
    "not_json": replies_raw(b"<html>502 Bad Gateway</html>"),
    "empty_200": replies(200, None),
    "json_list": replies(200, ["run"]),
    "no_run": replies(200, {"language": "python"}),
    "run_is_text": replies(200, {"run": "ok"}),
    "wrong_types": replies(200, {"run": {"stdout": 5, "code": "0", "status": None}}),
    "nan_time": replies_raw(b'{"run": {"stdout": "", "code": 0, "cpu_time": NaN}}'),
    "huge_integer": replies_raw(
        b'{"run": {"stdout": "", "code": 0, "cpu_time": 1%s}}' % (b"0" * 400)
    ),
    "deep_json": replies_raw(b"[" * 200_000),
    "busy_429": replies(429, {"message": "busy"}),
}


def answer_of_another_request(handler: Handler, body: dict[str, Any]) -> None:
    """A proxy swapped two answers: this one is about a program that took too long."""
    report = "GBX1 0123456789abcdef\n"
    run_stage(status="TO", stdout=report, cpu_time=99_000, wall_time=99_500)(handler, body)


def connection_closed(handler: Handler, body: dict[str, Any]) -> None:
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def cut_in_the_middle(handler: Handler, body: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"run": {"stdout": "hal')
    handler.wfile.flush()
    connection_closed(handler, body)


def damaged_character(handler: Handler, body: dict[str, Any]) -> None:
    """A character split between two chunks, in the middle of a report."""
    answer = execute(handler.server_fake, body)
    text = answer["run"]["stdout"]
    answer["run"]["stdout"] = text[: len(text) // 2] + "\ufffd" + text[len(text) // 2 + 1 :]
    handler.reply(200, answer)


def end_missing(handler: Handler, body: dict[str, Any]) -> None:
    """The server noticed its child's exit before it read the last of the output."""
    answer = execute(handler.server_fake, body)
    answer["run"]["stdout"] = answer["run"]["stdout"][:-30]
    handler.reply(200, answer)


def slow(seconds: float) -> Fault:
    def fault(handler: Handler, body: dict[str, Any]) -> None:
        time.sleep(seconds)
        handler.answer(body)

    return fault


def together(count: int) -> Fault:
    """Answer once `count` jobs are under way together."""

    def fault(handler: Handler, body: dict[str, Any]) -> None:
        assert handler.server_fake.received.at_once.wait_for(count)
        time.sleep(0.03)  # in which one more than allowed could arrive
        handler.answer(body)

    return fault


def drips(first: bytes) -> Fault:
    """Send `first`, then a byte now and then, for ever."""

    def fault(handler: Handler, body: dict[str, Any]) -> None:
        handler.close_connection = True
        handler.wfile.write(first)
        while True:
            handler.wfile.write(b" ")
            time.sleep(0.05)

    return fault


def held(entered: threading.Event, leave: threading.Event) -> Fault:
    """Signal that the job has arrived, and keep it until `leave` is set."""

    def fault(handler: Handler, body: dict[str, Any]) -> None:
        entered.set()
        leave.wait(30)
        handler.answer(body)

    return fault


def also(action: Callable[[], None], fault: Fault) -> Fault:
    """Call `action`, then cause the fault."""

    def both(handler: Handler, body: dict[str, Any]) -> None:
        action()
        fault(handler, body)

    return both


def job_of(body: dict[str, Any]) -> list[str]:
    """Return the fields of a request's job (launcher.py), the nonce first; none when it builds."""
    jobs = [f["content"] for f in body["files"] if f.get("name") == "gbx-job"]
    return [f.decode() for f in base64.b64decode(jobs[0]).split(b"\0")] if jobs else []


def run_stage(**fields: Any) -> Fault:
    """Answer with a run stage of these fields; the rest is as if the launcher was killed early."""

    def fault(handler: Handler, body: dict[str, Any]) -> None:
        run = {
            "stdout": "".join(f"GBX1 {nonce}\n" for nonce in job_of(body)[:1]),
            "stderr": "",
            "output": "",
            "code": None,
            "signal": None,
            "status": None,
            "message": None,
            "cpu_time": 10,
            "wall_time": 20.5,
            "memory": 5_000_000,
        }
        handler.reply(200, {"run": {**run, **fields}, "language": "python", "version": "3"})

    return fault


TRANSIENT = REPLIES | {
    f.__name__: f
    for f in (
        answer_of_another_request,
        connection_closed,
        cut_in_the_middle,
        damaged_character,
        end_missing,
    )
}

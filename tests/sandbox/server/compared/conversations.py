"""The comparison over the WebSocket /api/v2/connect: a table, and what is compared of an answer.

A step that is a text is awaited in the program's output, any other one is sent.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from .normal import plain

WAIT_S = 60.0


@dataclass(frozen=True)
class Conversation:
    """One conversation; `ours` and `why` as in `Case`."""

    name: str
    steps: tuple[Any, ...]
    ours: dict[str, Any] = field(default_factory=dict)
    why: str = ""


def init(source: str, language: str = "python", **fields: Any) -> dict[str, Any]:
    files = [{"name": "main.cpp" if language == "c++" else "main.py", "content": source}]
    return {"type": "init", "language": language, "version": "*", "files": files, **fields}


def data(text: Any, stream: str = "stdin") -> dict[str, Any]:
    return {"type": "data", "stream": stream, "data": text}


def sent(name: Any) -> dict[str, Any]:
    return {"type": "signal", "signal": name}


READY = "print('ready', flush=True)\n"
SLEEP = READY + "import time\ntime.sleep(60)\n"
CATCH = "import signal\nsignal.signal(signal.SIGUSR1, lambda *_: exit(7))\n" + SLEEP
DELIVERED = "Piston delivers no signals"
ENDLESS = "import sys\nsys.stdout.write(sys.stdin.read())\n"
MESSAGE = "ours says what is wrong"


def ended(code: int | None, **more: Any) -> dict[str, Any]:
    return {"exits": [["run", code, None]], **more}


CONVERSATIONS = (
    Conversation("prints", (init("print('hi')"),)),
    Conversation("prints to both", (init("import sys\nprint('a')\nprint('b', file=sys.stderr)"),)),
    Conversation("exits with 3", (init("raise SystemExit(3)"),)),
    Conversation("crashes", (init("import os\nos.kill(os.getpid(), 11)"),)),
    Conversation("traceback", (init("1/0"),)),
    Conversation("is asked twice", (init("for _ in 1, 2: print('got', input('? '))"), "? ",
                                    data("a\n"), "got a", data("b\n"))),
    Conversation("input in pieces", (init(READY + "print(input())"), "ready", data("a"),
                                     data("漢"), data("c\n"))),
    Conversation("args", (init("import sys\nprint(sys.argv)", args=["x", "y z"]),)),
    Conversation("a file in a folder", (init("print(open('d/x').read())", files=[
        {"name": "main.py", "content": "print(open('d/x').read())"},
        {"name": "d/x", "content": "hi"}]),)),
    Conversation("c++", (init('#include <cstdio>\nint main() { puts("hi"); return 4; }', "c++"),)),
    Conversation("c++ does not compile", (init("int main() { return x; }", "c++"),)),
    Conversation("wall time", (init("input()", run_timeout=500),)),
    Conversation("CPU time", (init(READY + "while True: pass", run_cpu_time=300),)),
    Conversation("memory", (init("x = bytearray(10**9)", run_memory_limit=60_000_000),)),
    Conversation("much output", (init("print('x' * 300_000)", run_timeout=3000),),
                 {"exits": [["run", None, "SIGKILL"]], "stdout": "65536 characters"},
                 "the output limit holds"),
    Conversation("end of the input", (init(READY + ENDLESS, run_timeout=1000), "ready", data("a"),
                                      {"type": "eof"}),
                 ended(0, stdout="ready\na"), "Piston cannot end the input"),
    Conversation("stdin of the first message", (init(ENDLESS, stdin="first", run_timeout=1000),
                                                {"type": "eof"}),
                 ended(0, stdout="first"), "Piston ignores it"),
    Conversation("SIGTERM", (init(SLEEP, run_timeout=1000), "ready", sent("SIGTERM")),
                 ended(143, stderr="Terminated\n"), DELIVERED),
    Conversation("a signal is caught", (init(CATCH, run_timeout=1000), "ready", sent("SIGUSR1")),
                 ended(7), DELIVERED),
    Conversation("unknown signal", (init(SLEEP, run_timeout=1000), "ready", sent("SIGNONE"))),
    Conversation("unknown language", ({**init("1"), "language": "cobol"},)),
    Conversation("no files", ({"type": "init", "language": "python", "version": "*"},)),
    Conversation("run_timeout over the limit", (init("1", run_timeout=99_999),)),
    Conversation("data first", (data("x"),)),
    Conversation("a second init", (init(SLEEP, run_timeout=1000), "ready", init("1"))),
    Conversation("data for stdout", (init(SLEEP, run_timeout=1000), "ready", data("x", "stdout"))),
    Conversation("not JSON", (b"x",), {"error": "the request is not JSON: Expecting value: line 1 "
                                       "column 1 (char 0)"}, MESSAGE),
    Conversation("nothing", (), why="closed after a second"),
)  # fmt: skip


def talk(url: str, conversation: Conversation) -> dict[str, Any]:
    """Have a conversation; return what is compared of it."""
    return asyncio.run(asyncio.wait_for(_talk(url, conversation), WAIT_S))


async def _talk(url: str, conversation: Conversation) -> dict[str, Any]:
    text = {"stdout": "", "stderr": ""}
    seen: dict[str, Any] = {"stages": [], "exits": []}
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(url.replace("http", "ws", 1) + "/api/v2/connect") as socket,
    ):

        async def receive() -> bool:
            message = await socket.receive()
            if message.type is not aiohttp.WSMsgType.TEXT:
                return False
            value = json.loads(message.data)
            kind = value["type"]
            if kind == "data":
                text[value["stream"]] += value["data"]
            elif kind == "exit":
                seen["exits"].append([value["stage"], value["code"], value["signal"]])
            elif kind == "stage":
                seen["stages"].append(value["stage"])
            elif kind == "error":
                seen["error"] = value["message"]
            else:
                seen["language"] = value["language"]
            return True

        for step in conversation.steps:
            if isinstance(step, str):
                while step not in text["stdout"] and await receive():
                    pass
            else:
                await socket.send_str(
                    step.decode() if isinstance(step, bytes) else json.dumps(step)
                )
        while await receive():
            pass
        seen["close"] = socket.close_code
    return seen | {stream: plain(said) for stream, said in text.items()}

"""POST /gradebox/runs, the client's end: a hostile server, cut answers, retries."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from gradebox.sandbox.errors import BadRequest, SandboxError, SandboxUnavailable
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.piston import PistonSandbox
from gradebox.sandbox.piston.faults import Transient
from gradebox.sandbox.piston.gradebox_server import most_runs
from gradebox.sandbox.piston.runs import frames
from gradebox.sandbox.piston.runs.exchange import RunsRequest, exchange
from testing.fakes.scripted_sandbox import ready

PROGRAM = Program("python", {"main.py": b"print(input())"})
COMPILED = Compiled(PROGRAM, ok=True)
LIMITS = Limits(output_bytes=100, stderr_bytes=50)
STDINS = [b"a", b"bc", b"\x00\xff"]
Answer = Callable[[dict[str, Any], list[bytes]], bytes]  # of a request's head and inputs


def echoes(head: dict[str, Any], stdins: list[bytes]) -> bytes:
    """Return a good answer: one frame for the first run, one for the others."""
    runs = [ready(stdin, stderr=b"!", memory_bytes=None) for stdin in stdins]
    nonce = head["nonce"]
    rest = frames.write_group(nonce, 1, runs[1:]) if runs[1:] else b""
    return frames.write_group(nonce, 0, runs[:1]) + rest


def read_request(body: bytes) -> tuple[dict[str, Any], list[bytes]]:
    (size,) = frames.SIZE.unpack_from(body)
    head, at = json.loads(body[4 : 4 + size]), 4 + size
    at += sum(size for _, size in head["files"] + head["run_files"])
    stdins = []
    for size, _ in head["runs"]:
        stdins.append(body[at : at + size])
        at += size
    assert at == len(body)
    return head, stdins


class _Memory:
    """A transport whose answers are computed, and cut after `most` bytes."""

    base_url = "http://server"

    def __init__(self, answer: Answer, most: int | None = None) -> None:
        self._answer, self._most = answer, most

    @contextlib.contextmanager
    def stream(self, route: str, body: bytes, *_: Any) -> Iterator[_Memory]:
        assert route == frames.ROUTE
        self._left = io.BytesIO(self._answer(*read_request(body))[: self._most])
        yield self

    def read(self, size: int) -> bytes:
        data = self._left.read(size)
        if len(data) < size:
            raise Transient("cut")
        return data

    def more_time(self) -> None: ...

    finish = more_time


def received(
    answer: Answer, most: int | None = None, stdins: Sequence[bytes] = STDINS
) -> tuple[list[Execution], str]:
    """Return the executions that an answer gives, and the fault that it ends with."""
    got: list[Execution] = []
    request = RunsRequest(PROGRAM, [LIMITS] * len(stdins), stdins)
    try:
        for group in exchange(_Memory(answer, most), request):  # type: ignore[arg-type]
            got += group
    except Transient as fault:
        return got, str(fault)
    return got, ""


def test_a_good_answer() -> None:
    got, fault = received(echoes)
    assert ([one.stdout for one in got], fault) == (STDINS, "")
    assert {one.stderr for one in got} == {b"!"}


def test_a_cut_answer_at_every_byte_is_a_fault_and_what_came_before_is_kept() -> None:
    nonce = "0" * 32  # as long as the client's
    whole = len(echoes({"nonce": nonce}, STDINS))
    first = len(frames.write_group(nonce, 0, [ready(b"a", stderr=b"!", memory_bytes=None)]))
    for most in range(whole):
        got, fault = received(echoes, most)
        assert [one.stdout for one in got] == STDINS[: most >= first], most
        assert fault == "cut"


@pytest.mark.parametrize("at", range(0, 900, 7))
def test_a_damaged_byte_is_a_fault_or_changes_only_data(at: int) -> None:
    def damaged(head: dict[str, Any], stdins: list[bytes]) -> bytes:
        raw = bytearray(echoes(head, stdins))
        raw[at % len(raw)] ^= 0xA5
        return bytes(raw)

    got, fault = received(damaged)
    assert fault or len(got) == len(STDINS)
    for one in got:
        assert type(one.exit_code) is int and len(one.stdout) <= LIMITS.output_bytes


def group(**fields: Any) -> Answer:
    """Return an answer with a single execution, some fields of its head replaced."""

    def answer(head: dict[str, Any], stdins: list[bytes]) -> bytes:
        plain = {**vars(ready(b"x")), "stdout": 1, "stderr": 0, "files": {}, "limits_hit": []}
        of_frame = {k: v for k, v in fields.items() if k in ("nonce", "first", "executions")}
        one = {k: v for k, v in {**plain, **fields}.items() if k not in of_frame}
        sent = {"nonce": head["nonce"], "first": 0, "executions": [one], **of_frame}
        return frames.frame(sent, b"x" * 1000)

    return answer


def raw(data: bytes) -> Answer:
    return lambda head, stdins: data


def ends(count: int, error: str = "") -> Answer:
    return lambda head, stdins: frames.write_end(head["nonce"], count, error)


HOSTILE: list[tuple[Answer, str]] = [
    (raw(b""), "cut"),
    (raw(b"\xff\xff\xff\xff"), "head of 4294967295 bytes"),
    (raw(frames.SIZE.pack(5) + b"[" * 5), "not JSON"),
    (raw(frames.SIZE.pack(200_000) + b"[" * 200_000), "not JSON"),
    (raw(frames.SIZE.pack(2) + b"\xff\xff"), "not JSON"),
    (raw(frames.SIZE.pack(2) + b"[]"), "JSON list, not an object"),
    (raw(frames.frame({})), "another request"),
    (group(nonce="of another run"), "another request"),
    (group(nonce=None), "another request"),
    (group(first=1), "has run 1 where run 0"),
    (group(first=False), "has run False"),
    (group(first=10**30), "has run 1000"),
    (group(executions=[]), "too many"),
    (group(executions=None), "too many"),
    (group(executions=[{}] * 4), "too many"),
    (group(executions=[5]), "JSON int"),
    (group(executions=[{}]), "JSON NoneType"),
    (group(stdout=101), "101 bytes where 100 are the limit"),
    (group(stderr=51), "51 bytes where 50"),
    (group(stdout=-1), "-1 bytes"),
    (group(stdout=True), "True bytes"),
    (group(stdout="x"), "x bytes"),
    (group(stdout=None), "None bytes"),
    (group(files={"out": 3}), "not asked for"),
    (group(files=[]), "JSON list"),
    (group(exit_code="0"), "no run can have"),
    (group(exit_code=True), "no run can have"),
    (group(cpu_s=float("nan")), "no run can have"),
    (group(wall_s=-1), "no run can have"),
    (group(stdout_cut=0), "no run can have"),
    (group(contended="no"), "no run can have"),
    (group(killed_for="boredom"), "unknown limit"),
    (group(limits_hit=5), "mistypes"),
    (ends(0), "no executions"),
    (ends(0, "the box died"), "the box died"),
    (ends(3), "has run 3"),
]


@pytest.mark.parametrize(("answer", "message"), HOSTILE, ids=[m for _, m in HOSTILE])
def test_a_hostile_answer_is_a_fault(answer: Answer, message: str) -> None:
    got, fault = received(answer)
    assert got == []
    assert message in fault


@pytest.mark.parametrize(
    ("about", "most"),
    [
        ({}, 0),
        ({"runs": 5}, 0),
        ({"runs": {"version": 2, "most": 5}}, 0),
        ({"runs": {"version": 1}}, 0),
        ({"runs": {"version": 1, "most": True}}, 0),
        ({"runs": {"version": 1, "most": -4}}, 0),
        ({"runs": {"version": 1, "most": 5}}, 5),
        ({"runs": {"version": 1, "most": 10**9}}, frames.MOST_RUNS),
    ],
    ids=str,
)
def test_what_a_server_reports_is_bounded(about: dict[str, Any], most: int) -> None:
    assert most_runs(about) == most


# ---- over a socket ---------------------------------------------------------------------------


def http(body: bytes, kind: str = frames.CONTENT_TYPE) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (
        kind.encode(),
        len(body),
        body,
    )


def chunked(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n"
    pieces = [body[i : i + 300] for i in range(0, len(body), 300)]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return head % frames.CONTENT_TYPE.encode() + chunks + b"0\r\n\r\n"


class RawServer:
    """Answers GET like our server, and runs with scripted bytes, then with good answers.

    script  the whole HTTP answers; the connection is closed after each
    asked   inputs of every request
    """

    def __init__(self) -> None:
        self.script: list[Callable[[dict[str, Any], list[bytes]], bytes]] = []
        self.asked: list[list[bytes]] = []
        self.about: dict[str, Any] = {"runs": {"version": frames.VERSION, "most": 8}}
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=[line], daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        with contextlib.suppress(OSError), line, line.makefile("rb") as stream:
            while first := stream.readline():
                size = 0
                while (header := stream.readline().strip()) != b"":
                    name, _, value = header.partition(b":")
                    size = int(value) if name.lower() == b"content-length" else size
                if first.startswith(b"GET / "):
                    about = {"message": "Piston v3.1.1", "gradebox": self.about}
                    line.sendall(http(json.dumps(about).encode(), "application/json"))
                elif first.startswith(b"GET"):
                    listed = [{"language": "python", "version": "3", "aliases": []}]
                    line.sendall(http(json.dumps(listed).encode(), "application/json"))
                else:
                    head, stdins = read_request(stream.read(size))
                    self.asked.append(stdins)
                    if self.script:
                        line.sendall(self.script.pop(0)(head, stdins))
                        return
                    line.sendall(chunked(echoes(head, stdins)))

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)


@pytest.fixture
def server() -> Iterator[RawServer]:
    one = RawServer()
    yield one
    one.close()


@pytest.fixture
def client(server: RawServer) -> Iterator[PistonSandbox]:
    with PistonSandbox([server.url], slots=1) as one:
        yield one


def run_many(client: PistonSandbox, stdins: Sequence[bytes] = STDINS) -> list[Execution]:
    groups = client.run_many(COMPILED, [LIMITS] * len(stdins), stdins)
    return [one for group in groups for one in group]


def test_the_rest_of_a_cut_answer_is_asked_for_again(
    server: RawServer, client: PistonSandbox
) -> None:
    whole = chunked(echoes({"nonce": "0" * 32}, STDINS))
    for most in range(0, len(whole), 47):
        server.asked.clear()
        server.script = [lambda *asked, most=most: chunked(echoes(*asked))[:most]]  # type: ignore[misc]
        assert [one.stdout for one in run_many(client)] == STDINS
        again = server.asked[1:]
        assert again in ([], [STDINS], [STDINS[1:]]), most


def test_connections_are_used_again(
    server: RawServer, client: PistonSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urllib3.util.connection.create_connection", None)  # none is made
    run_many(client)
    assert client.run(COMPILED, LIMITS, stdin=b"x").stdout == b"x"
    assert server.asked == [STDINS, [b"x"]]


def test_many_inputs_are_several_requests(server: RawServer, client: PistonSandbox) -> None:
    stdins = [b"%d" % i for i in range(20)]
    assert [one.stdout for one in run_many(client, stdins)] == stdins
    assert [len(asked) for asked in server.asked] == [8, 8, 4]


def test_a_busy_server_is_asked_for_fewer(server: RawServer, client: PistonSandbox) -> None:
    busy = b"HTTP/1.1 429 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
    server.script = [raw(busy), raw(busy)]
    stdins = [b"%d" % i for i in range(8)]
    assert [one.stdout for one in run_many(client, stdins)] == stdins
    assert [len(asked) for asked in server.asked][:3] == [8, 4, 2]


def test_an_answer_that_ends_early_is_continued(server: RawServer, client: PistonSandbox) -> None:
    def early(head: dict[str, Any], stdins: list[bytes]) -> bytes:
        nonce = head["nonce"]
        first = frames.write_group(nonce, 0, [ready(stdins[0])])
        return chunked(first + frames.write_end(nonce, 1))

    server.script = [early]
    assert [one.stdout for one in run_many(client)] == STDINS
    assert server.asked == [STDINS, STDINS[1:]]


def test_nothing_is_asked_for_after_a_run_that_failed(
    server: RawServer, client: PistonSandbox
) -> None:
    def failing(head: dict[str, Any], stdins: list[bytes]) -> bytes:
        nonce = head["nonce"]
        one = frames.write_group(nonce, 0, [ready(stdins[0], exit_code=1)])
        return chunked(one + frames.write_end(nonce, 1))

    server.script = [failing]
    assert [one.exit_code for one in run_many(client)] == [1]
    assert server.asked == [STDINS]


@pytest.mark.parametrize(
    "answer",
    [http(b"{}", "application/json"), b"nonsense\r\n\r\n", b"HTTP/1.1 500 No\r\n\r\n"],
    ids=["JSON", "nonsense", "500"],
)
def test_a_server_that_fails_every_time(
    server: RawServer, client: PistonSandbox, answer: bytes
) -> None:
    server.script = [raw(answer)] * 20
    with pytest.raises(SandboxError):
        run_many(client)
    assert len(server.asked) == 6


def test_a_server_of_another_version_is_refused(server: RawServer) -> None:
    server.about = {}
    with pytest.raises(SandboxUnavailable, match="is gradebox of another version"):
        PistonSandbox([server.url], slots=1)


def test_impossible_requests_are_refused_at_once(client: PistonSandbox) -> None:
    assert "batch" in client.capabilities
    for limits, stdins, message in (
        ([LIMITS], [], "1 limits for 0 inputs"),
        ([], [], "at least one"),
        ([LIMITS, Limits(cpu_s=0)], [b"", b""], "cpu_s"),
    ):
        with pytest.raises(BadRequest, match=message):
            client.run_many(COMPILED, limits, stdins)
    with pytest.raises(BadRequest, match="did not compile"):
        client.run_many(Compiled(PROGRAM, ok=False), [LIMITS], [b""])

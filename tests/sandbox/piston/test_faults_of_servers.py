"""Faults of real servers, each provoked: none of them reaches an Execution."""

import hashlib
import threading
import time
from typing import Any

import pytest

from gradebox.sandbox import Compiled, Execution, Limits, Program, SandboxError, SandboxUnavailable
from gradebox.sandbox.errors import Refused
from gradebox.sandbox.piston import PistonSandbox, transport

from .fake_piston import STDIN_CUT, Handler
from .faults import TRANSIENT, also, drips, held, run_stage, slow

pytestmark = pytest.mark.slow  # each test starts real programs

ECHO = b"import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())\n"


def python(box: PistonSandbox, source: bytes) -> Compiled:
    """Return a program without a request, so that a scripted fault meets the run."""
    return box.compile(Program("python", {"main.py": source}), interpreted=False)


def run(box: PistonSandbox, source: bytes, limits: Limits | None = None, **more: Any) -> Execution:
    return box.run(python(box, source), limits or Limits(), **more)


def probed(box: PistonSandbox) -> PistonSandbox:
    """Return a client that has probed its server, so that scripted faults meet the run itself."""
    assert run(box, b"print(1)").stdout == b"1\n"
    return box


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_transient_fault_is_retried(piston, client, name):
    box = probed(client(piston))
    piston.script.append(TRANSIENT[name])
    got = run(box, ECHO, stdin=b"7 8 9\n")
    assert (got.stdout, got.exit_code, got.killed_for) == (b"7 8 9\n", 0, None)
    assert not piston.script


@pytest.mark.parametrize("name", sorted(set(TRANSIENT) - {"busy_429", "damaged_character"}))
def test_a_lasting_fault_is_a_sandbox_error(piston, client, name):
    box = probed(client(piston))
    piston.always = TRANSIENT[name]
    with pytest.raises(SandboxError):
        run(box, ECHO, stdin=b"1\n")


@pytest.mark.parametrize(
    "reader",
    [
        b"data = open(0, 'rb').read()",
        b"import os\ndata = b''\nwhile piece := os.read(0, 65536): data += piece",
        b"import sys\ndata = sys.stdin.buffer.read()",
        b"from __future__ import annotations\nimport sys\ndata = sys.stdin.read().encode()",
    ],
    ids=["open", "os.read", "stdin.buffer", "future"],
)
def test_large_input_is_not_cut(piston, client, reader):
    data = b"123456789\n" * (STDIN_CUT // 5)
    source = reader + b"\nimport hashlib\nprint(len(data), hashlib.md5(data).hexdigest())\n"
    got = run(client(piston), source, stdin=data)
    assert got.stdout.split() == [b"%d" % len(data), hashlib.md5(data).hexdigest().encode()]


def test_input_reaches_c_before_any_constructor(piston, client):
    source = (
        b"#include <cstdio>\n"
        b'struct Early { int n; Early() { if (scanf("%d", &n) != 1) n = -1; } };\n'
        b'Early early;\nint main() { int m; if (scanf("%d", &m) != 1) return 1;'
        b' printf("%d\\n", early.n + m); }\n'
    )
    box = client(piston)
    compiled = box.compile(Program("c++17", {"main.cpp": source}))
    assert box.run(compiled, Limits(), stdin=b"40 2").stdout == b"42\n"


def test_output_comes_back_byte_for_byte(server, client):
    box = client(server(chunk=1000))  # splits characters, as the real server's pipe does
    every, kanji = bytes(range(256)) * 700, "漢".encode() * 30_000
    replaced = "\ufffd and more \ufffd\n".encode()
    for data in (b"", b"\n", b"no newline", every, kanji, b"\r\n\r\n", b"\0" * 9, replaced):
        got = run(box, ECHO, stdin=data)
        assert (got.stdout, got.stdout_bytes, got.stdout_cut) == (data, len(data), False)


def test_the_stock_body_limit_is_found_and_reported(server, client):
    stock = server(body_limit=102_400)
    box = probed(client(stock))
    assert any("body_parser.json" in line for line in box.describe().details["advice"])
    with pytest.raises(Refused, match=r"request of \d+ bytes .* raise its body limit"):
        run(box, ECHO, stdin=b"x" * 200_000)


def test_the_stock_output_limit_is_found_and_reported(server, client):
    box = probed(client(server(output_max=1024, chunk=512)))
    assert any("PISTON_OUTPUT_MAX_SIZE" in line for line in box.describe().details["advice"])
    assert run(box, b"print('a' * 300)").stdout == b"a" * 300 + b"\n"
    with pytest.raises(Refused, match=r"PISTON_OUTPUT_MAX_SIZE .* 5001 bytes of stdout"):
        run(box, b"print('a' * 5000)")


def test_much_stderr_does_not_kill_a_program(server, client):
    box = probed(client(server(output_max=4096, chunk=512)))
    got = run(box, b"import sys\nsys.stderr.write('e' * 200_000)\nprint('fine')")
    assert (got.stdout, got.exit_code, got.killed_for) == (b"fine\n", 0, None)
    assert got.stderr_cut and got.stderr.startswith(b"eee")


def test_an_output_limit_above_what_the_probe_printed_is_found(server, client):
    box = probed(client(server(output_max=3 << 20)))
    with pytest.raises(Refused, match="PISTON_OUTPUT_MAX_SIZE"):
        run(box, b"print('a' * (5 << 20))")
    assert len(run(box, b"print('a' * 500_000)").stdout) == 500_001


def test_too_much_output_is_the_programs_fault(piston, client):
    limits = Limits(output_bytes=100_000)
    got = run(client(piston), b"while True: print('x' * 1000)", limits)
    assert (got.killed_for, len(got.stdout), got.stdout_cut) == ("output", 100_000, True)


@pytest.mark.parametrize(
    ("source", "signal", "code"),
    [
        (b"import os; os.abort()", 6, None),
        (b"import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", 11, None),
        (b"import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 9, None),
        (b"import sys; sys.exit(3)", None, 3),
        (b"import os; os._exit(134)", None, 134),
        (b"raise ValueError", None, 1),
    ],
)
def test_crashes_keep_their_signal(piston, client, source, signal, code):
    got = run(client(piston), source)
    assert (got.signal, got.exit_code, got.killed_for) == (signal, code, None)


def test_a_wall_kill_on_a_shared_server_is_run_again_alone(piston, client):
    box = probed(client(piston, slots=2))
    entered, leave = threading.Event(), threading.Event()
    piston.script.append(held(entered, leave))
    other = threading.Thread(target=run, args=(box, b"print(1)"))
    other.start()
    assert entered.wait(30)
    late = run_stage(status="TO", signal="SIGKILL", cpu_time=100, wall_time=75_000)
    piston.script.append(also(leave.set, late))
    got = run(box, b"print(2)")
    other.join()
    assert (got.stdout, got.killed_for) == (b"2\n", None)


def test_limits_sent_are_positive_and_wall_is_larger(piston, client):
    box = probed(client(piston))
    run(box, b"pass", Limits(cpu_s=1, wall_s=5, memory_bytes=64 << 20))
    sent = piston.received.bodies[-1]
    assert 1000 < sent["run_cpu_time"] < 1500
    assert sent["run_timeout"] >= 2 * 5000
    assert sent["run_memory_limit"] * 1.024 > 64 << 20
    for body in piston.received.bodies:
        for name in ("run_timeout", "run_cpu_time", "run_memory_limit"):
            assert body.get(name, 1) > 0


def test_smaller_limits_of_a_server_are_respected_and_reported(server, client):
    small = server(run_timeout=3000, run_cpu_time=3000)
    box = probed(client(small))
    assert {"PISTON_RUN_TIMEOUT", "PISTON_RUN_CPU_TIME"} <= {
        line.split(": ")[1].split()[0] for line in box.describe().details["advice"]
    }
    run(box, b"pass", Limits(cpu_s=10))
    assert small.received.bodies[-1]["run_cpu_time"] == 3000
    small.always = run_stage(status="TO", signal="SIGKILL", cpu_time=3000, wall_time=3100)
    with pytest.raises(Refused, match=r"PISTON_RUN_CPU_TIME \(3 s\) .* needs 10 s"):
        run(box, b"while True: pass", Limits(cpu_s=10))


@pytest.mark.slow
def test_an_idle_connection_closed_by_the_server_is_retried(server, client, monkeypatch):
    monkeypatch.setattr(transport, "IDLE_S", 60.0)  # so that the dead connection is used
    box = probed(client(server(idle_s=0.2)))
    time.sleep(0.6)
    assert run(box, b"print(5)").stdout == b"5\n"


def test_time_in_the_servers_queue_is_not_the_programs(piston, client):
    box = probed(client(piston))
    piston.script.append(slow(1.2))
    assert run(box, b"print(1)", Limits(wall_s=1.0)).stdout == b"1\n"
    assert not piston.script


def test_a_missing_answer_times_out(piston, client, monkeypatch):
    from gradebox.sandbox.piston import fleet, stock_piston

    box = probed(client(piston))
    monkeypatch.setattr(fleet, "ATTEMPTS", 2)
    monkeypatch.setattr(stock_piston, "QUEUE_S", -10.8)  # the whole time-out becomes 0.2 s
    piston.always = slow(1.0)
    with pytest.raises(SandboxError, match="Timeout"):
        run(box, b"print(1)", Limits(wall_s=0.5))


@pytest.mark.parametrize(
    "first",
    [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"],
    ids=["headers", "body"],
)
def test_an_answer_that_drips_times_out(piston, client, monkeypatch, first):
    from gradebox.sandbox.piston import stock_piston

    box = probed(client(piston))
    monkeypatch.setattr(stock_piston, "QUEUE_S", -12.0)  # 2 s for the first byte,
    monkeypatch.setattr(transport, "DRIP_S", 0.5)  # and 0.5 s for the rest
    once = also(lambda: monkeypatch.setattr(stock_piston, "QUEUE_S", 60.0), drips(first))
    piston.script.append(once)
    began = time.monotonic()
    assert run(box, b"print(1)", Limits(wall_s=2.0)).stdout == b"1\n"
    assert time.monotonic() - began > 2.4


def test_a_request_may_take_longer_to_send_than_to_connect(piston, client, monkeypatch):
    monkeypatch.setattr(transport, "CONNECT_TIMEOUT_S", 0.3)
    monkeypatch.setattr(transport, "IDLE_S", -1.0)  # a new connection for each request
    box = probed(client(piston))
    monkeypatch.setattr(piston, "reads_after_s", 1.0)
    assert run(box, ECHO, stdin=b"x" * 12_000_000).stdout_bytes == 12_000_000


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_respected(piston, client, status):
    box = probed(client(piston))

    def busy(handler: Handler, body: dict[str, Any]) -> None:
        handler.reply_raw(status, b"", **{"Retry-After": "1"})

    piston.script.append(busy)
    began = time.monotonic()
    assert run(box, b"print(1)").stdout == b"1\n"
    assert time.monotonic() - began >= 1


def test_a_moved_server_is_reported_with_its_new_address(piston, client):
    box = probed(client(piston))
    piston.always = lambda handler, body: handler.reply_raw(
        308, b"", Location="https://new.example/"
    )
    with pytest.raises(SandboxError, match=r"HTTP 308, moved to https://new\.example/"):
        run(box, b"print(1)")


def test_an_unreachable_server_is_reported_with_the_remedy(server):
    piston = server()
    piston.close()
    with pytest.raises(
        SandboxUnavailable, match=r"no Piston server answers at .*use --sandbox local"
    ):
        PistonSandbox([piston.url], slots=1)


def test_a_server_that_asks_for_a_token_is_reported_with_the_variable(server):
    url = server(token="open").url
    for token in (None, "wrong"):
        with pytest.raises(
            SandboxUnavailable, match=r"can't be used: .*HTTP 401.*GRADEBOX_ENDPOINT_TOKEN"
        ):
            PistonSandbox([url], slots=1, token=token)
    PistonSandbox([url], slots=1, token="open").close()


def test_no_message_shows_the_password_of_an_address(server, client):
    piston = server()
    address = piston.url.replace("//", "//me:sesame@")
    with PistonSandbox([address], slots=1) as box:
        program = box.compile(Program("python", {"main.py": b""}), interpreted=False)
        piston.always = TRANSIENT["status_500_empty"]
        with pytest.raises(SandboxError, match="500") as caught:
            box.run(program, Limits())
    piston.close()
    with pytest.raises(SandboxUnavailable, match="no Piston server answers") as none:
        PistonSandbox([address], slots=1)
    assert "sesame" not in str(caught.value) + str(none.value)


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("end", ["", "/", "/execute"])
def test_an_api_below_a_path_of_its_own_is_used(server, end):
    url = server(api="/api/v2/piston").url
    with PistonSandbox([f"{url}/api/v2/piston{end}"], slots=1) as box:
        assert run(box, b"print(1)").stdout == b"1\n"

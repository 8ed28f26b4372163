"""Several servers as one: nothing is lost or wrong when some of them fail."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from sandbox import BadRequest, Limits, Program, SandboxError, SandboxUnavailable
from sandbox.piston import PistonSandbox
from sandbox.piston.endpoints import endpoints_from, normalise, slurm_endpoints
from sandbox.piston.faults import Refused, Transient
from sandbox.piston.fleet import Endpoint, Fleet
from sandbox.piston.transport import Transport

from .fake_piston import FakePiston, Handler
from .faults import status_500_empty

pytestmark = pytest.mark.slow  # each test starts real programs

Make = Callable[..., FakePiston]
Connect = Callable[..., PistonSandbox]


def endpoint(name: str, cap: int = 1) -> Endpoint:
    return Endpoint(f"http://{name}", Transport(f"http://{name}"), cap)


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def fleet(*members: Endpoint, clock: Clock | None = None) -> Fleet:
    return Fleet(members, lambda e: None, clock or Clock())


@pytest.mark.slow
def test_one_killed_and_one_failing_lose_nothing(server: Make, client: Connect) -> None:
    good, dying, failing = server(), server(), server()
    box = client(good, dying, failing, slots=3)
    compiled = box.compile(Program("python", {"main.py": b"print(int(input()) ** 2)"}))
    got: dict[int, bytes] = {}

    def one(first: int) -> None:
        for n in range(first, 30, 3):
            got[n] = box.run(compiled, Limits(), stdin=b"%d" % n).stdout
            if len(got) == 6:
                dying.close()
                failing.always = status_500_empty

    threads = [threading.Thread(target=one, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {n: b"%d\n" % (n * n) for n in range(30)}


def test_a_failing_endpoint_sits_out_and_comes_back() -> None:
    clock = Clock()
    good, bad = endpoint("good"), endpoint("bad")
    pool = fleet(good, bad, clock=clock)
    first = pool.acquire(lambda e: e is bad)
    pool.settle(first, failed=True)
    assert pool.acquire(lambda e: True).endpoint is good
    clock.now += 60
    back = pool.acquire(lambda e: True)
    assert back.endpoint is bad
    pool.settle(back)
    assert bad.failures == 0


def test_pauses_double_up_to_half_a_minute() -> None:
    clock = Clock()
    bad = endpoint("bad")
    pool = fleet(bad, clock=clock)
    pauses = []
    for _ in range(12):
        clock.now = max(clock.now, bad.down_until)
        pool.settle(pool.acquire(lambda e: True), failed=True)
        pauses.append(bad.down_until - clock.now)
    assert pauses[1] == pytest.approx(2 * pauses[0])
    assert pauses == sorted(pauses)
    assert pauses[-1] <= 30


def test_when_all_have_long_been_failing_it_says_so() -> None:
    clock = Clock()
    bad = endpoint("bad")
    pool = fleet(bad, clock=clock)
    for _ in range(7):
        clock.now = max(clock.now, bad.down_until)
        pool.settle(pool.acquire(lambda e: True), failed=True)
    bad.fault = "HTTP 502"
    with pytest.raises(
        SandboxUnavailable, match=r"answers any more: http://bad \(7 failures, the last: HTTP 502\)"
    ):
        pool.acquire(lambda e: True)


def test_one_fault_that_many_requests_met_counts_once() -> None:
    bad = endpoint("bad", cap=8)
    pool = fleet(bad)
    leases = [pool.acquire(lambda e: True) for _ in range(8)]
    for lease in leases:
        pool.settle(lease, failed=True)
    assert bad.failures == 1


@pytest.mark.parametrize("fault", [Transient("cut"), Refused("no Route matched")])
def test_a_place_comes_back_when_the_server_is_asked_in_vain(fault: SandboxError) -> None:
    """A proxy that has lost its server answers 404 with a message: a refusal."""
    bad = endpoint("bad")
    answers = [fault]

    def check(asked: Endpoint) -> None:
        if answers:
            raise answers.pop()

    pool = Fleet([bad], check)
    pool.settle(pool.acquire(lambda e: True), failed=True)
    lease = pool.acquire(lambda e: True)
    assert (bad.inflight, bad.failures) == (1, 2)
    pool.settle(lease)


def test_a_pause_asked_for_is_kept_up_to_half_a_minute() -> None:
    clock = Clock()
    bad = endpoint("bad")
    pool = fleet(bad, clock=clock)
    for asked, kept in ((12.0, 12.0), (9e9, 30.0)):
        clock.now = max(clock.now, bad.down_until)
        pool.settle(pool.acquire(lambda e: True), failed=True, pause_s=asked)
        assert bad.down_until - clock.now == kept


def test_a_slow_endpoint_gets_less() -> None:
    slow, quick = endpoint("slow", cap=8), endpoint("quick", cap=8)
    pool = fleet(slow, quick)
    for _ in range(10):
        pool.settle(pool.acquire(lambda e: e is slow), waited_s=5)
    taken = [pool.acquire(lambda e: True).endpoint for _ in range(9)]
    assert taken.count(quick) == 8
    assert taken.count(slow) == 1


def test_each_endpoint_has_its_own_cap() -> None:
    one, two = endpoint("one", cap=2), endpoint("two", cap=2)
    pool = fleet(one, two)
    leases = [pool.acquire(lambda e: True) for _ in range(4)]
    assert (one.inflight, two.inflight) == (2, 2)
    waiting = threading.Event()

    def fifth() -> None:
        pool.acquire(lambda e: True)
        waiting.set()

    thread = threading.Thread(target=fifth, daemon=True)
    thread.start()
    assert not waiting.wait(0.1)
    pool.settle(leases[0])
    assert waiting.wait(10)


def test_alone_waits_for_the_others_and_keeps_them_out() -> None:
    one = endpoint("one", cap=4)
    pool = fleet(one)
    beside = pool.acquire(lambda e: True)
    order: list[str] = []

    def alone() -> None:
        lease = pool.acquire(lambda e: True, alone=True)
        order.append("alone")
        pool.settle(lease)

    def later() -> None:
        pool.settle(pool.acquire(lambda e: True))
        order.append("later")

    first = threading.Thread(target=alone)
    first.start()
    while not one.held:
        threading.Event().wait(0.005)
    second = threading.Thread(target=later)
    second.start()
    threading.Event().wait(0.05)
    assert order == []
    pool.settle(beside)
    first.join(10)
    second.join(10)
    assert order == ["alone", "later"]


def test_who_shared_an_endpoint_is_known() -> None:
    one = endpoint("one", cap=2)
    pool = fleet(one)
    early = pool.acquire(lambda e: True)
    late = pool.acquire(lambda e: True)
    assert pool.settle(late) is True
    assert pool.settle(early) is True
    assert pool.settle(pool.acquire(lambda e: True)) is False


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("localhost:2000", "http://localhost:2000"),
        ("http://a:1/", "http://a:1"),
        ("http://a:1/api/v2", "http://a:1"),
        ("http://a:1/api/v2/", "http://a:1"),
        ("https://piston.example/base/api/v2", "https://piston.example/base"),
        (" http://[::1]:2000 ", "http://[::1]:2000"),
    ],
)
def test_endpoints_are_written_in_many_ways(text: str, url: str) -> None:
    assert normalise(text) == url


@pytest.mark.parametrize("text", ["", "ftp://a", "http://", "http://a:port", "file:///etc/passwd"])
def test_what_is_no_endpoint_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="endpoint"):
        normalise(text)


def test_endpoints_come_from_the_environment() -> None:
    environ = {"PISTON_ENDPOINTS": "http://a:1/api/v2, b:2,http://a:1"}
    assert endpoints_from(None, environ) == ["http://a:1", "http://b:2"]
    assert endpoints_from(["c:3"], environ) == ["http://c:3"]
    assert endpoints_from(None, {}) == ["http://localhost:2000"]


def test_slurm_jobs_are_found(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    squeue = folder / "squeue"
    squeue.write_text(
        "#!/bin/sh\necho 'piston-worker-2001 node-7 RUNNING'\necho 'train node-8 RUNNING'\n"
        "echo '\"piston-worker-2002 node-9.cluster RUNNING\"'\n"
    )
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    environ = {"PISTON_ENDPOINTS": "slurm"}
    assert endpoints_from(None, environ) == ["http://node-7:2001", "http://node-9.cluster:2002"]
    squeue.write_text("#!/bin/sh\n")
    with pytest.raises(
        SandboxUnavailable, match="no running slurm job is named piston-worker-PORT"
    ):
        slurm_endpoints()
    squeue.unlink()
    with pytest.raises(SandboxUnavailable, match="squeue can't be asked"):
        slurm_endpoints()


def test_a_refusal_of_one_endpoint_is_not_the_fleets(server: Make, client: Connect) -> None:
    small, large = server(output_max=2048, chunk=512), server()
    box = client(small, large, slots=2)
    compiled = box.compile(Program("python", {"main.py": b"print('a' * 9000)"}))
    for _ in range(3):
        assert len(box.run(compiled, Limits()).stdout) == 9001


def test_the_codeforces_package_gets_no_answers(server: Make, client: Connect) -> None:
    package = server(languages=("cf_python3",))

    def as_package(handler: Handler, body: dict[str, object]) -> None:
        handler.honest({**body, "language": "cf_python3"})

    package.always = as_package
    box = client(package, package="codeforces")
    compiled = box.compile(Program("python", {"main.py": b"print(input() + '!')"}))
    assert box.run(compiled, Limits(), stdin=b"hi", files={"input.txt": b"x"}).stdout == b"hi!\n"
    sent = package.seen.bodies[-1]
    names = {f["name"] for f in sent["files"]}
    assert {"grader_config", "input.txt"} < names
    assert not names & {"correct_output.txt", "checker.py"}
    assert "\n\n" not in "".join(
        f["content"] for f in sent["files"] if f["name"] == "grader_config"
    )


def test_missing_packages_are_named(server: Make, client: Connect) -> None:
    box = client(server(languages=("ruby",)))
    with pytest.raises(SandboxUnavailable, match=r"python needs \(python; installed: ruby\)"):
        box.compile(Program("python", {"main.py": b""}))

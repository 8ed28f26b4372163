"""Several servers as one: nothing is lost or wrong when some of them fail; addresses."""

import threading

import pytest

from gradebox.sandbox import BadRequest, Limits, Program, SandboxUnavailable
from gradebox.sandbox.endpoints import endpoints_from, normalise, slurm_endpoints
from gradebox.sandbox.errors import Refused, Transient
from gradebox.sandbox.piston.fleet import Endpoint, Fleet
from gradebox.sandbox.piston.transport import Transport
from testing.rows import rows

from .fake_piston import Handler
from .faults import REPLIES

pytestmark = pytest.mark.slow  # each test starts real programs


def endpoint(name: str, cap: int = 1) -> Endpoint:
    return Endpoint(f"http://{name}", Transport(f"http://{name}"), cap)


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def fleet(*members: Endpoint, clock: Clock | None = None) -> Fleet:
    return Fleet(members, lambda e: None, clock or Clock())


@pytest.mark.slow
def test_a_killed_and_a_failing_server_lose_no_run(server, client):
    good, dying, failing = server(), server(), server()
    box = client(good, dying, failing, slots=3)
    compiled = box.compile(Program("python", {"main.py": b"print(int(input()) ** 2)"}))
    got: dict[int, bytes] = {}

    def run_every_third(first: int) -> None:
        for n in range(first, 18, 3):
            got[n] = box.run(compiled, Limits(), stdin=b"%d" % n).stdout
            if len(got) == 6:
                dying.close()
                failing.always = REPLIES["status_500_empty"]

    threads = [threading.Thread(target=run_every_third, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {n: b"%d\n" % (n * n) for n in range(18)}


def test_a_failing_endpoint_is_paused_and_used_again():
    clock = Clock()
    good, bad = endpoint("good"), endpoint("bad")
    pool = fleet(good, bad, clock=clock)
    first = pool.acquire(lambda e: e is bad)
    pool.release(first, failed=True)
    assert pool.acquire(lambda e: True).endpoint is good
    clock.now += 60
    back = pool.acquire(lambda e: True)
    assert back.endpoint is bad
    pool.release(back)
    assert bad.failures == 0


def fail_until(pool: Fleet, bad: Endpoint, clock: Clock, end: float) -> None:
    while max(clock.now, bad.down_until) < end:
        clock.now = max(clock.now, bad.down_until)
        pool.release(pool.acquire(lambda e: True), failed=True)


def test_a_server_that_comes_back_within_two_minutes_loses_no_run():
    clock = Clock()
    bad = endpoint("bad")
    pool = fleet(bad, clock=clock)
    fail_until(pool, bad, clock, clock.now + 119)
    assert bad.failures > 8
    clock.now = bad.down_until  # it works again
    pool.release(pool.acquire(lambda e: True))
    assert bad.failures == 0


def test_long_failing_endpoints_are_reported():
    clock = Clock()
    bad = endpoint("bad")
    bad.last_fault = "HTTP 502"
    pool = fleet(bad, clock=clock)
    fail_until(pool, bad, clock, clock.now + 121)
    clock.now = bad.failing_since + 121
    words = r"answers any more: http://bad \(\d+ failures in 121 s, the last: HTTP 502\)"
    with pytest.raises(SandboxUnavailable, match=words):
        pool.acquire(lambda e: True)


def test_a_fault_that_fails_many_requests_counts_once():
    bad = endpoint("bad", cap=8)
    pool = fleet(bad)
    leases = [pool.acquire(lambda e: True) for _ in range(8)]
    for lease in leases:
        pool.release(lease, failed=True)
    assert bad.failures == 1


@pytest.mark.parametrize("fault", [Transient("cut"), Refused("no Route matched")])
def test_a_lease_is_released_when_the_server_still_fails(fault):
    """A proxy that has lost its server answers 404 with a message, which is a refusal."""
    bad = endpoint("bad")
    answers = [fault]

    def check(asked: Endpoint) -> None:
        if answers:
            raise answers.pop()

    pool = Fleet([bad], check)
    pool.release(pool.acquire(lambda e: True), failed=True)
    lease = pool.acquire(lambda e: True)
    assert (bad.inflight, bad.failures) == (1, 2)
    pool.release(lease)


def test_the_least_busy_endpoint_is_chosen():
    small, large = endpoint("small", cap=2), endpoint("large", cap=8)
    pool = fleet(small, large)
    taken = [pool.acquire(lambda e: True).endpoint for _ in range(5)]
    assert (taken.count(small), taken.count(large)) == (1, 4)


def test_each_endpoint_has_its_own_cap():
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
    pool.release(leases[0])
    assert waiting.wait(10)


def test_alone_waits_for_the_others_and_keeps_them_out():
    one = endpoint("one", cap=4)
    pool = fleet(one)
    beside = pool.acquire(lambda e: True)
    order: list[str] = []

    def alone() -> None:
        lease = pool.acquire(lambda e: True, alone=True)
        order.append("alone")
        pool.release(lease)

    def later() -> None:
        pool.release(pool.acquire(lambda e: True))
        order.append("later")

    first = threading.Thread(target=alone)
    first.start()
    while not one.reserved:
        threading.Event().wait(0.005)
    second = threading.Thread(target=later)
    second.start()
    threading.Event().wait(0.05)
    assert order == []
    pool.release(beside)
    first.join(10)
    second.join(10)
    assert order == ["alone", "later"]


def test_a_lease_reports_whether_it_shared_its_endpoint():
    one = endpoint("one", cap=2)
    pool = fleet(one)
    early = pool.acquire(lambda e: True)
    late = pool.acquire(lambda e: True)
    for lease in (late, early):
        assert pool.shared(lease)
        pool.release(lease)
    assert not pool.shared(pool.acquire(lambda e: True))


@pytest.mark.parametrize(
    ("text", "url"),
    rows(__file__, "addresses_are_normalised"),
)
def test_addresses_are_normalised(text, url):
    assert normalise(text) == url


@pytest.mark.parametrize(
    "text", ["", "ftp://a", "http://", "http://a:port", "file:///etc/passwd", "a:1?x"]
)
def test_an_invalid_address_is_refused(text):
    with pytest.raises(BadRequest, match="endpoint"):
        normalise(text)


def test_endpoints_come_from_the_environment():
    environ = {"PISTON_ENDPOINTS": "http://a:1/api/v2, b:2,http://a:1"}
    assert endpoints_from(None, environ) == ["http://a:1", "http://b:2"]
    assert endpoints_from(["c:3"], environ) == ["http://c:3"]
    assert endpoints_from(None, {}) == ["http://localhost:2000"]


def test_endpoints_come_from_running_slurm_jobs(tmp_path, monkeypatch):
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
    with pytest.raises(SandboxUnavailable, match="squeue failed"):
        slurm_endpoints()


def test_a_run_that_one_endpoint_refuses_goes_to_another(server, client):
    small, large = server(output_max=2048, chunk=512), server()
    box = client(small, large, slots=2)
    compiled = box.compile(Program("python", {"main.py": b"print('a' * 9000)"}))
    for _ in range(3):
        assert len(box.run(compiled, Limits()).stdout) == 9001


def test_the_codeforces_package_gets_neither_answer_nor_checker(server, client):
    package = server(languages=("cf_python3",))

    def as_package(handler: Handler, body: dict[str, object]) -> None:
        handler.answer({**body, "language": "cf_python3"})

    package.always = as_package
    box = client(package, package="codeforces")
    compiled = box.compile(Program("python", {"main.py": b"print(input() + '!')"}))
    assert box.run(compiled, Limits(), stdin=b"hi", files={"input.txt": b"x"}).stdout == b"hi!\n"
    sent = package.received.bodies[-1]
    names = {f["name"] for f in sent["files"]}
    assert {"grader_config", "input.txt"} < names
    assert not names & {"correct_output.txt", "checker.py"}
    assert "\n\n" not in "".join(
        f["content"] for f in sent["files"] if f["name"] == "grader_config"
    )


def test_missing_packages_are_listed(server, client):
    box = client(server(languages=("ruby",)))
    with pytest.raises(SandboxUnavailable, match=r"python needs \(python; installed: ruby\)"):
        box.compile(Program("python", {"main.py": b""}))

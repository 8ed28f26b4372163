"""Programs that end the launcher or damage its report, and answers that only look like that."""

from collections.abc import Iterator

import pytest

from gradebox.eval.grading.verdict import Bounds, judge
from gradebox.sandbox import Compiled, Limits, Program
from gradebox.sandbox.errors import Refused, SandboxError, Transient
from gradebox.sandbox.piston import PistonSandbox
from gradebox.sandbox.piston.transport import parse_answer

from .fake_piston import FakePiston, Settings
from .faults import TRANSIENT, run_stage

pytestmark = pytest.mark.slow  # each test starts real programs

BOUNDS = Bounds(cpu_s=10.0, memory_bytes=256 << 20)
REPORT = "f'/proc/{os.getppid()}/fd/1'"
ATTACKS = {
    "SIGKILL": "os.kill(parent, 9)",
    "SIGSEGV": "os.kill(parent, 11)",
    "SIGABRT": "os.kill(parent, 6)",
    "process group": "os.killpg(os.getpgid(parent), 9)",
    "closed descriptors": "os.closerange(0, 256)\nos.kill(parent, 9)",
    "output first": "print('x' * 100_000, flush=True)\nos.kill(parent, 9)",
    "writes into the report": f"os.write(os.open({REPORT}, os.O_WRONLY), b'Z 0 0 0 0 0 0 0 0 -')",
    "empties the report": f"os.open({REPORT}, os.O_WRONLY | os.O_TRUNC)",
    "another program": "os.execv('/bin/sh', ['sh', '-c', f'kill -9 {parent}; sleep 1'])",
    "two forks": "if not os.fork():\n  if not os.fork():\n    os.kill(parent, 9)\n  os._exit(0)\n"
    "import time\ntime.sleep(1)",
}


@pytest.fixture(scope="module", params=[False, True], ids=["signal", "exit code"])
def box(request: pytest.FixtureRequest) -> Iterator[PistonSandbox]:
    """A client of a server that reports signals, or the exit codes that a shell makes of them."""
    settings = Settings(shell=request.param)
    with FakePiston(settings) as server, PistonSandbox([server.url], slots=1) as client:
        yield client


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradebox.sandbox.piston import fleet

    monkeypatch.setattr(fleet, "FIRST_PAUSE_S", 0.005)


def python(box: PistonSandbox, source: str) -> Compiled:
    return box.compile(Program("python", {"main.py": source.encode()}), interpreted=False)


# How the launcher died is reported in two ways; what else was done to its report changes neither.
WAYS_TO_DIE = ("SIGKILL", "SIGSEGV", "SIGABRT", "process group")


@pytest.mark.parametrize(
    ("box", "attack"),
    [(False, attack) for attack in ATTACKS] + [(True, attack) for attack in WAYS_TO_DIE],
    indirect=["box"],
)
def test_a_program_that_destroys_its_report_is_a_runtime_error(box, attack):
    source = f"import os\nparent = os.getppid()\n{ATTACKS[attack]}\n"
    got = box.run(python(box, source), Limits())
    judgement = judge(got, BOUNDS, None)
    assert (judgement.verdict, judgement.reason) == ("RE", "runtime_error")
    assert "the server saw status" in judgement.error
    assert (got.stdout, got.stdout_cut, got.killed_for, got.exit_code) == (b"", False, None, None)
    if attack in ("SIGSEGV", "SIGABRT"):
        assert got.signal == {"SIGSEGV": 11, "SIGABRT": 6}[attack]


def test_the_signals_that_a_launcher_ignores_change_nothing(box):
    source = "import os\nos.kill(os.getppid(), 15)\nprint(1)\n"
    got = box.run(python(box, source), Limits())
    assert (got.stdout, got.exit_code, got.signal) == (b"1\n", 0, None)


def test_a_flood_into_the_report_is_too_much_output(server, client):
    fake = server()
    box = client(fake)
    program = python(box, "print(1)")
    box.run(program, Limits())  # past the probe
    fake.always = run_stage(status="OL", signal="SIGKILL", stdout="x" * 3_000_000)
    got = box.run(program, Limits())
    assert judge(got, BOUNDS, None).verdict == "OLE"


def test_a_report_that_is_lost_every_time_is_not_the_programs_doing(piston, client):
    box = client(piston)
    program = python(box, "print(1)")
    piston.script.extend([TRANSIENT["end_missing"]] * 5)
    assert box.run(program, Limits()).stdout == b"1\n"
    piston.always = TRANSIENT["end_missing"]
    with pytest.raises(SandboxError, match="the end of the launcher's report was lost"):
        box.run(program, Limits())


def test_a_launcher_that_does_not_start_is_not_the_programs_doing(piston, client):
    box = client(piston)
    program = python(box, "print(1)")
    box.run(program, Limits())  # the server has been asked what it can do
    piston.always = run_stage(status="RE", code=1, stdout="", stderr="No space left on device")
    with pytest.raises(SandboxError, match=r"launcher does not work there: 'No space left"):
        box.run(program, Limits())


def test_a_route_that_is_not_there_may_come_back():
    """A proxy that has lost its server answers 404."""
    with pytest.raises(Transient, match=r"404.*no Route matched"):
        parse_answer("http://x", 404, b'{"message": "no Route matched"}', 0)
    with pytest.raises(Refused, match="not yours"):
        parse_answer("http://x", 403, b'{"message": "not yours"}', 0)

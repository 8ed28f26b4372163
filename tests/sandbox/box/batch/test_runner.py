"""How the runs of a request reach boxes that answer late, die or fail. No program is run."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.built_program import BuiltProgram
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.box.run_request import BoxRequest
from gradebox.sandbox.box.runner import TRIES, Runner
from gradebox.sandbox.common.cpus import Core
from gradebox.sandbox.errors import BoxDied, BoxFault
from gradebox.sandbox.model import Limits

RUNS = 6
Script = list[Any]  # of a box: the states of the replies of each message, or an exception


def reply(state: int = wire.MORE, err: int = 0, **fields: int) -> wire.Reply:
    [one] = wire.unpack_replies(bytes(wire.REPLY.size))
    return one._replace(state=state, err=err, **fields)


class ScriptedBox:
    """A box that gives the replies of its script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[int] = []  # the number of runs in each request
        self.is_busy = self.cancelled = self.needs_recycling = False
        self.folder, self.program_folder, self.last_digest = None, "/program", ""

    def pin(self, core: Core) -> None: ...

    def load(self, digest: object, files: object) -> None: ...

    def start(self, request: bytes, fds: list[int], timeout_s: float, expected: int) -> None:
        self.asked.append(expected)
        self.is_busy = True

    def replies(self) -> tuple[list[wire.Reply], list[int]]:
        message = self.script.pop(0)
        if isinstance(message, Exception):
            raise message
        if message == "recycle":
            self.needs_recycling = True
            message = [wire.OVER]
        self.is_busy = message[-1] == wire.MORE
        return [reply(state) for state in message], []

    def cancel(self) -> None:
        self.cancelled, self.is_busy = self.is_busy, False


class Pool:
    def __init__(self, *scripts: Script) -> None:
        self.boxes = [ScriptedBox(script) for script in scripts]
        self.lent: list[ScriptedBox] = []
        self.closed: list[ScriptedBox] = []

    @contextmanager
    def box(self, kind: str, digest: str, node: int) -> Iterator[ScriptedBox]:
        box = self.boxes[0]
        if not self.lent or self.lent[-1] is not box:
            self.lent.append(box)
        try:
            yield box
        except GeneratorExit:
            raise
        except BaseException:
            self.closed.append(self.boxes.pop(0))
            raise
        if box.needs_recycling:
            self.closed.append(self.boxes.pop(0))

    def invalidate(self) -> None: ...


def groups(pool: Pool, runs: int = RUNS, hold: Any = None) -> Iterator[int]:
    """Yield the sizes of the groups of executions."""
    hold = hold or SimpleNamespace(core=Core(0, 0), contended=False, is_wanted=False)
    cores: Any = SimpleNamespace(one=lambda: nullcontext(hold))
    runner = Runner(cores, pool)  # type: ignore[arg-type]
    program = BuiltProgram(("program",), "digest")
    with closing(runner.executions(BoxRequest(program, Limits(), [b""] * runs))) as executions:
        for group in executions:
            yield len(group)


MORE, OVER, FAILED = [wire.MORE], [wire.OVER], [wire.FAILED]
DIED, FAULT = BoxDied("gone"), BoxFault(5, "run")


@pytest.mark.parametrize(
    ("scripts", "sizes", "asked"),
    [
        ([[MORE * 5 + OVER]], [6], [[6]]),
        ([[MORE * 2, MORE * 3, OVER]], [2, 3, 1], [[6]]),
        ([[MORE * 2, MORE + OVER, MORE + OVER]], [2, 2, 2], [[6, 2]]),
        ([[MORE + FAILED]], [2], [[6]]),
        ([[FAILED]], [1], [[6]]),
        ([[MORE * 2, "recycle"], [MORE * 2 + OVER]], [2, 1, 3], [[6], [3]]),
        ([[DIED], [OVER] * 6], [1] * 6, [[6], [1] * 6]),
        ([[MORE * 2, DIED], [OVER] * 4], [2, 1, 1, 1, 1], [[6], [1] * 4]),
        (
            [[MORE, DIED], [OVER, DIED], [OVER, DIED], [OVER] * 3],
            [1] * 6,
            [[6], [1] * 2, [1] * 2, [1] * 3],
        ),
    ],
)
def test_every_run_is_answered_once(
    scripts: list[Script], sizes: list[int], asked: list[list[int]]
) -> None:
    pool = Pool(*[list(script) for script in scripts])
    assert list(groups(pool)) == sizes
    assert [box.asked for box in pool.lent] == asked


def test_a_run_that_no_box_survives_is_an_error_after_the_runs_before_it() -> None:
    pool = Pool([MORE * 2, DIED], *[[DIED] for _ in range(TRIES)])
    seen = groups(pool)
    assert next(seen) == 2
    with pytest.raises(BoxDied):
        next(seen)
    assert [box.asked for box in pool.lent] == [[6], *[[1]] * (TRIES - 1)]


def test_a_fault_is_an_error_after_the_runs_before_it() -> None:
    pool = Pool([MORE * 2, FAULT])
    seen = groups(pool)
    assert next(seen) == 2
    with pytest.raises(BoxFault):
        next(seen)
    assert len(pool.closed) == 1


@pytest.mark.parametrize(("script", "busy"), [([MORE * 2], True), ([MORE + OVER], True)])
def test_closing_cancels_what_has_not_run(script: Script, busy: bool) -> None:
    """After OVER the rest has been asked for before the group is yielded."""
    pool = Pool(script)
    seen = groups(pool)
    assert next(seen) == 2
    seen.close()  # type: ignore[attr-defined]
    assert (pool.lent[0].cancelled, pool.closed) == (busy, [])


def test_a_core_that_others_wait_for_is_given_up_between_two_runs() -> None:
    pool, events = Pool([MORE * 2, MORE * 2, MORE + OVER]), []
    hold = SimpleNamespace(core=Core(0, 0), contended=False, is_wanted=False)
    hold.give_way = lambda: (events.append("given up"), setattr(hold, "is_wanted", False))
    seen = groups(pool, hold=hold)
    events.append(next(seen))
    hold.is_wanted = True
    events.extend(seen)
    assert events == [2, 2, "given up", 2]
    assert pool.lent[0].asked == [6, 2]


@pytest.mark.parametrize("expected", [1, 2])
def test_only_a_run_that_is_the_only_one_can_have_ended_its_box(expected: int) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.close()
    box: Any = object.__new__(BoxProcess)
    box._socket, box._buffer, box._fault = ours, bytearray(wire.REPLIES_CAP), None
    box._expected, box._memory_limit, box._started_ns = expected, 1, 0
    box.folder, box.cgroup = None, SimpleNamespace(oom_kills=lambda: 1)
    with ours:
        if expected > 1:
            with pytest.raises(BoxDied):
                box.replies()
            return
        [one], _ = box.replies()
        found = wire.KILLED[one.killed], box.is_busy, box.needs_recycling
        assert found == ("memory", False, True)

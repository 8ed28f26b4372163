"""Runs in boxes: a core, a box on it, a request, and the replies as they come.

BoxRequest ─▶ core ─▶ box ─▶ request ──▶ replies ─▶ … ─▶ replies
                       └◀── again, for what has not run ──┘
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import NamedTuple

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.cores import Cores, Hold
from gradebox.sandbox.box.interaction import run_interaction
from gradebox.sandbox.box.isolation.levels import BoxFactory, Kind
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.box.python.start import PythonStart
from gradebox.sandbox.box.run_request import BoxRequest
from gradebox.sandbox.errors import BadRequest, BoxDied, SandboxError
from gradebox.sandbox.model import Execution, Interaction
from gradebox.sandbox.protocol import goes_on_after

TRIES = 3  # a box that died is replaced; a program cannot make its box die

# ---- the boxes -------------------------------------------------------------------------------


def _best(idle: list[BoxProcess], digest: str, node: int) -> int:
    """Return the position of the box that suits best; of equal ones, of the one used last."""

    def fit(at: int) -> tuple[bool, bool, int]:
        core = idle[at].core
        return core is not None and core.node == node, idle[at].last_digest == digest, at

    return max(range(len(idle)), key=fit)


class BoxPool:
    """Lends boxes of one factory; those for programs and those for compilers are kept apart."""

    def __init__(self) -> None:
        self.factory: BoxFactory | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._age = 0  # how often `invalidate` was called: boxes from before are not kept
        self._idle: dict[Kind, list[BoxProcess]] = {}
        self._lent: set[BoxProcess] = set()

    def take(self, kind: Kind = "program", digest: str = "", node: int = 0) -> BoxProcess:
        """Return an idle box or a new one. The caller gives it back or closes it.

        digest  of the program to run; the box that ran it last is preferred, because it has its
                  files
        node    of the core to run on; a box whose memory is there is preferred above all
        """
        with self._lock:
            if self._closed or self.factory is None:
                raise SandboxError("the sandbox is closed")
            idle = self._idle.setdefault(kind, [])
            if idle:
                return idle.pop(_best(idle, digest, node))
            age = self._age
        box = self.factory.box(kind)
        box.age = age
        return box

    def give_back(self, box: BoxProcess, kind: Kind = "program") -> None:
        """Keep a box for the next run; close it when it needs recycling or the pool is closed."""
        with self._lock:
            self._lent.discard(box)
            if not self._closed and not box.needs_recycling and box.age == self._age:
                self._idle.setdefault(kind, []).append(box)
                return
        box.close()

    @contextmanager
    def box(self, kind: Kind = "program", digest: str = "", node: int = 0) -> Iterator[BoxProcess]:
        """Lend a box for a while. After an error it is closed, not used again.

        BadRequest and GeneratorExit are no errors of the box.
        """
        box = self.take(kind, digest, node)
        with self._lock:
            self._lent.add(box)
            if self._closed:
                box.kill()
        try:
            yield box
        except BaseException as error:
            if not isinstance(error, (BadRequest, GeneratorExit)):
                box.needs_recycling = True
            raise
        finally:
            self.give_back(box, kind)

    def invalidate(self, *, final: bool = False) -> None:
        """Close the idle boxes, and those in use when they come back.

        After one has died, what killed it may have killed them too.

        final  no further box is taken
        """
        with self._lock:
            self._closed = self._closed or final
            self._age += 1
            boxes = [box for idle in self._idle.values() for box in idle]
            self._idle = {}
        for box in boxes:
            box.close()

    def abort(self) -> None:
        """Close the idle boxes and kill those in use: their runs fail. No further box is taken."""
        self.invalidate(final=True)
        with self._lock:
            for box in self._lent:
                box.kill()


# ---- the runs --------------------------------------------------------------------------------


class _Answer(NamedTuple):
    """Replies to the runs of a request from number `first` on, with the descriptors of the last."""

    first: int
    replies: list[wire.Reply]
    fds: list[int]
    contended: bool


class Runner:
    """Does the runs of a sandbox. May be used from any thread.

    fresh   wire.FRESH: a PID namespace for each run; 0 at levels without namespaces
    python  how Python programs start by fork, if they do
    """

    def __init__(self, cores: Cores, pool: BoxPool) -> None:
        self.fresh = 0
        self.python: PythonStart | None = None
        self._cores = cores
        self._pool = pool
        self._process = os.getpid()

    def check_process(self) -> None:
        """Raise SandboxError in a forked child: the boxes are its parent's."""
        if os.getpid() != self._process:
            raise SandboxError(
                f"this sandbox belongs to process {self._process}, which forked: its boxes are "
                "not shared; open another one in the child"
            )

    def executions(
        self,
        request: BoxRequest,
        *,
        alone: bool = False,
        compiler: bool = False,
        running: set[BoxProcess] | None = None,
    ) -> Generator[list[Execution], None, None]:
        """Run a program once for each input, on a core of its own. Yield what is known so far.

        The core is held until all runs but the last have been yielded.

        running  is given the box for the time of the runs
        """
        self.check_process()
        request.flags |= self.fresh | (0 if alone or compiler else wire.LEND)
        kind: Kind = "compiler" if compiler else "python" if request.forks else "program"
        running = set() if running is None else running
        with request:
            with self._cores.alone() if alone else self._cores.one() as hold:
                last = yield from self._until_last(request, kind, hold, running)
            yield self._read(request, last)

    def _read(self, request: BoxRequest, answer: _Answer) -> list[Execution]:
        last = answer.replies[-1]
        return [
            wire.read_execution(
                self._as_plain(reply, request),
                answer.fds if reply is last else [],
                request.limits,
                request.collect,
                request.outputs[answer.first + i],
                contended=answer.contended,
            )
            for i, reply in enumerate(answer.replies)
        ]

    def _as_plain(self, reply: wire.Reply, request: BoxRequest) -> wire.Reply:
        if self.python and reply.forked:
            return self.python.as_plain(reply, request.program)
        return reply

    def interaction(self, requests: tuple[BoxRequest, BoxRequest]) -> Interaction:
        """Run two programs that talk, on one core."""
        self.check_process()
        first, second = requests
        for request in requests:
            request.flags |= self.fresh | wire.LEND
        with (
            first,
            second,
            self._cores.one() as hold,
            self._box_for(first, hold) as first_box,
            self._box_for(second, hold) as second_box,
        ):
            boxes = (first_box, second_box)
            return run_interaction(hold, boxes, requests, self._as_plain)

    def _box_for(self, request: BoxRequest, hold: Hold) -> AbstractContextManager[BoxProcess]:
        kind: Kind = "python" if request.forks else "program"
        return self._pool.box(kind, request.program.digest, hold.core.node)

    def until_failure(
        self, requests: Iterable[BoxRequest]
    ) -> Generator[list[Execution], None, None]:
        """Do the runs of all requests, as `executions`; none after one that did not end well."""
        for request in requests:
            with closing(self.executions(request)) as groups:
                for group in groups:
                    for i, execution in enumerate(group):
                        if not goes_on_after(execution):
                            yield group[: i + 1]
                            return
                    yield group

    def _until_last(
        self, request: BoxRequest, kind: Kind, hold: Hold, running: set[BoxProcess]
    ) -> Generator[list[Execution], None, _Answer]:
        """Yield all groups but the last; return that one, to be read when the core is free."""
        total = most = len(request.stdins)
        done, tries_left = 0, TRIES
        while True:
            try:
                with self._pool.box(kind, request.program.digest, hold.core.node) as box:
                    box.pin(hold)
                    box.last_digest = request.program.digest
                    running.add(box)
                    try:
                        request.start(box, done, most)
                        while True:
                            if kind == "compiler":
                                box.take_turns(hold)
                            answer = _Answer(done, *box.replies(), hold.contended)
                            if request.seen is not None:
                                request.seen += answer.replies
                            tries_left = TRIES
                            after = done + len(answer.replies)
                            if after == total or answer.replies[-1].state == wire.FAILED:
                                return answer
                            wanted = hold.is_wanted
                            if wanted:  # the run that has just begun is repeated
                                box.cancel()
                            group = self._read(request, answer)
                            if not (wanted or box.is_busy or box.needs_recycling):
                                request.start(box, after, most)
                            yield group
                            done = after
                            if not box.is_busy:
                                break
                    except GeneratorExit:
                        box.cancel()
                        raise
                    finally:
                        running.discard(box)
                        request.leave()
                if hold.is_wanted:
                    hold.give_way()
            except BoxDied:
                self._pool.invalidate()
                tries_left -= 1
                if not tries_left:
                    raise
                most = 1  # so that it is known which run a box does not survive

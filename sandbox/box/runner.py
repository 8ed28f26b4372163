"""Runs in boxes: a core, a box on it, a request, and the replies as they come.

RunRequest ─▶ core ─▶ box ─▶ request ──▶ replies ─▶ … ─▶ replies
                       └◀── again, for what has not run ──┘
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, closing
from typing import NamedTuple, TypeVar

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.cores import Cores, Hold
from gradebox.sandbox.box.execution import read_execution
from gradebox.sandbox.box.interaction import run_interaction
from gradebox.sandbox.box.isolation.levels import Kind
from gradebox.sandbox.box.pool import BoxPool
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.box.python.start import PythonStart
from gradebox.sandbox.box.run_request import BoxRequest
from gradebox.sandbox.errors import BoxDied, SandboxError
from gradebox.sandbox.model import Execution, Interaction
from gradebox.sandbox.protocol import goes_on_after

TRIES = 3  # a box that died is replaced; a program cannot make its box die

T = TypeVar("T")


class RunAnswer(NamedTuple):
    """A reply to one run. Whoever reads it closes its descriptors, `fds`."""

    reply: wire.Reply
    fds: list[int]
    output_bytes: int
    contended: bool


Read = Callable[[RunAnswer], T]


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

        def read(answer: RunAnswer) -> Execution:
            return read_execution(
                self._as_plain(answer.reply, request),
                answer.fds,
                request.limits,
                request.collect,
                answer.output_bytes,
                contended=answer.contended,
            )

        return self.run(request, read, alone=alone, compiler=compiler, running=running)

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

    def run(
        self,
        request: BoxRequest,
        read: Read[T],
        *,
        alone: bool = False,
        compiler: bool = False,
        running: set[BoxProcess] | None = None,
    ) -> Generator[list[T], None, None]:
        """Do the same as `executions`, with what `read` makes of each reply."""
        self.check_process()
        request.flags |= self.fresh | (0 if alone or compiler else wire.LEND)
        kind: Kind = "compiler" if compiler else "python" if request.forks else "program"
        running = set() if running is None else running
        with request:
            with self._cores.alone() if alone else self._cores.one() as hold:
                last = yield from self._until_last(request, read, kind, hold, running)
            yield [read(answer) for answer in last]

    def _until_last(
        self, request: BoxRequest, read: Read[T], kind: Kind, hold: Hold, running: set[BoxProcess]
    ) -> Generator[list[T], None, list[RunAnswer]]:
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
                            answers = self._next_answers(request, box, done, hold)
                            tries_left = TRIES
                            after = done + len(answers)
                            if after == total or answers[-1].reply.state == wire.FAILED:
                                return answers
                            wanted = hold.is_wanted
                            if wanted:  # the run that has just begun is repeated
                                box.cancel()
                            group = [read(answer) for answer in answers]
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

    def _next_answers(
        self, request: BoxRequest, box: BoxProcess, first: int, hold: Hold
    ) -> list[RunAnswer]:
        replies, fds = box.replies()
        last = len(replies) - 1
        return [
            RunAnswer(reply, fds if i == last else [], request.outputs[first + i], hold.contended)
            for i, reply in enumerate(replies)
        ]

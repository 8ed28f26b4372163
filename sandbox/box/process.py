"""One box process, driven over its socket: started once, then requests and the replies to them."""

from __future__ import annotations

import array
import atexit
import contextlib
import os
import select
import signal
import socket
import struct
import time
import weakref
from collections.abc import Mapping, Sequence
from functools import partial

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.build import launcher
from gradebox.sandbox.box.built_program import memory_file
from gradebox.sandbox.box.cores import Hold, SharedHold
from gradebox.sandbox.box.isolation.cgroup import Cgroup
from gradebox.sandbox.box.isolation.host import has_ids
from gradebox.sandbox.box.isolation.layout import BoxFolder, BoxPlan, first_uid, pack_plan
from gradebox.sandbox.children.channel import blocking_pair
from gradebox.sandbox.common.cpus import Core, move_to_cpu
from gradebox.sandbox.errors import BoxDied, BoxFault, SandboxError

START_TIMEOUT_S = 60.0
TURN_MS = 10  # between two looks whether a compiler is stopped: 100 times what a stop costs


_live_boxes: weakref.WeakSet[BoxProcess] = weakref.WeakSet()


def _close(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)


class BoxProcess:
    """A running box. Not thread-safe: one request at a time.

    Raises SandboxError (BoxFault, BoxDied) when the machine does not allow the box to be built.
    """

    def __init__(self, plan: BoxPlan, cgroup: Cgroup | None) -> None:
        self.plan = plan
        self.cgroup = cgroup
        self.loaded: object = None  # identifies the files in the program's folder
        self.last_digest = ""  # of the program that ran last
        self.age = 0  # of its pool when it was built
        self.run_count = 0  # of requests
        self._expected = 0  # replies to the current request
        self._fault: BoxFault | None = None  # to be raised after the replies before it
        self.needs_recycling = False  # memory left in its group would count for the next run
        self.core: Core | None = None  # to which it is pinned
        self._hold: Hold | SharedHold | None = None  # of the current run
        self._memory_limit = self._started_ns = 0  # of the current run
        self.reports = 0  # on the current run, which talks with another one
        self.busy = (0, 0)  # the last one: until when, and how long it has had or awaited a core
        self._timeout_s = 0.0
        self._outer_pid = 0
        self.pid = 0
        self._pidfd = -1  # of the box
        self.folder = None if plan.namespaces else BoxFolder()
        self._buffer = bytearray(wire.REPLIES_CAP)
        self._socket, theirs = blocking_pair(socket.SOCK_SEQPACKET)
        try:
            self._set_timeout(START_TIMEOUT_S)
            self._start(theirs)
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
        _live_boxes.add(self)

    def _start(self, theirs: socket.socket) -> None:
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            actions = [(os.POSIX_SPAWN_DUP2, null, n) for n in range(3)]
            actions.append((os.POSIX_SPAWN_DUP2, theirs.fileno(), 3))
            self._outer_pid = os.posix_spawn(
                launcher(),
                ["gradebox-box"],
                {},
                file_actions=actions,
                setsigmask=[],
                setpgroup=0,  # a terminal's Ctrl-C goes to the grader, which ends its boxes itself
                setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
            )
        finally:
            os.close(null)
        theirs.close()
        self._send(*pack_plan(self.plan, self.cgroup, self.folder, self._outer_pid))
        self.pid = self._receive()[0].out_size  # the outer process reports the box's pid
        with contextlib.suppress(OSError):
            self._pidfd = os.pidfd_open(self.pid)
        if self.cgroup:
            try:
                if has_ids(bool(self.plan.namespaces)):
                    self.cgroup.give(first_uid(self._outer_pid))
                self.cgroup.add(self.pid)
            except OSError:
                self._receive()  # if the box has died, this raises the box's own reason
                raise
        self._send(b"\0", ())  # it is in its group and may start
        self._receive()

    def _set_timeout(self, seconds: float) -> None:
        """Set the kernel's time-out for replies: Python's would cost a poll() before each read."""
        if seconds != self._timeout_s:
            whole, part = divmod(seconds, 1)
            value = struct.pack("@ll", int(whole), int(part * 1e6))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, value)
            self._timeout_s = seconds

    def _send(self, data: bytes, fds: Sequence[int]) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            self._socket.sendmsg([data], ancillary)
        except OSError as error:
            raise BoxDied(f"the box process is gone: {error}") from error

    def _receive(self, into: list[int] | None = None) -> list[wire.Reply]:
        """Return the replies of the next message; its descriptors go into `into`, or are closed.

        Raises BoxFault for the first reply; that of a later one is kept.
        """
        try:
            n, ancillary, _, _ = self._socket.recvmsg_into([self._buffer], 512)
            while n == wire.NOTICE.size:
                self._take_notice(*wire.NOTICE.unpack_from(self._buffer))
                n, ancillary, _, _ = self._socket.recvmsg_into([self._buffer], 512)
        except OSError as error:
            raise BoxDied(f"no reply from the box process: {error}") from error
        for _, kind, data in ancillary:
            if kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
                if into is None:
                    for fd in fds:
                        os.close(fd)
                else:
                    into.extend(fds)
        if not n:
            raise BoxDied("the box process ended")
        try:
            replies = wire.unpack_replies(bytes(memoryview(self._buffer)[:n]))
        except struct.error as error:
            raise BoxDied(f"a cut reply from the box process: {error}") from error
        last = replies[-1]  # the only one that can end a request
        self.needs_recycling |= bool(last.needs_recycling)
        if last.err:
            fault = BoxFault(last.err, last.stderr.decode(errors="replace"))
            if len(replies) == 1:
                raise fault
            self._fault = fault
            replies.pop()
        return replies

    @property
    def program_folder(self) -> str:
        """The folder of the program's files, as programs see it."""
        return str(self.folder.program) if self.folder else "/program"

    def pin(self, hold: Hold | SharedHold) -> None:
        """Move the box to a core; programs inherit the core and cannot leave it.

        What they touch first is on the memory of that core's node. While a program sleeps, its core
        is lent.
        """
        core, self._hold = hold.take_back(), hold
        if core is not self.core:
            try:
                os.sched_setaffinity(self.pid, (core.cpu,))
            except OSError as error:
                raise BoxDied(f"cannot pin the box to core {core.cpu}: {error}") from error
            self.core = core

    def _take_notice(self, what: int, _number: int, now_ns: int, busy_ns: int) -> None:
        """Lend the core of a run that sleeps; find a core for one that has woken up."""
        if what == wire.OP_BUSY:
            self.reports += 1
            self.busy = (now_ns, busy_ns)
            return
        if self._hold is None:
            return
        if what == wire.OP_IDLE:
            self._hold.lend()
            return
        self._go_on(self._hold)

    def _go_on(self, hold: Hold | SharedHold) -> None:
        core = hold.take_back()
        if core is not self.core:
            move_to_cpu(self.pid, core.cpu)
            self.core = core
        self.order(wire.OP_GO)

    def take_turns(self, hold: Hold) -> None:
        """Wait for the reply of a compiler, which is stopped while another grader has its core."""
        line = select.poll()
        line.register(self._socket, select.POLLIN)
        for _ in range(int(self._timeout_s * 1000 / TURN_MS)):
            if line.poll(TURN_MS):
                return
            if hold.is_owed:
                self.order(wire.OP_PAUSE)
                hold.give_way(begun=True)
                self._go_on(hold)

    def load(self, digest: object, files: Mapping[str, bytes]) -> None:
        """Replace the files in the program's folder, unless these are in it already."""
        if self.loaded == digest:
            return
        self.loaded = None
        fds: list[int] = []
        try:
            for data in files.values():
                fds.append(memory_file(data))
            request = wire.pack_request(wire.OP_LOAD, 0, (0,) * 6, (0,) * 3, (), [*files], ())
            self._send(request, fds)
        finally:
            for fd in fds:
                os.close(fd)
        self._receive()
        self.loaded = digest

    def start(
        self, request: bytes, fds: Sequence[int], timeout_s: float, expected: int = 1
    ) -> None:
        """Start the runs of a request; `replies` returns the replies to them.

        timeout_s  the longest time between two messages from the box
        expected   the number of runs
        """
        self.run_count += 1
        self._memory_limit = wire.REQUEST.unpack_from(request)[4]
        self._started_ns = time.monotonic_ns()
        self.reports, self.busy = 0, (self._started_ns, 0)
        self._set_timeout(timeout_s)
        if self._hold is not None:  # after a run that has ended while its core was lent
            self.pin(self._hold)
        self._send(request, fds)
        self._expected = expected

    @property
    def is_busy(self) -> bool:
        """Whether replies to the current request are still to come."""
        return self._expected > 0

    def replies(self) -> tuple[list[wire.Reply], list[int]]:
        """Wait for the next replies, in the order of the runs, at least one.

        Return them, and the descriptors of the last one, which the caller closes.
        """
        if self._fault:
            raise self._fault
        fds: list[int] = []
        try:
            replies = self._receive(fds)
        except BoxDied:
            _close(fds)
            # Of several runs, nobody knows which one it was.
            if self._expected != 1 or not self.cgroup or not self.cgroup.oom_kills():
                raise
            # Page tables, for example, are freed late, and the kernel ends the box as well.
            self.needs_recycling = True
            now = time.monotonic_ns()
            wall_ns = now - self._started_ns
            replies = [wire.killed_for_memory(self._memory_limit, wall_ns, now)]
        except BaseException:
            _close(fds)
            raise
        # The group counts OOM kills for its lifetime. No run follows one in the same group, so
        # `oom_kills` above counts those of one run.
        self.needs_recycling |= bool(replies[-1].hit & wire.HIT_MEMORY)
        self._expected = 0 if replies[-1].state else self._expected - len(replies)
        if self.folder:
            replies = [one._replace(stderr=self.folder.hide_in(one.stderr)) for one in replies]
            if not self._expected:
                self.folder.empty()
        return replies, fds

    def finish(self, timeout_s: float) -> tuple[wire.Reply, list[int]]:
        """Wait for the reply to a request of one run."""
        self._set_timeout(timeout_s)
        replies, fds = self.replies()
        return replies[0], fds

    def cancel(self) -> None:
        """End the current request, if there is one: what has not run does not run."""
        if not self.is_busy:
            return
        self._hold = None  # it needs no core any more
        self.order(wire.OP_ABORT)
        try:
            while self.is_busy:
                _close(self.replies()[1])
        except SandboxError:
            self.needs_recycling = True

    def fileno(self) -> int:
        """Return the socket's descriptor, which is readable when a reply or a notice has come."""
        return self._socket.fileno()

    def heed(self) -> bool:
        """Do what the next message asks for, if it is a notice. Return whether it was one."""
        try:
            flags = socket.MSG_PEEK | socket.MSG_DONTWAIT
            if len(self._socket.recv(wire.NOTICE.size + 1, flags)) != wire.NOTICE.size:
                return False
            notice = self._socket.recv(wire.NOTICE.size)
        except OSError:
            return False
        self._take_notice(*wire.NOTICE.unpack(notice))
        return True

    def order(self, what: int) -> None:
        """Send an order about the current request; a reply still comes.

        what  such as OP_ABORT, which ends it; one that has ended is not affected
        """
        with contextlib.suppress(OSError):
            self._socket.send(wire.ORDER.pack(what, self.run_count & 0xFFFFFFFF))

    def kill(self) -> None:
        """End the box and everything in it; its owner has yet to close it."""
        if self._outer_pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._outer_pid, signal.SIGKILL)  # an unreaped child: its pid is not reused

    def close(self, *, ours: bool = True) -> None:
        """End the box and everything in it.

        ours  False in a forked child: the box is the parent's, only descriptors are released
        """
        self._socket.close()
        if self._outer_pid and ours:
            self.kill()
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._outer_pid, 0)
        self._outer_pid = self.pid = 0
        if self._pidfd >= 0:
            # Its orphan is a child of this process if this is the first one of a container.
            with contextlib.suppress(OSError):
                if ours:
                    os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED)
            os.close(self._pidfd)
            self._pidfd = -1
        for part in (self.cgroup, self.folder):
            if part:
                part.close(ours=ours)
        self.cgroup = self.folder = None


def _close_all(*, ours: bool = True) -> None:
    for box in list(_live_boxes):
        box.close(ours=ours)


atexit.register(_close_all)
os.register_at_fork(after_in_child=partial(_close_all, ours=False))

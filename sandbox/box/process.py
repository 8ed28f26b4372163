"""One box process, driven over its socket: started once, then a request and a reply a run."""

from __future__ import annotations

import array
import atexit
import contextlib
import os
import signal
import socket
import struct
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sandbox.box import wire
from sandbox.box.build import launcher
from sandbox.box.cgroup import Cgroup
from sandbox.box.folder import BoxFolder
from sandbox.box.layout import Step, staged
from sandbox.errors import SandboxError

PATIENCE_S = 60.0  # beyond every limit of a run: only a fault of the box takes longer
NEW_USER, NEW_MOUNTS, NEW_PIDS = 0x10000000, 0x00020000, 0x20000000
NEW_NET, NEW_IPC, NEW_UTS, NEW_CGROUP = 0x40000000, 0x08000000, 0x04000000, 0x02000000
NAMESPACES = NEW_USER | NEW_MOUNTS | NEW_PIDS | NEW_NET | NEW_IPC | NEW_UTS | NEW_CGROUP
INNER_UID = 1000
FIRST_UID = 0x60000000  # far from every account; two uids a process id, so no two boxes share one

_living: weakref.WeakSet[BoxProcess] = weakref.WeakSet()


class BoxDied(SandboxError):
    """The box process is gone; a new one can do the run."""


class BoxFault(SandboxError):
    """The box is alive and says that the machine refused something."""

    def __init__(self, number: int, stage: str) -> None:
        super().__init__(f"sandbox: {stage}: {os.strerror(number)}")
        self.errno = number
        self.stage = stage


@dataclass(frozen=True)
class BoxPlan:
    """Everything a box is set up with; data only.

    steps   given the box's folder, None where it has a file system of its own
    """

    steps: Callable[[BoxFolder | None], Sequence[Step]]
    environment: Mapping[str, str]
    filter: bytes
    namespaces: int = NAMESPACES
    forks: bool = True
    child_filter: bytes = b""
    compiler: bool = False


class BoxProcess:
    """A running box. Not thread-safe: one run at a time.

    Raises SandboxError (BoxFault, BoxDied) when the machine does not let it be built.
    """

    def __init__(self, plan: BoxPlan, cgroup: Cgroup | None) -> None:
        self.plan = plan
        self.cgroup = cgroup
        self.loaded: object = None  # what lies in /program now
        self.ran = ""  # the digest of what ran last
        self.runs = 0
        self.worn = False  # what lies in its group would count for the next run: take a new one
        self._core: int | None = None
        self._patience_s = 0.0
        self._outer = 0
        self.pid = 0
        self.folder = None if plan.namespaces else BoxFolder()
        self._buffer = bytearray(wire.REPLY.size + wire.INLINE_CAP + wire.ERR_CAP + 1024)
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._wait_at_most(PATIENCE_S)
            self._start(theirs)
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()
        _living.add(self)

    def _start(self, theirs: socket.socket) -> None:
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            actions = [(os.POSIX_SPAWN_DUP2, null, n) for n in range(3)]
            actions.append((os.POSIX_SPAWN_DUP2, theirs.fileno(), 3))
            self._outer = os.posix_spawn(
                launcher(),
                ["gradebox-box"],
                {},
                file_actions=actions,
                setsigmask=[],
                setpgroup=0,  # a terminal's Ctrl-C is for the grader, which ends its boxes itself
                setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
            )
        finally:
            os.close(null)
        theirs.close()
        self._send_plan()
        self.pid = self._receive(None).out_size  # the outer process reports the box's pid
        if self.cgroup:
            try:
                if os.geteuid() == 0:
                    self.cgroup.give(FIRST_UID + 2 * self._outer)
                self.cgroup.add(self.pid)
            except OSError:
                self._receive(None)  # raises with the box's own reason when it died meanwhile
                raise
        self._send(b"\0", ())  # in its group: it may start
        self._receive(None)

    def _send_plan(self) -> None:
        plan, group = self.plan, self.cgroup
        fds: list[int] = []
        places = []
        for role in ("cpu", "mem", "peak", "limit", "oom", "pids_event", "pids_max", "leaves"):
            held = group is not None and role in group.fds
            places.append(len(fds) if held else -1)
            if group is not None and held:
                fds.append(group.fds[role])
        root = os.geteuid() == 0
        base = FIRST_UID + 2 * self._outer
        maps = (
            (f"0 {base} 1\n{INNER_UID} {base + 1} 1\n",) * 2
            if root
            else (f"{INNER_UID} {os.geteuid()} 1\n", f"{INNER_UID} {os.getegid()} 1\n")
        )
        steps = list(plan.steps(self.folder))
        sources: list[str] = []
        if not plan.namespaces:
            maps = ("", "")
            if root and self.folder:
                self.folder.give(base + 1)
        elif root:
            steps, sources = staged(steps)
        environment = dict(plan.environment)
        if self.folder:
            environment |= {"HOME": str(self.folder.work), "TMPDIR": str(self.folder.work)}
        header = wire.PLAN.pack(
            plan.namespaces,
            int(root and bool(maps[0])),
            (INNER_UID if maps[0] else base + 1) if root else 0,
            # Of the same user everything on the host counts where no namespace has its own count.
            3 if not group and (root or plan.namespaces) else 0,
            int(bool(plan.namespaces)),
            int(group is not None and not group.leaves),
            0 if plan.forks else NEW_UTS,
            int(plan.compiler and not group),
            len(sources),
            len(environment),
            len(steps),
            len(plan.filter),
            len(plan.child_filter),
            *places,
            group.cpu_unit_ns if group else 1,
            group.cpu_key.encode() if group else b"",
            b"oom_kill ",
            maps[0].encode(),
            maps[1].encode(),
        )
        strings = sources + [f"{k}={v}" for k, v in environment.items()]
        strings += [part for step in steps for part in step]
        body = b"".join(s.encode() + b"\0" for s in strings)
        self._send(header + body + plan.filter + plan.child_filter, fds)

    def _wait_at_most(self, seconds: float) -> None:
        """The kernel's own time-out for answers: Python's costs a poll() before every read."""
        if seconds != self._patience_s:
            whole, part = divmod(seconds, 1)
            value = struct.pack("@ll", int(whole), int(part * 1e6))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, value)
            self._patience_s = seconds

    def _send(self, data: bytes, fds: Sequence[int]) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            self._socket.sendmsg([data], ancillary)
        except OSError as error:
            raise BoxDied(f"the box process is gone: {error}") from error

    def _receive(self, into: list[int] | None) -> wire.Reply:
        try:
            n, ancillary, _, _ = self._socket.recvmsg_into([self._buffer], 512)
        except OSError as error:
            raise BoxDied(f"no answer from the box process: {error}") from error
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
            reply = wire.unpack_reply(memoryview(self._buffer)[:n])
        except struct.error as error:
            raise BoxDied(f"a cut answer from the box process: {error}") from error
        self.worn = self.worn or reply.worn
        if reply.err:
            raise BoxFault(reply.err, reply.stderr.decode(errors="replace"))
        return reply

    @property
    def program_folder(self) -> str:
        """Where programs see their files."""
        return str(self.folder.program) if self.folder else "/program"

    def pin(self, cpu: int) -> None:
        """Moves the box to a core; programs inherit it and cannot leave it."""
        if cpu != self._core:
            try:
                os.sched_setaffinity(self.pid, (cpu,))
            except OSError as error:
                raise BoxDied(f"cannot pin the box to core {cpu}: {error}") from error
            self._core = cpu

    def load(self, what: object, files: Mapping[str, bytes]) -> None:
        """Puts program files into /program unless `what` lies there already."""
        if self.loaded == what:
            return
        from sandbox.box.blob import memory_file

        self.loaded = None
        fds = []
        try:
            for data in files.values():
                fds.append(memory_file(data))
            request = wire.pack_request(
                wire.OP_LOAD, 0, (0,) * 6, (0,) * 3, -1, (), list(files), (), b""
            )
            self._send(request, fds)
        finally:
            for fd in fds:
                os.close(fd)
        self._receive(None)
        self.loaded = what

    def run(
        self, request: bytes, fds: Sequence[int], patience_s: float
    ) -> tuple[wire.Reply, list[int]]:
        """One run; the descriptors in the answer belong to the caller."""
        self.runs += 1
        self._wait_at_most(patience_s)
        got: list[int] = []
        try:
            self._send(request, fds)
            return self._receive(got), got
        except BaseException:
            for fd in got:
                os.close(fd)
            raise
        finally:
            if self.folder:
                self.folder.empty()

    def start(self, request: bytes, fds: Sequence[int]) -> None:
        """The first half of `run`, for two boxes that run at once; `finish` is the second."""
        self.runs += 1
        self._send(request, fds)

    def finish(self, patience_s: float) -> tuple[wire.Reply, list[int]]:
        """Waits for the answer to `start`."""
        self._wait_at_most(patience_s)
        got: list[int] = []
        try:
            return self._receive(got), got
        finally:
            if self.folder:
                self.folder.empty()

    def fileno(self) -> int:
        """The socket's descriptor, readable when an answer is there."""
        return self._socket.fileno()

    def abort(self) -> None:
        """Ends what runs now; its answer still comes. A run that has ended stays as it was."""
        with contextlib.suppress(OSError):
            self._socket.send(wire.ABORT.pack(wire.OP_ABORT, self.runs & 0xFFFFFFFF))

    def close(self) -> None:
        """Ends the box and everything in it."""
        self._socket.close()
        if self._outer:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._outer, signal.SIGKILL)  # our own child: its number is not reused
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._outer, 0)
            self._outer = self.pid = 0
        if self.cgroup:
            self.cgroup.close()
            self.cgroup = None
        if self.folder:
            self.folder.close()
            self.folder = None

    def _forget(self) -> None:
        """In a forked child: the box belongs to the parent."""
        self._socket.close()
        self._outer = self.pid = 0
        if self.cgroup:
            for fd in self.cgroup.fds.values():
                os.close(fd)
            self.cgroup = None
        if self.folder:
            self.folder.forget()
            self.folder = None


def _forget_all() -> None:
    for box in list(_living):
        box._forget()


def _close_all() -> None:
    for box in list(_living):
        box.close()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_all)

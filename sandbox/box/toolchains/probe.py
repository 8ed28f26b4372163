"""Whether the languages of a sandbox work: a program that reads a line and prints it, in a box.

    first program of a language ─▶ begin ─ tried in a box, or found in the cache ─▶ Attempt
    a program that failed       ─▶ Attempt.confirm ─ tried under its limits, if not done yet

A language that cannot do that is the fault of the machine: SandboxError, never a verdict. So is a
failure of a program while its compiler or interpreter was replaced: it says nothing, and the caller
tries again. Only times of files and the runs of our own programs decide, never what a program
printed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path

from gradebox.sandbox import languages
from gradebox.sandbox.box.build import cache_folder, launcher
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.common.machine_check import OWN_LIMITS, own_limit_below
from gradebox.sandbox.common.whole_file import whole_file
from gradebox.sandbox.errors import (
    BoxFault,
    MissingToolchain,
    SandboxError,
    SandboxUnavailable,
)
from gradebox.sandbox.languages import Language, fill, memory_places
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.protocol import goes_on_after

LINE = b"hello 7"
LEAST = Limits()  # what every language must be able to start with
TRIES = 2  # of a program that failed: a machine without memory may recover
AGAIN_S = 5.0  # between trials of a language that does not work
PATIENCE_S = 20.0  # an upgrade takes less: meanwhile programs are tried again
MOST_COMMANDS = 64  # that are remembered for a language
STAMP_S = 24 * 3600  # how long a trial counts for later graders with the same files and limits

_NO_LIMIT = resource.RLIM_INFINITY

State = tuple[tuple[int, ...] | None, ...]
Compile = Callable[[Program], Compiled]
Run = Callable[[Compiled, Limits, bytes], Execution]


@dataclass
class _Known:
    """What is known about one compiler or interpreter. `lock` guards the rest.

    state     of its files; None before the first trial
    modules   of an interpreter at that trial: their sizes
    changes   how often it was replaced
    works     commands that worked: they depend on the memory limit
    fault     why it does not work; "": it does
    since     when it stopped working;  tried: the last trial, on the monotonic clock
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    state: State | None = None
    modules: dict[str, int] = field(default_factory=dict)
    changes: int = 0
    works: set[tuple[str, ...]] = field(default_factory=set)
    fault: str = ""
    since: float = 0.0
    tried: float = 0.0


class LanguageProbe:
    """The languages of one sandbox. Any thread may call any method.

    compile, run  in a box of the sandbox, without this probe
    find_tool     return the compiler or interpreter of a language
    place         what else a trial depends on, such as the level
    on_change     called when a tool was replaced
    """

    def __init__(
        self,
        compile: Compile,
        run: Run,
        find_tool: Callable[[Language], Tool],
        place: Sequence[object],
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._compile = compile
        self._run = run
        self._find_tool = find_tool
        self._place = (*place, os.geteuid(), *map(resource.getrlimit, range(16)))
        self._on_change = on_change
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}  # by path
        self._named: dict[str, tuple[Language, Tool, _Known]] = {}  # by a program's language

    def begin(self, language: str) -> Attempt:
        """Return an attempt to compile or run a program of a language that works.

        Raises MissingToolchain, with the remedy, for one that does not.
        """
        row, tool, known = self._named.get(language) or self._find(language)
        if row.hello:
            with known.lock:
                if known.fault and time.monotonic() - known.tried < AGAIN_S:
                    raise self._unusable(known)
                if known.fault or known.state is None:
                    self._ensure(row, tool, known, LEAST)
                return Attempt(self, row, tool, known, known.changes)
        return Attempt(self, row, tool, known, 0)

    def _find(self, language: str) -> tuple[Language, Tool, _Known]:
        variant = languages.find(language)
        row = languages.TABLE.get(variant.base, variant)
        tool = self._find_tool(row)
        with self._lock:
            known = self._known.setdefault(f"{tool.path} {tool.runtime}", _Known())
            return self._named.setdefault(language, (row, tool, known))

    def why_not(self, language: str) -> str:
        """Try a language, whatever is cached. Return why it does not work, "" when it does."""
        try:
            row, tool, _ = self._find(language)
            return self._failure(row, tool, LEAST) if row.hello else ""
        except SandboxError as error:
            return str(error)

    def _confirm(self, attempt: Attempt, limits: Limits) -> None:
        row, tool, known = attempt.row, attempt.tool, attempt.known
        with known.lock:
            self._ensure(row, tool, known, limits)
            if known.changes != attempt.changes:
                raise SandboxError(
                    f"{row.name}: {tool.path} or a part of it was replaced while a program was "
                    "compiled or run"
                )

    def _ensure(self, row: Language, tool: Tool, known: _Known, limits: Limits) -> None:
        """Raise an error, and remember it, unless a language works under these limits."""
        state, command = _state_of(tool.watched), _command(row, limits)
        replaced = known.state not in (None, state)
        sizes = _module_sizes(tool.modules)  # a folder does not change with them; 500 take 2 ms
        lost = next((one for one, size in known.modules.items() if sizes.get(one, -2) < size), "")
        if not (replaced or lost or known.fault) and command in known.works:
            return
        stamp = self._stamp(row, tool, state, command)
        if lost or known.fault or not _is_recent(stamp):
            why = f"{row.name}: {lost} is gone or was cut since the start: {_remedy(row)}"
            why = why if lost else self._failure(row, tool, limits)
            more = why and not lost and limits.memory_bytes > LEAST.memory_bytes
            if more and not self._failure(row, tool, LEAST):
                raise MissingToolchain(f"{why}. It works with a memory limit of 256 MB")
            if why:
                now = time.monotonic()
                known.since = known.since if known.fault else now
                known.fault, known.tried = why, now
                raise self._unusable(known)
            if stamp is not None:
                with contextlib.suppress(OSError), whole_file(stamp, durable=False):
                    pass
        if replaced or (known.fault and known.state is not None):
            known.changes += 1  # what failed before may not have been at fault
            known.works.clear()
            self._on_change()
        known.state, known.fault, known.modules = state, "", known.modules or sizes
        if len(known.works) < MOST_COMMANDS:
            known.works.add(command)

    def _stamp(
        self, row: Language, tool: Tool, state: State, command: tuple[str, ...]
    ) -> Path | None:
        """Return the file that says that a language worked: a trial of Java takes 1 s of CPU."""
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text()
            key = (boot, launcher().name, self._place, row, tool, state, command)
            folder = cache_folder() / "worked"
            folder.mkdir(mode=0o700, exist_ok=True)
        except (OSError, SandboxUnavailable):
            return None
        return folder / hashlib.sha256(repr(key).encode()).hexdigest()[:32]

    def _unusable(self, known: _Known) -> SandboxError:
        if known.state is not None and known.tried - known.since < PATIENCE_S:
            return SandboxError(known.fault)  # it worked before, so it may work again
        return MissingToolchain(known.fault)

    def _failure(self, row: Language, tool: Tool, limits: Limits) -> str:
        how = ""
        for _ in range(TRIES):
            compiled = self._compile(Program(row.name, {row.source: row.hello.encode()}))
            try:
                if not compiled.ok:
                    how = f"it does not compile a program: {_last_line(compiled.log)}"
                    continue
                execution = self._run(compiled, limits, LINE + b"\n")
            except BoxFault as fault:
                if not fault.is_of_command:
                    raise
                how = str(fault)
                continue
            if goes_on_after(execution) and execution.stdout.split() == LINE.split():
                return ""
            how = _ending(execution)
        under = ""
        if limits.memory_bytes > LEAST.memory_bytes:
            under = f" with a memory limit of {limits.memory_bytes >> 20} MB"
        where = f"{row.name}: {tool.path} does not work in the sandbox{under}"
        return f"{where}: {_remedy(row)}. {how[:1].upper()}{how[1:]}"


@dataclass
class Attempt:
    """One attempt to compile or run a program; see `LanguageProbe.begin`."""

    probe: LanguageProbe
    row: Language
    tool: Tool
    known: _Known
    changes: int  # when it began

    def confirm(self, limits: Limits = LEAST) -> None:
        """Make sure that a failure is the program's own.

        The caller holds no core. Raises SandboxError when the language does not work under these
        limits either, or was replaced since the attempt began.
        """
        if self.row.hello:
            self.probe._confirm(self, _at_least(limits))

    def confirmed(self, execution: Execution, limits: Limits) -> Execution:
        """Return an execution; raise SandboxError for a failure that is not the program's own."""
        if not goes_on_after(execution):
            self.confirm(limits)
            _check_own_limits(execution, limits)
        return execution

    def compiled(self, compiled: Compiled, limits: Limits) -> Compiled:
        """Return a compiled program; raise SandboxError for a failure that is not its own."""
        if not compiled.ok:
            self.confirm()
            if compiled.execution is not None and not goes_on_after(compiled.execution):
                _check_own_limits(compiled.execution, limits)
        return compiled

    def run(self, run: Callable[[], Execution], limits: Limits) -> Execution:
        """Return the confirmed execution of a run. Remember a command that cannot be started."""
        try:
            return self.confirmed(run(), limits)
        except BoxFault as fault:
            if fault.is_of_command:
                self.confirm(limits)
            raise

    def all_confirmed(
        self, groups: Generator[list[Execution], None, None], limits: Sequence[Limits]
    ) -> Generator[list[Execution], None, None]:
        """Yield groups of executions, each confirmed; see `BatchSandbox.run_many`."""
        done = 0
        with closing(groups):
            for group in groups:
                done += len(group)
                if not goes_on_after(group[-1]):
                    groups.close()  # frees the core
                    if group[:-1]:
                        yield group[:-1]
                    yield [self.confirmed(group[-1], limits[done - 1])]
                    return
                yield group


def _check_own_limits(execution: Execution, limits: Limits) -> None:
    if why := own_limit_below(limits, execution):
        fault = SandboxUnavailable(why)
        fault.lasting = True
        raise fault


def _module_sizes(folders: Iterable[str]) -> dict[str, int]:
    """Return the bytes of each module in these folders, by its path; -1 of a package."""
    sizes: dict[str, int] = {}
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith((".", "~", "__pycache__")):
                    with contextlib.suppress(OSError):
                        sizes[entry.path] = -1 if entry.is_dir() else entry.stat().st_size
    return sizes


def _state_of(paths: Iterable[str]) -> State:
    """Return what changes when one of these files or folders is replaced, or loses an entry."""
    found: list[tuple[int, ...] | None] = []
    for path in paths:
        try:
            s = os.stat(path)  # noqa: PTH116 - 30 of them after each program that failed
        except OSError:
            found.append(None)
        else:
            found.append((s.st_dev, s.st_ino, s.st_mtime_ns, s.st_ctime_ns, s.st_size))
    return tuple(found)


def _is_recent(stamp: Path | None) -> bool:
    with contextlib.suppress(OSError):
        return stamp is not None and abs(time.time() - stamp.stat().st_mtime) < STAMP_S
    return False


def _at_least(limits: Limits) -> Limits:
    """Return these limits, raised to what every language must be able to start with."""
    names = [one.name for one in fields(Limits)]
    return Limits(**{name: max(getattr(limits, name), getattr(LEAST, name)) for name in names})


def _command(row: Language, limits: Limits) -> tuple[str, ...]:
    places = memory_places(limits.memory_bytes)
    return tuple(fill(part, places) for part in row.run)


def _last_line(text: bytes) -> str:
    lines = text[-4096:].decode("utf-8", "replace").split("\n")
    words = [" ".join(line.split()) for line in lines if line.strip()]
    return "".join(c for c in words[-1][:200] if c.isprintable()) if words else "no message"


def _ending(x: Execution) -> str:
    if x.killed_for:
        return f"a program that prints a line was stopped: {x.killed_for} limit"
    if x.exit_code == 0:
        return f"a program that prints {LINE.decode()!r} printed {x.stdout[:40]!r}"
    end = f"signal {x.signal}" if x.exit_code is None else f"exit code {x.exit_code}"
    return f"{end}: {_last_line(x.stderr)}"


def _remedy(row: Language) -> str:
    install = f" ({row.install})" if row.install else ""
    other = " or name another one in GRADEBOX_PYTHON," if row.name == "python" else ""
    own = {option for n, _, option in OWN_LIMITS if resource.getrlimit(n)[1] != _NO_LIMIT}
    raised = "".join(f" lift ulimit -{option}," for option in sorted(own))
    return (
        f"repair it{install},{other}{raised} or name the folders of its libraries in "
        "LD_LIBRARY_PATH and start again"
    )

"""Compiles programs inside a box, each once: the result is kept by its content."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from sandbox.box import gcc
from sandbox.box.artifact import Artifact
from sandbox.box.recipe import compiled_artifact, interpreted, recipe
from sandbox.box.toolchain import Tool
from sandbox.languages import Language, find
from sandbox.model import MIB, Compiled, Execution, Limits, Program

LIMITS = Limits(
    cpu_s=60,
    wall_s=180,
    memory_bytes=2048 * MIB,
    output_bytes=256 * MIB,
    processes=64,
    file_size_bytes=256 * MIB,
    disk_bytes=512 * MIB,
)
KEPT_BYTES = 256 * MIB

RunCompiler = Callable[[Artifact, dict[str, bytes], Limits, str], Execution]


@dataclass
class _Entry:
    done: threading.Event
    compiled: Compiled | None = None
    size: int = 0


class Compiler:
    """Turns programs into artifacts; the same program is compiled once, whoever asks.

    `run` runs a compiler in a box: (artifact, source files, limits, file to collect);
    `find_tool` gives the compiler or interpreter of a language. `headers` makes what speeds
    compilers up; `in_memory`: see `Executable`.
    """

    def __init__(
        self,
        run: RunCompiler,
        find_tool: Callable[[Language], Tool],
        headers: gcc.PrecompiledHeaders | None = None,
        *,
        in_memory: bool = False,
    ) -> None:
        self._run = run
        self._find_tool = find_tool
        self._in_memory = in_memory
        self.headers = headers or gcc.PrecompiledHeaders(run)
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str, Limits], _Entry] = OrderedDict()
        self._bytes = 0

    def compile(self, program: Program, limits: Limits | None) -> Compiled:
        """See `Sandbox.compile`."""
        row = find(program.language)
        tool = self._find_tool(row)
        if row.compile is None:
            return Compiled(
                program, True, toolchain=tool.version, artifact=interpreted(row, tool, program)
            )
        key = (program.digest, tool.version, limits or LIMITS)
        while True:
            with self._lock:
                entry = self._kept.get(key)
                mine = entry is None
                if entry is None:
                    entry = self._kept[key] = _Entry(threading.Event())
                else:
                    self._kept.move_to_end(key)
            if mine:
                return self._first(key, entry, row, tool, program, limits or LIMITS)
            entry.done.wait()
            kept = entry.compiled
            if kept is not None and (not kept.ok or _hold(kept)):
                return replace(kept, cached=True)
            # the first one met a fault of the machine, or it was let go meanwhile: once more

    def _first(
        self,
        key: tuple[str, str, Limits],
        entry: _Entry,
        row: Language,
        tool: Tool,
        program: Program,
        limits: Limits,
    ) -> Compiled:
        try:
            compiled = self._build(row, tool, program, limits)
        except BaseException:
            with self._lock:
                self._kept.pop(key, None)
            entry.done.set()
            raise
        with self._lock:
            entry.size = len(compiled.log)
            if compiled.ok:
                entry.size += compiled.artifact.size
                _hold(compiled)  # one for the caller, one for the cache
            entry.compiled = compiled
            self._bytes += entry.size
            while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                oldest = next(iter(self._kept))
                if self._kept[oldest].compiled is None:
                    break
                self._let_go(self._kept.pop(oldest))
        entry.done.set()
        return compiled

    def _let_go(self, entry: _Entry) -> None:
        self._bytes -= entry.size
        if entry.compiled is not None:
            entry.compiled.close()

    def _build(self, row: Language, tool: Tool, program: Program, limits: Limits) -> Compiled:
        flags: list[str] = []
        if row.family == "g++":
            flags = self._cheaper(tool, row, program)
        elif row.family == "gcc":
            flags = list(gcc.link_flags(tool.path, ("libc.a",)))
        plan = recipe(row, tool, program, flags)
        seen = self._run(
            Artifact(plan.argv, f"compile {row.name}"), plan.files, limits, plan.output
        )
        made = seen.files.get(plan.output)
        log = seen.stderr or seen.stdout
        if seen.exit_code != 0 or made is None:
            if seen.killed_for:
                log = f"the compiler was stopped: {seen.killed_for} limit\n".encode() + log
            return Compiled(program, False, log, tool.version, replace(seen, files={}))
        artifact = compiled_artifact(row, tool, program, made, in_memory=self._in_memory)
        return Compiled(
            program, True, log, tool.version, replace(seen, files={}), artifact=artifact
        )

    def _cheaper(self, tool: Tool, row: Language, program: Program) -> list[str]:
        """Options of g++ that save time and leave the program what it is."""
        options = tuple(p for p in row.compile or () if "{" not in p and p != "-o")
        source = next(iter(program.files.values()))
        return [*gcc.link_flags(tool.path), *self.headers.flags(tool, options, source)]

    def close(self) -> None:
        """Frees everything that is kept."""
        self.headers.close()
        with self._lock:
            for entry in self._kept.values():
                self._let_go(entry)
            self._kept.clear()


def _hold(compiled: Compiled) -> bool:
    executable = compiled.artifact.executable if compiled.artifact else None
    return executable is None or executable.hold()

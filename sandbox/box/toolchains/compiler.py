"""Compile programs in a box, each once: results are cached by content.

Language + Tool + Program ─▶ Recipe (command, source files, name of the output)
                          ─▶ BuiltProgram (command, executable or files in the program's folder)
"""

from __future__ import annotations

import contextlib
import shlex
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gradebox.sandbox import python_compile
from gradebox.sandbox.box.built_program import PROGRAM, BuiltProgram, Executable
from gradebox.sandbox.box.python.start import forked_start
from gradebox.sandbox.box.toolchains import gcc
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.languages import Language, fill, find
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
from gradebox.sandbox.source_tokens import java_names, other_sources

LIMITS = Limits(
    cpu_s=60,
    wall_s=180,
    memory_bytes=2048 * MIB,
    output_bytes=256 * MIB,
    processes=64,
    file_size_bytes=256 * MIB,
    disk_bytes=512 * MIB,
)
CACHE_BYTES = 256 * MIB
# Of programs that an interpreter runs. They take a few ms to compile, and are mostly seen once, or
# for all their tests in a row: this is 1,500 of 2 KB.
INTERPRETED_BYTES = 16 * MIB
ENTRY_BYTES = 4096  # of a cached program beside its bytes: 3.1 KB measured for `print(1)`
EXECUTABLE_BYTES = MIB // 2  # counted at least, since each keeps a descriptor open: at most 512
ZIP_END = b"PK\5\6"  # an interpreter runs what is in a zip file

# Digest of the program, version of the tool and how often it was replaced, the compiler's limits.
Key = tuple[str, str, int, Limits]
# Compile a Python program for its start by fork; None where that is not possible.
ByFork = Callable[[BuiltProgram, Limits], "Execution | None"]
RunCompiler = Callable[[BuiltProgram, dict[str, bytes], Limits, str], Execution]


class Compiler:
    """Turn programs into built ones; a program is compiled once, whichever threads ask for it.

    run        run a compiler in a box, given the source files, limits and the file to collect,
               if any
    find_tool  return the compiler or interpreter of a language
    headers    precompiled headers of g++
    in_memory  see `Executable`
    by_fork    see `ByFork`
    """

    def __init__(
        self,
        run: RunCompiler,
        find_tool: Callable[[Language], Tool],
        headers: gcc.PrecompiledHeaders | None = None,
        *,
        in_memory: bool = False,
        by_fork: ByFork = lambda _program, _limits: None,
    ) -> None:
        self._run = run
        self._by_fork = by_fork
        self._find_tool = find_tool
        self._in_memory = in_memory
        self._headers = headers or gcc.PrecompiledHeaders(run)
        self._lock = threading.Lock()
        self._in_flight: dict[Key, threading.Event] = {}
        self._compiled: LruCache[Key, Compiled] = LruCache(CACHE_BYTES, cost=_size)
        self._interpreted: LruCache[Key, Compiled] = LruCache(INTERPRETED_BYTES, cost=_size)

    def compile(
        self, program: Program, limits: Limits | None, interpreted: bool = True, changes: int = 0
    ) -> Compiled:
        """See `Sandbox.compile`; `changes` counts the replacements of the compiler."""
        row = find(program.language)
        tool = self._find_tool(row)
        if row.compile is None and not (interpreted and row.family == "python"):
            return self.compile_anew(program)
        key = (program.digest, tool.version, changes, limits or LIMITS)
        cache = self._interpreted if row.compile is None else self._compiled
        while True:
            with self._lock:
                cached = cache.get(key)
                others = self._in_flight.get(key)
                if cached is None and others is None:
                    done = self._in_flight[key] = threading.Event()
                    break
            if cached is not None:
                return replace(cached, cached=True)
            if others is not None:
                others.wait()  # if their compilation failed for the machine's fault, start over
        try:
            compiled = self._build(row, tool, program, key[3])
            if compiled.execution is not None:
                cache.put(key, compiled)
            return compiled
        finally:
            with self._lock:
                del self._in_flight[key]
            done.set()

    def compile_anew(self, program: Program) -> Compiled:
        """Compile a program without anything that is cached; an interpreter does not compile."""
        row = find(program.language)
        tool = self._find_tool(row)
        if row.compile is None:
            built = built_program(row, tool, program)
            return Compiled(program, True, toolchain=tool.version, artifact=built)
        return self._build(row, tool, program, LIMITS, headers=False)

    def _build(
        self,
        row: Language,
        tool: Tool,
        program: Program,
        limits: Limits,
        *,
        headers: bool = True,
        target: tuple[str, ...] = (),
    ) -> Compiled:
        """Compile a program; `target`: options for the processor, after g++ refused its pragmas."""
        if row.compile is None:
            return self._interpret(row, tool, program, limits)
        flags: list[str] = []
        header: list[str] = []
        if row.family == "g++":
            header = self._header_flags(tool, row, program, target) if headers else []
            flags = [*target, *gcc.link_flags(tool.path), *header]
        elif row.family == "gcc":
            flags = list(gcc.link_flags(tool.path, ("libc.a",)))
        plan = recipe(row, tool, program, flags)
        command = BuiltProgram(plan.argv, f"compile {row.name}")
        execution = self._run(command, plan.files, limits, plan.output)
        output = execution.files.get(plan.output)
        log = execution.stderr or execution.stdout
        if execution.exit_code != 0 and row.family == "g++" and not target:
            target = gcc.target_options(next(iter(program.files.values())), log)
            if target:
                return self._build(row, tool, program, limits, headers=headers, target=target)
        lost = execution.exit_code != 0 and self._headers.forget_lost(header)
        if lost or (header and gcc.TEXT.encode() in log):  # or the log depends on the cache
            return self._build(row, tool, program, limits, headers=False, target=target)
        evidence = replace(execution, files={})
        if execution.exit_code != 0 or output is None:
            if execution.killed_for:
                log = f"the compiler was stopped: {execution.killed_for} limit\n".encode() + log
            elif _TOO_LARGE in log:
                most = f"{limits.file_size_bytes >> 20} MiB"
                log = f"error: {_LARGE_ARRAY.format(most)}\n".encode() + log
            return Compiled(program, False, log, tool.version, evidence)
        built = built_program(row, tool, program, output, in_memory=self._in_memory)
        return Compiled(program, True, log, tool.version, evidence, artifact=built)

    def _interpret(self, row: Language, tool: Tool, program: Program, limits: Limits) -> Compiled:
        """Let the interpreter compile; a fault of that leaves the answer to the runs."""
        built = built_program(row, tool, program)
        source = next(iter(program.files.values()))
        execution = None
        with contextlib.suppress(SandboxError):
            if row.name == "python" and ZIP_END not in source:
                execution = self._by_fork(built, limits)
        with contextlib.suppress(SandboxError):
            if execution is None:
                argv = python_compile.command(built.argv, PROGRAM, f"{PROGRAM}/{row.source}")
                files = python_compile.files(row.source, source)
                command = BuiltProgram(tuple(argv), f"compile {program.digest}", files=files)
                execution = self._run(command, {}, limits, "")
        if execution is None:
            return Compiled(program, True, toolchain=tool.version, artifact=built)
        log = python_compile.rejection(execution)
        evidence = replace(execution, stdout=b"")
        if log is not None:
            return Compiled(program, False, log, tool.version, evidence)
        built.fork = forked_start(execution, alone=len(program.files) == 1)
        return Compiled(program, True, b"", tool.version, evidence, artifact=built)

    def _header_flags(
        self, tool: Tool, row: Language, program: Program, target: tuple[str, ...]
    ) -> list[str]:
        if other_sources(row.family, program.files):  # the header would precede each of them
            return []
        options = (*(p for p in row.compile or () if "{" not in p and p != "-o"), *target)
        source = next(iter(program.files.values()))
        return self._headers.flags(tool, options, source)

    def close(self) -> None:
        """Free all cached programs."""
        self._headers.close()
        self._compiled.clear()
        self._interpreted.clear()


_TOO_LARGE = b"File size limit exceeded"  # of the assembler or the linker, in the messages of gcc
_LARGE_ARRAY = (
    "the compiler may write files of {} at most: an array with initial values in the source takes "
    "its whole size there; set them when the program starts"
)


def _size(compiled: Compiled) -> int:
    """Return the memory of a cached program: its source, and what the objects around it take."""
    size = ENTRY_BYTES + len(compiled.log) + sum(map(len, compiled.program.files.values()))
    if not compiled.ok:
        return size
    built: BuiltProgram = compiled.artifact
    return size + max(built.size, EXECUTABLE_BYTES if built.executable else 0)


# ---- a row of the language table, filled in for one program ----

BINARY = "program"
SHELL = "/bin/sh"


class Recipe(NamedTuple):
    """How a program is compiled: a command, the files beside it, the file it makes."""

    argv: tuple[str, ...]
    files: dict[str, bytes]
    output: str


def recipe(row: Language, tool: Tool, program: Program, flags: Sequence[str] = ()) -> Recipe:
    """Return the compilation of a program; `flags` follow the options of the row."""
    output = row.output or BINARY
    files = source_files(row, program)
    places = _places(row, tool) | {"{source}": next(iter(files)), "{binary}": output}
    sources = other_sources(row.family, files)
    command = [tool.path, *(fill(part, places) for part in row.compile or ()), *sources, *flags]
    if not row.then and not row.environment:
        return Recipe(tool.started(command), files, output)
    # Both commands as a shell script, which replaces `{work}` in the environment: without
    # namespaces, the path of the working folder differs from box to box.
    parts = []
    for setting in (*row.environment, *tool.environment):
        name, _, value = setting.partition("=")
        parts.append(f"export {name}=" + shlex.quote(value).replace("{work}", "'\"$PWD\"'"))
    then = [fill(part, places) for part in row.then]
    parts.append(" && ".join(shlex.join(words) for words in (command, then) if words))
    return Recipe((SHELL, "-c", "; ".join(parts)), files, output)


def built_program(
    row: Language,
    tool: Tool,
    program: Program,
    output: bytes | None = None,
    *,
    in_memory: bool = False,
) -> BuiltProgram:
    """Return a program that is ready to run.

    output     of the compiler: executed itself, or run by a runtime; None: the source is run
    in_memory  see `Executable`
    """
    places = _places(row, tool)
    executable: Executable | None = None
    files: dict[str, bytes] = {}
    if output is None:
        files = source_files(row, program)
        places["{source}"] = f"{PROGRAM}/{next(iter(files))}"
    elif row.output:
        files = {row.output: output}
        places["{binary}"] = f"{PROGRAM}/{row.output}"
        if row.family == "java":
            places["{main}"] = java_names(next(iter(program.files.values())))[1]
    else:
        # argv[0] as the program sees it; the descriptor is what is executed.
        places["{binary}"] = f"{PROGRAM}/{Path(row.source).stem}"
        executable = Executable(output, in_memory=in_memory)
    argv = tuple(fill(part, places) for part in row.run)
    processes = row.processes if row.processes > 1 else 0
    command = argv if executable else tool.started(argv)
    return BuiltProgram(command, program.digest, executable, files, processes)


def source_files(row: Language, program: Program) -> dict[str, bytes]:
    """Return the files of a program, the main file first and named as its language requires."""
    (_, main), *others = program.files.items()
    name = java_names(main)[0] if row.family == "java" else row.source
    return {name: main, **{other: data for other, data in others if other != name}}


def _places(row: Language, tool: Tool) -> dict[str, str]:
    return {"{tool}": tool.path, "{runtime}": tool.runtime, "{folder}": tool.folder}

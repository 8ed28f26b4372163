"""Python programs that start by fork: whether they do, and what each run was spared.

A forked run is spared the interpreter's start and its imports, and shares its template's memory.
Its figures are those that a plain start of the same program has:

    CPU time  =  that of the run  +  a plain start's, less that of a forked empty program
                                  +  that of importing its modules  +  that of compiling it
    memory    =  that of a plain start of an empty program  +  what the run's process added to it

The process's peak resident size counts pages that it shares with its template, or has copied from
it, once. Only pages of files differ: a fork does not inherit them, and a plain start has touched
more of them.
"""

from __future__ import annotations

import re
import statistics
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gradebox.sandbox.box.build import TEMPLATE, binary
from gradebox.sandbox.box.built_program import BuiltProgram, Executable, ForkedStart
from gradebox.sandbox.box.isolation.layout import Templates
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.box.wire import Reply, with_figures
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Execution, Limits
from gradebox.sandbox.python_compile import HOOK

SCRIPT = "/program/main.py"
EMPTY = Limits(cpu_s=5, wall_s=30)
PLAIN_RUNS, FORKED_RUNS = 5, 3

# Run a program, by fork if the second argument says so. Return the box's own figures as well.
RunEmpty = Callable[[BuiltProgram, bool], tuple[Execution, Reply]]


@dataclass(frozen=True)
class Calibration:
    """Runs of an empty program, started both ways.

    plain_ns      least CPU time of a plain start
    plain_memory  its memory, bytes
    forked        the forked run with the least CPU time
    files_without_imports  bytes of file pages in the memory of a template process that imported
                           only what the base template had imported already
    """

    plain_ns: int
    plain_memory: int
    forked: Reply
    files_without_imports: int


class PythonStart:
    """The templates of a sandbox's boxes, and what they spare.

    tool     the interpreter
    run      see `RunEmpty`
    grouped  the memory figure is that of a control group
    """

    def __init__(self, tool: Tool, run: RunEmpty, *, grouped: bool) -> None:
        self._run = run
        self._grouped = grouped
        self._lock = threading.Lock()
        self._tried = False
        self._calibration: Calibration | None = None
        self.hook = Executable(binary(TEMPLATE).read_bytes(), in_memory=True)
        prelude = executed(Path(__file__).with_name("prelude.py").read_text("utf-8"), PRELUDE_NAMES)
        self.templates = Templates(
            self.hook.fd, tool.path, SCRIPT, prelude, environment=tool.environment
        )
        argv = tool.started([tool.path, "{program}/main.py"])
        files = {"main.py": b""}
        self._empty = BuiltProgram(argv, "empty program", files=files)
        self.reason = ""  # why programs are executed, if they are

    def calibrated(self) -> Calibration | None:
        """Return what a forked run is spared; None where programs cannot start by fork."""
        with self._lock:
            if not self._tried:
                self._tried = True
                self._calibration = self._calibrate()
            return self._calibration

    def _calibrate(self) -> Calibration | None:
        empty = self._empty
        try:
            execution, _ = self._run(self.compilation(empty), True)
            empty.fork = forked_start(execution, alone=True)
            forked = [self._run(empty, True)[1] for _ in range(FORKED_RUNS)]
            if empty.fork is None or not all(
                reply.forked and reply.wstatus == 0 for reply in forked
            ):
                self.reason = "the interpreter cannot be a template"
                return None
            other = replace(empty, fork=replace(empty.fork, imports="sys"))
            plain = [self._run(empty, False)[1] for _ in range(PLAIN_RUNS)]
            return Calibration(
                min(reply.cpu_ns for reply in plain),
                int(statistics.median(reply.memory for reply in plain)),
                min(forked, key=lambda reply: reply.cpu_ns),
                self._run(other, True)[1].template_file,
            )
        except SandboxError as error:
            self.reason = str(error)
            return None

    def as_plain(self, reply: Reply, program: BuiltProgram) -> Reply:
        """Return the reply to a run with the figures of a plain start."""
        base = self._calibration
        if not reply.forked or base is None or program.fork is None:
            return reply
        compile_ns = int(program.fork.compile_s * 1e9)
        spared = max(0, base.plain_ns - base.forked.cpu_ns) + reply.start_ns + compile_ns
        empty = base.forked
        files_of_empty = max(0, empty.rss - empty.template_anon)
        # What it added to its template's memory may be files of the interpreter and of its modules,
        # which nobody looked at, or memory of its own.
        added = max(0, min(reply.rss - reply.template_anon, reply.template_file))
        files = max(reply.file, added if reply.start_ns else (files_of_empty + added) // 2)
        if self._grouped:
            own = base.plain_memory - empty.template_anon + reply.rss - files
            memory = max(own, reply.memory)
        else:
            files_of_plain = empty.template_file
            if reply.start_ns:  # its template has touched files of its own to import modules
                files_of_plain += max(0, reply.template_file - base.files_without_imports)
            rest = base.plain_memory - (empty.rss - files_of_empty) - empty.template_file
            files_of_plain += max(0, files - reply.template_file)
            memory = reply.rss - files + files_of_plain + rest
        return with_figures(reply, reply.cpu_ns + spared, memory)

    def compilation(self, program: BuiltProgram) -> BuiltProgram:
        """Return the program that compiles a program, in a run of its own."""
        # It ends the process with the compiled program.
        start = ForkedStart(prologue=executed(HOOK.decode(), {"MAIN": SCRIPT}))
        return BuiltProgram(program.argv, program.digest, files=program.files, fork=start)


# ---- what a compilation wrote (python_compile.py) ----

COMPILED = 61  # exit status
MOST_IMPORTS = 4000  # characters
MOST_CODE = 32 << 20  # bytes; each run gets a copy
DURATION = re.compile(r"[0-9]{1,18}")  # ns
NAME = r"[A-Za-z_][A-Za-z0-9_]*"
STATEMENT = re.compile(rf"{NAME}(\.{NAME})*(:({NAME}(,{NAME})*|\*))?|=[0-9]{{4,10}}")


def forked_start(execution: Execution, *, alone: bool) -> ForkedStart | None:
    """Return how the program starts by fork; None when its plain start decides.

    alone  the program has one file: its imports cannot be files of its own

    The text was written by a process that had read the program, so nothing in it is trusted: names
    are checked, and the code is read by no process but runs of the program.
    """
    if execution.exit_code != COMPILED or not execution.stdout or execution.stdout_cut:
        return None
    head, _, code = execution.stdout.partition(b"\0")
    first, *statements = head.decode("ascii", "replace").split("\n")
    if not DURATION.fullmatch(first) or not code or len(code) > MOST_CODE:
        return None
    compile_s = min(int(first) / 1e9, execution.cpu_s)
    imports = "\n".join(_known(statements)) if alone else ""
    # Warnings about the source are shown by the interpreter that compiles it, in every run.
    if execution.stderr:
        return ForkedStart(imports)
    return ForkedStart(imports, code, compile_s=compile_s)


def _known(statements: list[str]) -> list[str]:
    """Return the statements before the first one that is no plain ASCII, or too much."""
    known: list[str] = []
    size = 0
    for statement in statements:
        size += len(statement) + 1
        if size > MOST_IMPORTS or not STATEMENT.fullmatch(statement):
            break
        known.append(statement)
    while known and known[-1][0] == "=":  # no import follows
        known.pop()
    return known


# ---- code for PyRun_SimpleString: ASCII, without null bytes and new names in `__main__` ----

# As `__main__`, so that warnings about imports are shown as they are to the program.
PRELUDE_NAMES = {"__name__": "__main__"}
ADD_ARGUMENTS = """\
import sys
sys.argv += ARGUMENTS
if hasattr(sys, "orig_argv"):
    sys.orig_argv += ARGUMENTS
"""
# A template's streams are files, and remember that they can seek.
OPEN_PIPES = """\
import sys
for stream in (sys.stdin, sys.stdout):
    buffer, mode = stream.buffer, stream.mode
    old = buffer.raw
    raw = type(old)(old.fileno(), old.mode, closefd=False)
    raw.name = old.name
    buffer.__init__(raw)
    options = {"line_buffering": stream.line_buffering, "write_through": stream.write_through}
    stream.__init__(buffer, stream.encoding, stream.errors, "\\n", **options)
    stream.mode = mode
"""


def executed(code: str, names: dict[str, Any]) -> str:
    """Return code that runs other code with these names."""
    return f"exec({code!a}, {names!a})\n"


def with_arguments(args: Sequence[str]) -> str:
    """Return code that gives a program its arguments, which its template was not started with."""
    return executed(ADD_ARGUMENTS, {"ARGUMENTS": list(args)}) if args else ""


def with_pipes() -> str:
    """Return code that makes a program's stdin and stdout what they are when both are pipes."""
    return executed(OPEN_PIPES, {})

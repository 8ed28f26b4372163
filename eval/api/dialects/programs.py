"""Run one program for a dialect: its code and files, compiled once for its content.

    Asked(language, code, stdin, limits, files) ─ Programs.run ─▶ Ran(compiled, execution)

Limits are CPU time, so that they do not depend on load; the wall limit is WALL_FACTOR times as
long and a second more. Faults of the machine are tried again, then raise SandboxError.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from gradebox.eval.common.errors import Retry
from gradebox.eval.grading.cases.case_run import check_evidence
from gradebox.sandbox.box.toolchains.find import resolve
from gradebox.sandbox.errors import MissingToolchain
from gradebox.sandbox.languages import SCRIPTS, Language, find
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.execute import check_files
from gradebox.sandbox.server.layout import ARCHIVE, File, Placed, place
from gradebox.sandbox.server.request import compile_limits, run_limits, sharing_output
from gradebox.sandbox.server.settings import Ceilings
from gradebox.sandbox.source_tokens import included_names

WALL_FACTOR, WALL_MORE_S = 1.5, 1.0
MEMORY_BYTES = 1024 * MIB
# Files that a compiler finds by itself beside the main one.
FOUND_BY_COMPILERS = (".h", ".hh", ".hpp", ".hxx", ".ipp", ".tcc", ".inc", ".java")


@dataclass(frozen=True)
class Asked:
    """A program to run.

    language      a name or alias of the language table
    cpu_s         CPU seconds of the run
    compile_cpu_s CPU seconds of the compiler; None, as for others: the server's own limit
    memory_bytes  None: MEMORY_BYTES, or the server's own limit if that is less
    files         contents by path in the working folder
    collect       paths of files to return
    args          arguments of the program
    wall_s        wall seconds of the run; None: see the module
    processes     processes and threads at once
    """

    language: str
    code: str | bytes
    cpu_s: float
    stdin: bytes = b""
    compile_cpu_s: float | None = None
    memory_bytes: int | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    collect: Sequence[str] = ()
    args: Sequence[str] = ()
    wall_s: float | None = None
    processes: int | None = None
    output_bytes: int | None = None


@dataclass(frozen=True)
class Ran:
    """What became of a program; no execution when it did not compile.

    compiles  its language has a compiler
    rejected  what an interpreter says of a program that is not in its language; it was run as well
    """

    compiles: bool
    compiled: Compiled
    execution: Execution | None
    rejected: bytes = b""


def _scripts() -> dict[str, str]:
    """Return the versions of the script languages whose interpreters are installed."""
    found = {}
    for row in SCRIPTS.values():
        with contextlib.suppress(MissingToolchain):
            found[row.name] = resolve(row).version
    return found


_VERDICTS = {"cpu": "TLE", "wall": "TLE", "memory": "MLE", "output": "OLE"}


def verdict_of(execution: Execution) -> str | None:
    """Return why a run failed, None for one that ended with code 0."""
    if execution.killed_for is not None:
        return _VERDICTS.get(execution.killed_for, "RE")
    return "RE" if execution.exit_code or execution.signal is not None else None


def text(data: bytes) -> str:
    """Return output as text."""
    return data.decode("utf-8", "replace")


def wall_s(cpu_s: float) -> float:
    """Return the wall limit for a limit of CPU time."""
    return WALL_FACTOR * cpu_s + WALL_MORE_S


class ProgramRunner:
    """Runs programs in the server's sandbox; any thread may call it."""

    def __init__(self, sandbox: Sandbox, ceilings: Ceilings) -> None:
        self.sandbox = sandbox
        self.ceilings = ceilings
        self.installed = {**sandbox.describe().toolchains, **_scripts()}
        self._retry = Retry(attempts=3)
        self.pool = ThreadPoolExecutor(sandbox.slots, thread_name_prefix="program")

    def close(self) -> None:
        """Run nothing more of what waits in `pool`."""
        self.pool.shutdown(wait=False, cancel_futures=True)

    def run(self, asked: Asked) -> Ran:
        """Compile and run a program. Raises BadRequest, SandboxError."""
        row = find(asked.language)
        placed = _placed(row, asked)
        check_files(ARCHIVE in placed.files, self.sandbox)
        ceilings = self.ceilings
        usual = run_limits({}, ceilings)
        limits = replace(
            usual,
            cpu_s=asked.cpu_s,
            wall_s=min(asked.wall_s or wall_s(asked.cpu_s), ceilings.run_timeout / 1000),
            memory_bytes=asked.memory_bytes or min(MEMORY_BYTES, ceilings.run_memory_limit),
            stderr_bytes=Limits().stderr_bytes,
            processes=asked.processes or usual.processes,
            output_bytes=asked.output_bytes or usual.output_bytes,
        )
        limits = sharing_output(limits, len(asked.collect))
        compile_cpu_s = asked.compile_cpu_s or ceilings.compile_cpu_time / 1000
        compiling = replace(
            compile_limits({}, ceilings),
            cpu_s=compile_cpu_s,
            wall_s=min(wall_s(compile_cpu_s), ceilings.compile_timeout / 1000),
        )
        return self._retry.call(
            lambda: self._once(row, placed, asked, limits, compiling), "a program of a client"
        )

    def _once(
        self, row: Language, placed: Placed, asked: Asked, limits: Limits, compiling: Limits
    ) -> Ran:
        # Python compiles so that it starts by fork; what does not compile fails when it runs.
        compiled = self.sandbox.compile(placed.program, compiling)
        rejected = b""
        if not compiled.ok and row.compile is None:
            rejected = compiled.log
            compiled = self.sandbox.compile(placed.program, compiling, interpreted=False)
        compiled = replace(compiled, log=compiled.log[: Limits().stderr_bytes])
        if not compiled.ok:
            return Ran(row.compile is not None, compiled, None)
        execution = self.sandbox.run(
            compiled,
            limits,
            stdin=asked.stdin,
            args=(*placed.args, *asked.args),
            files=placed.files,
            collect=tuple(asked.collect),
        )
        check_evidence(execution)
        return Ran(row.compile is not None, compiled, execution, rejected)


def _placed(row: Language, asked: Asked) -> Placed:
    """Return the program with its files.

    A program without files is placed as in a grading, where Python starts by fork.
    """
    code = asked.code
    code = code.encode("utf-8", "surrogatepass") if isinstance(code, str) else code
    if not asked.files:
        return Placed(Program(row.name, {row.source: code}))
    name = row.source
    while name in asked.files:
        name = f"program_{name}"
    included = {path.rpartition("/")[2] for path in included_names(code)}
    others = []
    for path, content in asked.files.items():
        is_source = path.lower().endswith(FOUND_BY_COMPILERS) or path.rpartition("/")[2] in included
        others.append(File(path, content, is_source))
    return place(row, [File(name, code, True), *others])

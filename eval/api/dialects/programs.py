"""Run one program for a dialect: its code and files, compiled once for its content.

    Asked(language, code, stdin, limits, files) ─ Programs.run ─▶ Ran(compiled, execution)

Limits are CPU time, so that they do not depend on load; the wall limit is WALL_FACTOR times as
long and a second more. Faults of the machine are tried again, then raise SandboxError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gradebox.eval.grading.cases.case_run import check_evidence
from gradebox.eval.grading.retry import Retry
from gradebox.sandbox.languages import Language, find
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.jobs.execute import check_files
from gradebox.sandbox.server.jobs.layout import ARCHIVE, File, Placed, place
from gradebox.sandbox.server.jobs.request import compile_limits, run_limits, sharing_output
from gradebox.sandbox.server.settings import Ceilings
from gradebox.sandbox.source_tokens import included_names

WALL_FACTOR, WALL_MORE_S = 1.5, 1.0
# Files that a compiler finds by itself beside the main one.
FOUND_BY_COMPILERS = (".h", ".hh", ".hpp", ".hxx", ".ipp", ".tcc", ".inc", ".java")


@dataclass(frozen=True)
class Asked:
    """A program to run.

    language      a name or alias of the language table
    cpu_s         CPU seconds of the run, and of the compiler
    files         contents by path in the working folder
    collect       paths of files to return
    """

    language: str
    code: str
    stdin: bytes
    cpu_s: float
    compile_cpu_s: float
    memory_bytes: int
    files: Mapping[str, bytes] = field(default_factory=dict)
    collect: Sequence[str] = ()


@dataclass(frozen=True)
class Ran:
    """What became of a program; no execution when it did not compile.

    compiles  its language has a compiler
    """

    compiles: bool
    compiled: Compiled
    execution: Execution | None


def wall_s(cpu_s: float) -> float:
    """Return the wall limit for a limit of CPU time."""
    return WALL_FACTOR * cpu_s + WALL_MORE_S


class ProgramRunner:
    """Runs programs in the server's sandbox; any thread may call it."""

    def __init__(self, sandbox: Sandbox, ceilings: Ceilings) -> None:
        self.sandbox = sandbox
        self.ceilings = ceilings
        self.installed = sandbox.describe().toolchains
        self._retry = Retry(attempts=3)

    def run(self, asked: Asked) -> Ran:
        """Compile and run a program. Raises BadRequest, SandboxError."""
        row = find(asked.language)
        placed = _placed(row, asked)
        check_files(ARCHIVE in placed.files, self.sandbox)
        ceilings = self.ceilings
        limits = replace(
            run_limits({}, ceilings),
            cpu_s=asked.cpu_s,
            wall_s=min(wall_s(asked.cpu_s), ceilings.run_timeout / 1000),
            memory_bytes=asked.memory_bytes,
            stderr_bytes=Limits().stderr_bytes,
        )
        limits = sharing_output(limits, len(asked.collect))
        compiling = replace(
            compile_limits({}, ceilings),
            cpu_s=asked.compile_cpu_s,
            wall_s=min(wall_s(asked.compile_cpu_s), ceilings.compile_timeout / 1000),
        )
        return self._retry.call(
            lambda: self._once(row, placed, asked, limits, compiling), "a program of a client"
        )

    def _once(
        self, row: Language, placed: Placed, asked: Asked, limits: Limits, compiling: Limits
    ) -> Ran:
        # Python compiles so that it starts by fork; what does not compile fails when it runs.
        compiled = self.sandbox.compile(placed.program, compiling)
        if not compiled.ok and row.compile is None:
            compiled = self.sandbox.compile(placed.program, compiling, interpreted=False)
        if not compiled.ok:
            return Ran(row.compile is not None, compiled, None)
        execution = self.sandbox.run(
            compiled,
            limits,
            stdin=asked.stdin,
            args=placed.args,
            files=placed.files,
            collect=tuple(asked.collect),
        )
        check_evidence(execution)
        return Ran(row.compile is not None, compiled, execution)


def _placed(row: Language, asked: Asked) -> Placed:
    """Return the program with its files.

    A program without files is placed as in a grading, where Python starts by fork.
    """
    code = asked.code.encode("utf-8", "surrogatepass")
    if not asked.files:
        return Placed(Program(row.name, {row.source: code}))
    name = row.source
    while name in asked.files:
        name = f"program_{name}"
    included = {path.rpartition("/")[2] for path in included_names(code)}
    others = [
        File(path, content, _is_source(path, included)) for path, content in asked.files.items()
    ]
    return place(row, [File(name, code, True), *others])


def _is_source(path: str, included: set[str]) -> bool:
    return path.lower().endswith(FOUND_BY_COMPILERS) or path.rpartition("/")[2] in included

"""The data types of the sandbox: programs, limits and the raw evidence of a run.

    Program ──compile──▶ Compiled ──run(stdin, files, limits)──▶ Execution

An `Execution` has measurements only. Problems, expected outputs and verdicts are not known here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

MIB = 1 << 20
FOLDER = "."  # among files to collect: all plain files of the working folder

LimitName = Literal[
    "cpu", "wall", "memory", "output", "processes", "open_files", "file_size", "disk"
]


@dataclass(frozen=True)
class Program:
    """Source files of one program in one language.

    language  a name or an alias from `gradebox.sandbox.languages`
    files     contents by plain file name; the first one is the main file
    """

    language: str
    files: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the language and of all files, with their names and order."""
        h = hashlib.sha256()
        for part in (self.language.encode(), *(x for f in self.files.items() for x in _pair(f))):
            h.update(len(part).to_bytes(8, "big"))
            h.update(part)
        return h.hexdigest()


def _pair(item: tuple[str, bytes]) -> tuple[bytes, bytes]:
    return item[0].encode(), item[1]


@dataclass(frozen=True)
class Limits:
    """The limits of one run. A run that exceeds one is reported with the name of that limit.

    cpu_s            CPU time of all its processes
    wall_s           wall time, without the time spent waiting for a core
    memory_bytes     peak memory of all its processes; the stack counts and has no other limit
    output_bytes     size of stdout, and of each collected file; more ends the run
    stderr_bytes     bytes of stderr that are kept; the rest is cut, the run continues
    processes        processes and threads alive at once
    open_files       descriptors of one process
    file_size_bytes  size of any one file it writes
    disk_bytes       size of all the files it writes
    """

    cpu_s: float = 10.0
    wall_s: float = 32.0
    memory_bytes: int = 256 * MIB
    output_bytes: int = 64 * MIB
    processes: int = 64
    stderr_bytes: int = 64 * 1024
    open_files: int = 256
    file_size_bytes: int = 64 * MIB
    disk_bytes: int = 128 * MIB


@dataclass  # not frozen: one is made for each run, and that would take three times as long
class Execution:
    """The evidence of one run, without any judgement.

    exit_code     exit status, None when a signal ended the program
    signal        number of the signal that ended the program, else None
    cpu_s         CPU time, user and system, of all its processes
    wall_s        time from start to end
    memory_bytes  peak memory, None when the backend cannot measure it
    stdout        at most Limits.output_bytes bytes; `stdout_bytes` is the full size
    stderr        at most Limits.stderr_bytes bytes
    stdout_cut, stderr_cut  whether bytes were lost
    killed_for    the limit for which the sandbox ended the program, else None
    limits_hit    all limits that were reached, whether or not they ended the program
    files         contents of the files requested with `collect`, without missing ones
    contended     whether other programs may have run on the same cores
    forked        a Python program that was forked from an interpreter that had started already
    """

    exit_code: int | None
    signal: int | None
    cpu_s: float
    wall_s: float
    memory_bytes: int | None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_bytes: int = 0
    stdout_cut: bool = False
    stderr_cut: bool = False
    killed_for: LimitName | None = None
    limits_hit: frozenset[LimitName] = frozenset()
    files: Mapping[str, bytes] = field(default_factory=dict)
    contended: bool = False
    forked: bool = False


@dataclass(frozen=True)
class Compiled:
    """A program that is ready to run any number of times, from any thread.

    ok        False: the compiler rejected the program
    log       the compiler's messages
    execution the run of the compiler
    artifact  the backend's own representation of the program
    """

    program: Program
    ok: bool
    log: bytes = b""
    toolchain: str = ""
    execution: Execution | None = None
    cached: bool = False
    artifact: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Interaction:
    """The evidence of two programs that talked over pipes.

    first_ended  which program ended before the other; the first program also counts as ended when
                 it has closed its output and the second program has been told so
    transcript   (which program wrote, bytes), in order, up to the requested size
    """

    first: Execution
    second: Execution
    first_ended: Literal["first", "second", "both"]
    transcript: tuple[tuple[Literal["first", "second"], bytes], ...] = ()


@dataclass(frozen=True)
class Description:
    """The properties of a backend that results depend on; they are part of every record.

    backend     "box" or "piston"
    level       full, delegated, userns, landlock, none (of gradebox's servers: theirs); or
                "piston" for Piston, "mixed" for servers that differ
    exact       the figures that are exact for all processes of a run: of cpu, memory, processes
    toolchains  version line of each language's compiler or interpreter
    details     other JSON values
    addresses   of servers, for messages; not part of records
    """

    backend: str
    level: str
    exact: frozenset[str]
    toolchains: Mapping[str, str]
    details: Mapping[str, Any] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the properties as one JSON object; its keys are always in the same order."""
        return {
            "backend": self.backend,
            "level": self.level,
            "exact": sorted(self.exact),
            "toolchains": dict(sorted(self.toolchains.items())),
            **dict(sorted(self.details.items())),
        }

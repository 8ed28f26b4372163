"""The nouns of the sandbox: what runs, under which limits, and the raw evidence of it.

    Program ──compile──▶ Compiled ──run(stdin, files, limits)──▶ Execution

An `Execution` states facts only. Nothing here knows what a problem, an expected
output or a verdict is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

MIB = 1 << 20

LimitName = Literal[
    "cpu", "wall", "memory", "output", "processes", "open_files", "file_size", "disk"
]


@dataclass(frozen=True)
class Program:
    """Source files of one program in one language.

    `files` maps plain file names (no directory part) to their contents; the first
    one is the main file. `language` is a name or an alias of the table in
    `sandbox.languages`.
    """

    language: str
    files: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the language and of every file, names and order included."""
        h = hashlib.sha256()
        for part in (self.language.encode(), *(x for f in self.files.items() for x in _pair(f))):
            h.update(len(part).to_bytes(8, "big"))
            h.update(part)
        return h.hexdigest()


def _pair(item: tuple[str, bytes]) -> tuple[bytes, bytes]:
    return item[0].encode(), item[1]


@dataclass(frozen=True)
class Limits:
    """What one run may use. Every limit is enforced under its own name.

    cpu_s            CPU seconds of the whole process group
    wall_s           seconds of wall clock, time spent waiting for a core taken off
    memory_bytes     peak memory of the whole process group (the stack counts, and is
                     otherwise unlimited)
    output_bytes     bytes kept of stdout (and of each collected file); more ends the run
    stderr_bytes     bytes kept of stderr; more is cut, which ends nothing
    processes        processes and threads alive at once
    open_files       descriptors a process may hold
    file_size_bytes  size of any one file it writes
    disk_bytes       size of everything it writes
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


@dataclass(frozen=True)
class Execution:
    """What was seen of one run: evidence, never a judgement.

    exit_code   status of a program that exited by itself, else None
    signal      number of the signal that ended it, else None
    cpu_s       CPU seconds, user + system, of the process group
    wall_s      seconds from start to end
    memory_bytes  peak memory, None when the backend could not tell
    stdout      at most Limits.output_bytes bytes; `stdout_bytes` is the whole size seen
    stderr      at most Limits.stderr_bytes bytes
    stdout_cut, stderr_cut  whether bytes were lost
    killed_for  the limit for which the sandbox ended the program, None when it did not
    limits_hit  every limit that was reached, whether or not it ended the program
    files       contents of the files asked for with `collect`, absent ones left out
    contended   True when other programs may have run on the same cores
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


@dataclass(frozen=True)
class Compiled:
    """A program ready to run. `ok` False: the compiler refused, `log` says why.

    `artifact` belongs to the backend that made it and means nothing elsewhere.
    A Compiled may be run any number of times, from any thread; `close` frees it.
    """

    program: Program
    ok: bool
    log: bytes = b""
    toolchain: str = ""
    execution: Execution | None = None
    cached: bool = False
    artifact: Any = field(default=None, repr=False, compare=False)

    def close(self) -> None:
        """Frees what the backend holds for it; calling it twice is harmless."""
        release = getattr(self.artifact, "close", None)
        if release is not None:
            release()


@dataclass(frozen=True)
class Interaction:
    """Two programs that talked over pipes: the evidence of each.

    first_ended   "first", "second" or "both": who ended before the other did
    transcript    at most the size asked for: (who wrote, bytes), in order
    """

    first: Execution
    second: Execution
    first_ended: Literal["first", "second", "both"]
    transcript: tuple[tuple[Literal["first", "second"], bytes], ...] = ()
    transcript_cut: bool = False


@dataclass(frozen=True)
class Description:
    """What a result depends on, said by the backend; goes into every record.

    backend     "box" or "piston"
    level       full, delegated, userns, landlock, none; or "piston"
    exact       figures that are exact for the whole process group: of cpu, memory,
                processes
    toolchains  language name → version line of what runs it
    details     anything else worth recording, JSON-able
    """

    backend: str
    level: str
    exact: frozenset[str]
    toolchains: Mapping[str, str]
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The same as a JSON object with stable order."""
        return {
            "backend": self.backend,
            "level": self.level,
            "exact": sorted(self.exact),
            "toolchains": dict(sorted(self.toolchains.items())),
            **dict(sorted(self.details.items())),
        }

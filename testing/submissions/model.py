"""A row of the corpus: one run of one program, and its expected result.

    Row("crash.cpp", "RE", "abort", stdin=b"abort", signal=6)
         program     verdict(s)  name of the run

The programs are in `programs/`; several rows may share one. Most solve the task of the default
input: read n, then n integers, and print their sum.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

PROGRAMS = Path(__file__).parent / "programs"
LANGUAGES = {".py": "python", ".cpp": "c++17"}


@dataclass(frozen=True)
class Row:
    """One run.

    verdicts          separated by spaces where they depend on the machine's isolation level
    stdin, expected   bytes, or a function that makes them when the row runs
    cpu_s, memory_mb  the problem's limits
    exit_code, signal, output_bytes   compared with the execution, if given
    says              text in stderr, or in the compiler's messages
    """

    program: str
    verdicts: str = "AC"
    name: str = ""
    stdin: bytes | Callable[[], bytes] = b"3\n1 2 3\n"
    expected: bytes | Callable[[], bytes] = b"6\n"
    cpu_s: float = 1.0
    memory_mb: int = 256
    language: str | None = None
    mode: Literal["stdio", "file"] = "stdio"
    exit_code: int | None = None
    signal: int | None = None
    output_bytes: int | None = None
    says: bytes = field(default=b"")

    @property
    def label(self) -> str:
        return " ".join(filter(None, (self.program, self.language, self.name)))

    @property
    def source(self) -> bytes:
        return (PROGRAMS / self.program).read_bytes()

    @property
    def in_language(self) -> str:
        return self.language or LANGUAGES[Path(self.program).suffix]


def made(value: bytes | Callable[[], bytes]) -> bytes:
    """Return the bytes, or the result of the function, which the next runs have as well."""
    return value if isinstance(value, bytes) else _result(value)


@functools.lru_cache(maxsize=4)
def _result(make: Callable[[], bytes]) -> bytes:
    return make()

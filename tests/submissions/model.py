"""A row of the corpus: one run of one program, and what must be seen of it.

    Row("crash.cpp", "RE", "abort", stdin=b"abort", signal=6)
         program     verdict(s)  what is special about this run

The programs lie in `programs/`; several rows may share one. Most solve one task, "read n,
then n integers, print their sum", so that the default input and answer do for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

PROGRAMS = Path(__file__).parent / "programs"
LANGUAGES = {".py": "python", ".cpp": "c++17"}


@dataclass(frozen=True)
class Row:
    """One run. `verdicts` separated by a space when a machine's level decides between them.

    stdin, expected   bytes, or a function that makes them when the row runs
    cpu_s, memory_mb  the problem's limits
    exit_code, signal, output_bytes, says   checked against the evidence when given;
                      `says` is found in stderr or in the compiler's words
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
    """The bytes themselves, or what the function gives."""
    return value if isinstance(value, bytes) else value()

"""The corpus: runs of programs and their expected results, one a line of table.jsonl.

    {"program": "crash.cpp", "verdicts": "RE", "name": "abort", "stdin": "abort", "signal": 6}

The programs are in `programs/`; several rows may share one. Most solve the task of the default
input: read n, then n integers, and print their sum. A line has the fields of `Row` that are not
the default, and perhaps "spellings" (a row for each of SPELLINGS) or "machine" (a processor).
"""

import functools
import json
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
LANGUAGES = {".py": "python", ".cpp": "c++17"}
SPELLINGS = {
    "plain": b"3\n1 2 3\n",
    "no final newline": b"3\n1 2 3",
    "CRLF": b"3\r\n1 2 3\r\n",
    "blanks at the ends": b"3 \n1  2 3  \n",
}
Made = bytes | tuple[Any, ...]  # bytes, or the name of a maker and its arguments


@dataclass(frozen=True)
class Row:
    """One run.

    verdicts          separated by spaces where they depend on the machine's isolation level
    stdin, expected   bytes, or what makes them when the row runs
    cpu_s, memory_mb  the problem's limits
    exit_code, signal, output_bytes   compared with the execution, if given
    says              text in stderr, or in the compiler's messages
    """

    program: str
    verdicts: str = "AC"
    name: str = ""
    stdin: Made = SPELLINGS["plain"]
    expected: Made = b"6\n"
    cpu_s: float = 1.0
    memory_mb: int = 256
    language: str | None = None
    mode: Literal["stdio", "file"] = "stdio"
    exit_code: int | None = None
    signal: int | None = None
    output_bytes: int | None = None
    says: str = ""

    @property
    def label(self) -> str:
        return " ".join(filter(None, (self.program, self.language, self.name)))

    @property
    def source(self) -> bytes:
        return (PROGRAMS / self.program).read_bytes()

    @property
    def in_language(self) -> str:
        return self.language or LANGUAGES[Path(self.program).suffix]


def made(value: Made) -> bytes:
    """Return the bytes, or those of a maker, which the next runs have as well."""
    return value if isinstance(value, bytes) else _made(*value)


@functools.lru_cache(maxsize=4)
def _made(name: str, count: int, modulus: int = 1 << 62) -> bytes:
    """Return a large text.

    numbers, sum   `count` integers of nine digits behind their count, their sum
    lines          `count`, then 1 to `count`, one per line
    counted        0 to `count` - 1, one per line, modulo `modulus`
    """
    values = [10**8 + i * 7919 % (9 * 10**8) for i in range(count)]
    if name == "numbers":
        return f"{count}\n{' '.join(map(str, values))}\n".encode()
    if name == "sum":
        return b"%d\n" % sum(values)
    first = b"%d\n" % count if name == "lines" else b""
    return first + b"".join(b"%d\n" % (i % modulus + bool(first)) for i in range(count))


def _rows() -> Iterator[Row]:
    for line in (HERE / "table.jsonl").read_text("utf-8").splitlines():
        fields = json.loads(line)
        spellings, machine = fields.pop("spellings", False), fields.pop("machine", "")
        for name in {"stdin", "expected"} & fields.keys():
            value = fields[name]
            if isinstance(value, dict):
                ((maker, given),) = value.items()
                fields[name] = bytes.fromhex(given) if maker == "hex" else (maker, *given)
            else:
                fields[name] = value.encode()
        if machine in ("", platform.machine()):
            for name, text in SPELLINGS.items() if spellings else ():
                yield Row(name=name, stdin=text, **fields)
            if not spellings:
                yield Row(**fields)


ROWS = list(_rows())

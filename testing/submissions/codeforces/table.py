"""Solutions of real Codeforces problems with their intended verdicts.

    1000-C.txt   of each program a line with its name and verdict, such as `//// slow_pairs.py TLE`,
                 then its source

The problems themselves are not included: `benchmarks/real_problems.py --data DIR` reads them from
files with the columns of open-r1/codeforces.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEAD = re.compile(r"^//// (\S+) ([A-Z]+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Intended:
    """One program and its intended verdict."""

    problem: str
    program: str
    verdict: str
    source: bytes = b""

    @property
    def language(self) -> str:
        return "python" if self.program.endswith(".py") else "c++17"


def read_table() -> list[Intended]:
    """Return all programs."""
    return [row for path in sorted(Path(__file__).parent.glob("*.txt")) for row in _programs(path)]


def _programs(path: Path) -> Iterator[Intended]:
    _, *parts = HEAD.split(path.read_text())
    for name, verdict, source in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        yield Intended(path.stem.replace("-", "/"), f"{path.stem}/{name}", verdict, source.encode())

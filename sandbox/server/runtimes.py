"""The runtimes that the server lists: the installed languages under Piston's names.

python 3.11.7 (py, python3 …) · c++ 12.2.0 (c++17, cpp …) · c++20 12.2.0 …

The languages of guipenedo/piston's Codeforces package (c++17 1.0.0, python3 1.0.0 …) are listed as
well, under the names, aliases and version of that package; they run the same compilers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import nodesemver

from gradebox.sandbox.languages import TABLE

CODEFORCES_PACKAGE = "codeforces"
CODEFORCES_VERSION = "1.0.0"
# Name in guipenedo/piston's Codeforces package → our language, aliases beside "cf_" + name.
CODEFORCES: dict[str, tuple[str, tuple[str, ...]]] = {
    "c++": ("c++17", ("GNU C++",)),
    "c++0x": ("c++11", ("GNU C++0x",)),
    "c++11": ("c++11", ("GNU C++11",)),
    "c++14": ("c++14", ("C++14 (GCC 6-32)",)),
    "c++17": ("c++17", ("C++17 (GCC 7-32)", "C++17 (GCC 9-64)")),
    "c++20": ("c++20", ("C++20 (GCC 11-64)", "C++20 (GCC 13-64)")),
    "python3": ("python", ("Python 3",)),
    "kotlin": ("kotlin", ("Kotlin 1.4",)),
    "java": ("java", ("Java 17",)),
}

# Where a language's version is in the version line of its compiler or interpreter.
_FIRST = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?")
_AFTER_VENDOR = re.compile(r"\) (\d+)\.(\d+)(?:\.(\d+))?")  # g++ (Debian 12.2.0-14) 12.2.0
_JAVA = re.compile(r"javac (?:1\.(?=[5-8]\.))?(\d+)(?:\.(\d+))?(?:[._](\d+))?")  # 1.8.0_392 is 8
VERSIONS: dict[str, re.Pattern[str]] = {
    **dict.fromkeys(("c", "c++11", "c++14", "c++17", "c++20", "c++23"), _AFTER_VENDOR),
    "java": _JAVA,
    "go": re.compile(r"\bgo(\d+)(?:\.(\d+))?(?:\.(\d+))?"),
    "kotlin": re.compile(r"kotlinc-jvm (\d+)\.(\d+)(?:\.(\d+))?"),
    "c#": re.compile(r"version (\d+)\.(\d+)(?:\.(\d+))?"),
}

MAX_VERSION_CHARS = 100  # of the version that a request asks for


@dataclass(frozen=True)
class Runtime:
    """One entry of GET /api/v2/runtimes; `row` is our name of the language."""

    language: str
    version: str
    aliases: tuple[str, ...]
    row: str
    runtime: str | None = None

    def as_json(self) -> dict[str, Any]:
        value = {"language": self.language, "version": self.version, "aliases": list(self.aliases)}
        return value if self.runtime is None else {**value, "runtime": self.runtime}

    @property
    def codeforces(self) -> bool:
        """Whether it is a language of the Codeforces package."""
        return self.runtime == CODEFORCES_PACKAGE


def list_runtimes(toolchains: Mapping[str, str]) -> list[Runtime]:
    """Return the runtimes of the installed languages, `Description.toolchains`."""
    own: list[Runtime] = []
    taken: set[str] = set()
    for name, line in toolchains.items():
        row = TABLE.get(name)
        if row is None:
            continue
        package = row.piston[0] or name
        first = package not in taken
        taken.add(package)
        language = package if first else name
        aliases = tuple(n for n in dict.fromkeys((name, *row.aliases)) if n != language)
        runtime = None if first else package
        own.append(Runtime(language, version_of(line, name), aliases, name, runtime))
    package_runtimes = [
        Runtime(name, CODEFORCES_VERSION, (*aliases, f"cf_{name}"), row, CODEFORCES_PACKAGE)
        for name, (row, aliases) in CODEFORCES.items()
        if row in toolchains
    ]
    return package_runtimes + own  # of two entries with one name, clients keep the last: our own


def version_of(line: str, language: str) -> str:
    """Return the version in the version line of a language's tool, as x.y.z; 0.0.0 without one."""
    found = VERSIONS.get(language, _FIRST).search(line) or _FIRST.search(line)
    return ".".join(str(int(part or 0)) for part in found.groups()) if found else "0.0.0"


def find_runtime(
    runtimes: list[Runtime], language: str, version: str, *, case: bool = False
) -> Runtime | None:
    """Return the runtime of a request; its own name is preferred to an alias.

    case  the request has the files of the Codeforces package, whose languages are then preferred:
          `c++17` is a language of this server and one of that package
    """
    if len(version) > MAX_VERSION_CHARS:
        return None
    matching = [
        r
        for r in runtimes
        if (language == r.language or language in r.aliases) and satisfies(r.version, version)
    ]
    return min(
        matching,
        key=lambda r: (r.codeforces != case, language not in (r.language, r.row)),
        default=None,
    )


def satisfies(version: str, wanted: str) -> bool:
    """Return whether a version is in a range, in npm's syntax as in Piston.

    Examples: `*`, `3`, `3.x`, `3.11.7`, `^3.1`, `~3.11`, `>=3.0.0 <4.0.0`, `3.10 || 3.11`, `3 - 4`.
    """
    # many blanks in a row would cost the library's expressions much time
    return bool(nodesemver.satisfies(version, " ".join(wanted.split()), False))

"""The runtimes that the server lists: the installed languages under Piston's names.

python 3.11.7 (py, python3 …) · c++ 12.2.0 (c++17, cpp …) · c++20 12.2.0 …

The names of guipenedo/piston's Codeforces package (`cf_c++17`, `cf_python3` …) are listed as well
and run the same languages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradebox.sandbox.languages import TABLE

# Name in guipenedo/piston's Codeforces package → our language. Each is listed as "cf_" + name.
CODEFORCES = {
    "c++": "c++17",
    "c++0x": "c++11",
    "c++11": "c++11",
    "c++14": "c++14",
    "c++17": "c++17",
    "c++20": "c++20",
    "python3": "python",
    "java": "java",
    "kotlin": "kotlin",
}

MAX_VERSION_CHARS = 100  # int() fails beyond 4,300 digits


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


def list_runtimes(toolchains: Mapping[str, str]) -> list[Runtime]:
    """Return the runtimes of the installed languages, `Description.toolchains`."""
    listed: list[Runtime] = []
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
        listed.append(Runtime(language, version_of(line), aliases, name, runtime))
    for name, own in CODEFORCES.items():
        if own in toolchains:
            version = version_of(toolchains[own])
            listed.append(Runtime(f"cf_{name}", version, (), own, "codeforces"))
    return listed


def version_of(line: str) -> str:
    """Return the last version in a toolchain's version line, as x.y.z."""
    found = re.findall(r"\d+(?:\.\d+){0,2}", line)
    parts = (found[-1] if found else "0").split(".")
    return ".".join([*parts, "0", "0"][:3])


def find_runtime(runtimes: list[Runtime], language: str, version: str) -> Runtime | None:
    """Return the runtime of a request; its own name is preferred to an alias."""
    matching = [
        r
        for r in runtimes
        if (language == r.language or language in r.aliases) and satisfies(r.version, version)
    ]
    exact = [r for r in matching if r.language == language or r.row == language]
    return next(iter(exact or matching), None)


def satisfies(version: str, wanted: str) -> bool:
    """Return whether a version fits `*`, `3`, `3.x`, `3.11.7`, `^3.1`, `~3.11` or `>=3.6`."""
    match = re.fullmatch(r"\s*(\^|~|>=|=|v)?\s*v?(\*|x|[\d.x*]*)\s*", wanted)
    if match is None or len(wanted) > MAX_VERSION_CHARS:
        return False
    sign, text = match.groups()
    asked = [int(p) for p in text.split(".") if p.isdigit()]
    have = [int(p) for p in version.split(".")]
    if sign == ">=":
        return have >= asked
    if sign in ("^", "~"):
        kept = 1 if sign == "^" else 2
        return have >= asked and have[:kept] == asked[:kept][: len(have)]
    return have[: len(asked)] == asked

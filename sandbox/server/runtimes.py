"""The runtimes this server lists: the languages found here, under Piston's names.

python 3.11.7 (py, python3 …) · c++ 12.2.0 (c++17, cpp …) · c++20 12.2.0 …
and the Codeforces package's names, which run the same languages
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.languages import TABLE

# name in the Codeforces package → language here; "cf_" + name is an alias of each.
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

VERSION_CHARS = 100  # longer than any version; beyond 4,300 digits Python reads no number


@dataclass(frozen=True)
class Runtime:
    """One entry of GET /api/v2/runtimes; `row` names the language here."""

    language: str
    version: str
    aliases: tuple[str, ...]
    row: str
    runtime: str | None = None

    def as_json(self) -> dict[str, Any]:
        value = {"language": self.language, "version": self.version, "aliases": list(self.aliases)}
        return value if self.runtime is None else {**value, "runtime": self.runtime}


def list_runtimes(toolchains: Mapping[str, str]) -> list[Runtime]:
    """What `Description.toolchains` amounts to in Piston's terms."""
    listed: list[Runtime] = []
    taken: set[str] = set()
    for name, line in toolchains.items():
        row = TABLE.get(name)
        if row is None:
            continue
        package = row.piston[0] or name
        own = package not in taken
        taken.add(package)
        language = package if own else name
        names = dict.fromkeys((package if own else name, name, *row.aliases))
        aliases = tuple(n for n in names if n != language)
        listed.append(Runtime(language, version_of(line), aliases, name, None if own else package))
    for name, here in CODEFORCES.items():
        if here in toolchains:
            version = version_of(toolchains[here])
            listed.append(Runtime(f"cf_{name}", version, (), here, "codeforces"))
    return listed


def version_of(line: str) -> str:
    """The last x.y.z of a toolchain's version line, as Piston wants versions."""
    found = re.findall(r"\d+(?:\.\d+){0,2}", line)
    parts = (found[-1] if found else "0").split(".")
    return ".".join([*parts, "0", "0"][:3])


def choose(runtimes: list[Runtime], language: str, version: str) -> Runtime | None:
    """The runtime of a request; None when none fits."""
    fit = [
        r
        for r in runtimes
        if (language == r.language or language in r.aliases) and satisfies(r.version, version)
    ]
    exact = [r for r in fit if r.language == language or r.row == language]
    return next(iter(exact or fit), None)


def satisfies(version: str, wanted: str) -> bool:
    """Whether a version fits: `*`, `3`, `3.x`, `3.11.7`, `^3.1`, `~3.11`, `>=3.6`."""
    match = re.fullmatch(r"\s*(\^|~|>=|=|v)?\s*v?(\*|x|[\d.x*]*)\s*", wanted)
    if match is None or len(wanted) > VERSION_CHARS:
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

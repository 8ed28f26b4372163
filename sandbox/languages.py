"""The language table: one row a language, data only. A user adds a row with `register`.

Paths written `{source}`, `{binary}` and `{memory_mb}` are filled in by the backend;
`compile` None means that the source itself is run.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from sandbox.errors import UnknownLanguage


@dataclass(frozen=True)
class Language:
    """How programs of one language are compiled and run.

    name       the name in records
    aliases    other names users and Markdown fences give it
    source     file name of the main file
    tool       candidates for the compiler or interpreter, the first found is used
    compile    arguments after the compiler, or None; `{source}` and `{binary}` filled in
    run        the command; `{tool}`, `{source}`, `{binary}` filled in
    version    arguments that make the tool print its version
    install    what to type on Debian to get it
    piston     (language, version) asked of a Piston server
    processes  processes and threads its runtime needs at least
    reserves   address space is reserved far beyond use (no address-space limit)
    family     compilers whose options are known well enough to speed them up ("g++")
    """

    name: str
    aliases: tuple[str, ...]
    source: str
    tool: tuple[str, ...]
    compile: tuple[str, ...] | None
    run: tuple[str, ...]
    version: tuple[str, ...] = ("--version",)
    install: str = ""
    piston: tuple[str, str] = ("", "*")
    processes: int = 1
    reserves: bool = False
    family: str = ""


def _cpp(std: str, *aliases: str) -> Language:
    return Language(
        name=f"c++{std}",
        aliases=aliases,
        source="main.cpp",
        tool=("g++",),
        compile=(f"-std=c++{std}", "-O2", "-DONLINE_JUDGE", "{source}", "-o", "{binary}"),
        run=("{binary}",),
        install="apt-get install g++",
        piston=("c++", "*"),
        family="g++",
    )


TABLE: dict[str, Language] = {
    row.name: row
    for row in (
        Language(
            name="python",
            aliases=("python3", "py", "py3", "cpython"),
            source="main.py",
            tool=("python3",),
            compile=None,
            run=("{tool}", "{source}"),
            install="apt-get install python3",
            piston=("python", "*"),
        ),
        _cpp("17", "c++", "cpp", "cpp17", "cxx", "g++", "g++17", "gnu++17", "cc"),
        _cpp("11", "cpp11", "g++11", "gnu++11", "c++0x"),
        _cpp("14", "cpp14", "g++14", "gnu++14"),
        _cpp("20", "cpp20", "g++20", "gnu++20"),
        _cpp("23", "cpp23", "g++23", "gnu++23"),
    )
}


def register(row: Language) -> None:
    """Adds a row, or replaces the one of the same name."""
    TABLE[row.name] = row


def find(name: str) -> Language:
    """The row for a name or an alias, in any case; UnknownLanguage names the nearest."""
    wanted = name.strip().lower()
    for row in TABLE.values():
        if wanted == row.name or wanted in row.aliases:
            return row
    known = [n for row in TABLE.values() for n in (row.name, *row.aliases)]
    near = difflib.get_close_matches(wanted, known, n=1)
    hint = f"; did you mean {near[0]!r}" if near else ""
    raise UnknownLanguage(
        f"unknown language {name!r}{hint}; known: {', '.join(TABLE)} (sandbox/languages.py)"
    )

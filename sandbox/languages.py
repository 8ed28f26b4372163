"""The language table: a row for each language, in languages.json. Users add rows with `register`.

The backend replaces words in braces, those for memory in each run:

    {tool} {runtime}   real paths of the compiler or interpreter, and of what runs its output
    {folder}           the folder of the tool
    {source} {binary}  the main file, and the compiler's output
    {main}             the class that is run (Java)
    {memory_mb} {memory_bytes}   the run's memory limit
    {heap_mb}          a little more than the limit: a program that needs too much memory is then
                       ended by the limit, and not by its runtime with an error
    {stack_mb}         the memory limit, at most what the JVM accepts as a stack
    {stack_kb} {stack_bytes}   the memory limit, at most what Node and Ruby accept

Why some words are there:

    -XX:+UseSerialGC … (JVM)   the serial collector has no threads. All of the heap counts, so it is
                       kept close to the live objects. Nothing is mapped into /tmp
    PYPY_GC_NURSERY    otherwise PyPy reads a cache size from /proc/cpuinfo and warns on stderr
    RUBY_THREAD_VM_STACK_SIZE  the default stack is 1 MB: ten thousand calls
    hello of C++       headers that compile fast, and a symbol of the C++ library
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.model import MIB

LARGEST_STACK_MB = 1000  # of the JVM
# V8 counts the bytes of its stack in 31 bits: with 2048 MB every program ended with "Maximum call
# stack size exceeded". Ruby crashes with 64 GB.
LARGEST_STACK_BYTES = 2047 * MIB


@dataclass(frozen=True)
class Language:
    """How programs of one language are compiled and run.

    name         the name in records
    aliases      other names, in solutions files and Markdown fences
    source       file name of the main file
    tool         candidates for the compiler or interpreter; the first one found is used
    compile      arguments of the compiler; None: the source itself is run
    run          the command
    version      arguments with which the tool prints its version
    install      the command that installs it on Debian
    piston       (language, version) to request from a Piston server
    processes    processes and threads that its runtime needs
    family       "g++", "gcc": compilers whose options for faster builds are known;
                 "java": the file must be named after its class;
                 "python": the interpreter can compile without running (python_compile.py);
                 "kotlin", "c#", "go": several sources are compiled together, as those above
    runtime      candidates for what runs the compiler's output (java, mono)
    output       file name of that output; empty: an executable
    then         a second command after the compiler
    environment  NAME=value for both commands; `{work}` is their working folder
    binds        patterns of host paths that they need besides their installation
    own_folder   an installation outside /usr is a single folder and needed as a whole
    reads_proc   the runtime cannot start where /proc is hidden (level landlock)
    sysroot      arguments with which a version manager's proxy prints the real installation
    hello        a program that reads a line and prints it: shows that the language works; empty: it
                 is taken to work
    base         of a variant: the name of the row in TABLE that it was made from
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
    family: str = ""
    runtime: tuple[str, ...] = ()
    output: str = ""
    then: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()
    own_folder: bool = False
    reads_proc: bool = False
    sysroot: tuple[str, ...] = ()
    hello: str = ""
    base: str = ""


def _rows() -> Iterator[Language]:
    for row in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")):
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        yield Language(**fields)


TABLE: dict[str, Language] = {row.name: row for row in _rows()}
# Languages of the server's dialects alone, since a fence of shell commands in an answer is no
# solution; and other ways to compile or start a language of TABLE. All are found by their exact
# name and listed nowhere.
SCRIPTS = {name: TABLE.pop(name) for name in [*TABLE] if name.startswith("script ")}
VARIANTS: dict[str, Language] = {**SCRIPTS}


def register(row: Language) -> None:
    """Add a row, or replace the row of the same name."""
    TABLE[row.name] = row


# The compiler's vendor, version and word size, as Codeforces writes them.
MOST_NAME = 100  # characters of a language's name
DECORATION = re.compile(r"^gnu(?=\s)|\s*\(gcc [^)]*\)$|[\s(-]+64\)?$|\s+")


def find(name: str) -> Language:
    """Return the row for a name or alias in any case, also as Codeforces writes it.

    Examples: "GNU C++20 (64)", "C++17 (GCC 7-32)", "Python 3". Raises UnknownLanguage with the
    most similar name.
    """
    if name in VARIANTS:
        return VARIANTS[name]
    wanted = name.strip().lower() if len(name) <= MOST_NAME else ""
    for spelling in (wanted, DECORATION.sub("", wanted)):
        for row in TABLE.values():
            if spelling == row.name or spelling in row.aliases:
                return row
    known = [n for row in TABLE.values() for n in (row.name, *row.aliases)]
    near = difflib.get_close_matches(wanted, known, n=1)
    hint = f"; did you mean {near[0]!r}" if near else ""
    raise UnknownLanguage(
        f"unknown language {name[:MOST_NAME]!r}{hint}; known: {', '.join(TABLE)} "
        "(sandbox/languages.py)"
    )


def memory_places(memory_bytes: int) -> dict[str, str]:
    """Return the replacements in commands for a run's memory limit."""
    megabytes = max(1, memory_bytes // MIB)
    stack = min(memory_bytes, LARGEST_STACK_BYTES)
    return {
        "{memory_mb}": str(megabytes),
        "{memory_bytes}": str(memory_bytes),
        "{heap_mb}": str(megabytes + megabytes // 8 + 16),
        "{stack_mb}": str(min(megabytes, LARGEST_STACK_MB)),
        "{stack_kb}": str(stack // 1024),
        "{stack_bytes}": str(stack),
    }


def fill(part: str, places: Mapping[str, str]) -> str:
    """Return a word of a command with its places replaced, once: values are not searched again."""
    at = part.find("{")
    while at >= 0:
        name = part[at : part.find("}", at) + 1]
        value = places.get(name)
        if value is not None:
            part = part[:at] + value + part[at + len(name) :]
        at = part.find("{", at + (1 if value is None else len(value)))
    return part

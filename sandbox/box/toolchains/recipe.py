"""A row of the language table, filled in for one program: what compiles it and what runs it.

Language + Tool + Program ─▶ Recipe (command, source files, name of the output)
                          ─▶ BuiltProgram (command, executable or files in the program's folder)

A public class of Java must be in a file of its name, and the class to run is given by name. Both
are found in the source: names of top-level classes, outside comments and literals.

    package p;  class A {}  public class B { public static void main(…) }   ─▶  B.java, p.B
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gradebox.sandbox.box.built_program import PROGRAM, BuiltProgram, Executable
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.languages import Language, fill
from gradebox.sandbox.model import Program
from gradebox.sandbox.source_tokens import other_sources, tokens

BINARY = "program"
SHELL = "/bin/sh"


@dataclass(frozen=True)
class Recipe:
    """How a program is compiled: a command, the files beside it, the file it makes."""

    argv: tuple[str, ...]
    files: dict[str, bytes]
    output: str


def recipe(row: Language, tool: Tool, program: Program, flags: Sequence[str] = ()) -> Recipe:
    """Return the compilation of a program; `flags` follow the options of the row."""
    output = row.output or BINARY
    files = source_files(row, program)
    places = _places(row, tool) | {"{source}": next(iter(files)), "{binary}": output}
    sources = other_sources(row.family, files)
    command = [tool.path, *(fill(part, places) for part in row.compile or ()), *sources, *flags]
    if not row.then and not row.environment:
        return Recipe(tool.started(command), files, output)
    then = [fill(part, places) for part in row.then]
    settings = (*row.environment, *tool.environment)
    return Recipe((SHELL, "-c", _script(settings, command, then)), files, output)


def _script(environment: Sequence[str], command: Sequence[str], then: Sequence[str]) -> str:
    """Return both commands as a shell script.

    `{work}` in the environment is replaced when it runs: without namespaces, the path of the
    working folder differs from box to box.
    """
    parts = []
    for setting in environment:
        name, _, value = setting.partition("=")
        parts.append(f"export {name}=" + shlex.quote(value).replace("{work}", "'\"$PWD\"'"))
    steps = [shlex.join(words) for words in (command, then) if words]
    return "; ".join([*parts, " && ".join(steps)])


def compiled_program(
    row: Language, tool: Tool, program: Program, output: bytes, *, in_memory: bool = False
) -> BuiltProgram:
    """Return a program made from the compiler's output: executed itself, or run by a runtime.

    in_memory  see `Executable`
    """
    places = _places(row, tool)
    if not row.output:
        # argv[0] as the program sees it; the descriptor is what is executed.
        places |= {"{binary}": f"{PROGRAM}/{Path(row.source).stem}"}
        argv = tuple(fill(part, places) for part in row.run)
        executable = Executable(output, in_memory=in_memory)
        return BuiltProgram(argv, program.digest, executable, processes=_extra_processes(row))
    places |= {"{binary}": f"{PROGRAM}/{row.output}"}
    if row.family == "java":
        places["{main}"] = java_names(next(iter(program.files.values())))[1]
    argv = tool.started([fill(part, places) for part in row.run])
    digest = f"{row.name} {program.digest}"
    files = {row.output: output}
    return BuiltProgram(argv, digest, files=files, processes=_extra_processes(row))


def interpreted_program(row: Language, tool: Tool, program: Program) -> BuiltProgram:
    """Return a program whose source is run."""
    files = source_files(row, program)
    places = _places(row, tool) | {"{source}": f"{PROGRAM}/{next(iter(files))}"}
    argv = tool.started([fill(part, places) for part in row.run])
    return BuiltProgram(argv, program.digest, files=files, processes=_extra_processes(row))


def source_files(row: Language, program: Program) -> dict[str, bytes]:
    """Return the files of a program, the main file first and named as its language requires."""
    (_, main), *others = program.files.items()
    name = java_names(main)[0] if row.family == "java" else row.source
    return {name: main, **{other: data for other, data in others if other != name}}


def _places(row: Language, tool: Tool) -> dict[str, str]:
    return {"{tool}": tool.path, "{runtime}": tool.runtime, "{folder}": tool.folder}


def _extra_processes(row: Language) -> int:
    return row.processes if row.processes > 1 else 0


# ---- Java's names ----

DEFAULT = "Main"
MOST_PARTS = 100  # names and dots of a package
_KINDS = frozenset(("class", "interface", "enum", "record"))


@dataclass
class _Class:
    name: str
    public: bool
    main: bool = False


def java_names(source: bytes) -> tuple[str, str]:
    """Return (file name, class to run with its package) of a Java source of any bytes.

    The class is the first top-level class with a method called main, else the public one, else the
    first. The file is named after the public class, else after the class to run.
    """
    package: list[str] = []
    classes: list[_Class] = []
    depth = 0
    public = in_package = False
    last, before = "", ""
    for kind, word, _ in tokens(source.decode("utf-8", "replace"), "java"):
        if kind in ("comment", "string", "line"):
            continue
        depth += (word == "{") - (word == "}")
        if word == "package" and depth == 0 and not classes and not package:
            in_package = True
        elif in_package and len(package) < MOST_PARTS and (kind == "word" or word == "."):
            package.append(word)
        elif word == "(" and last == "main" and depth == 1 and classes:
            classes[-1].main = True
        elif kind == "word" and last in _KINDS and before != "." and depth == 0:
            classes.append(_Class(word, public))
            public = False
        else:
            in_package = False
            public = word == "public" or (public and word not in ("{", "}", ";"))
        before, last = last, word
    public_class = next((c for c in classes if c.public), None)
    to_run = next((c for c in classes if c.main), None) or public_class or next(iter(classes), None)
    main = to_run.name if to_run else DEFAULT
    file = public_class.name if public_class else main
    if len(file.encode()) > 200:
        file = DEFAULT
    return f"{file}.java", f"{''.join(package)}.{main}" if package else main

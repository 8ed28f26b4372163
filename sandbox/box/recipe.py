"""A row of the language table, filled in for one program: what compiles it, what runs it.

Language + Tool + Program ─▶ Recipe (command, source files, name of the output)
                          ─▶ Artifact (command, executable or files in /program)
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.box import java_names
from sandbox.box.artifact import PROGRAM, Artifact
from sandbox.box.blob import Executable
from sandbox.box.toolchain import Tool
from sandbox.languages import Language, fill
from sandbox.model import Program

BINARY = "program"
SHELL = "/bin/sh"


@dataclass(frozen=True)
class Recipe:
    """How a program is compiled: a command, the files beside it, the file it makes."""

    argv: tuple[str, ...]
    files: dict[str, bytes]
    output: str


def recipe(row: Language, tool: Tool, program: Program, more: Sequence[str] = ()) -> Recipe:
    """The compile step of a program; `more` are options that follow the row's own."""
    output = row.output or BINARY
    files = named(row, program)
    places = _places(row, tool) | {"{source}": next(iter(files)), "{binary}": output}
    command = [tool.path, *(fill(part, places) for part in row.compile or ()), *more]
    if not row.then and not row.environment:
        return Recipe(tuple(command), files, output)
    then = [fill(part, places) for part in row.then]
    return Recipe((SHELL, "-c", _script(row.environment, command, then)), files, output)


def _script(environment: Sequence[str], command: Sequence[str], then: Sequence[str]) -> str:
    """Both commands for a shell; `{work}` in the environment is the working folder, whose
    path differs from box to box where there are no namespaces."""
    parts = []
    for setting in environment:
        name, _, value = setting.partition("=")
        parts.append(f"export {name}=" + shlex.quote(value).replace("{work}", "'\"$PWD\"'"))
    steps = [shlex.join(words) for words in (command, then) if words]
    return "; ".join([*parts, " && ".join(steps)])


def compiled_artifact(
    row: Language, tool: Tool, program: Program, made: bytes, *, in_memory: bool = False
) -> Artifact:
    """What the compiler made, ready to run: executed itself (see `Executable`), or loaded for
    the runtime."""
    places = _places(row, tool)
    if not row.output:
        # argv[0] as a program sees it; what is executed is the descriptor.
        places |= {"{binary}": f"{PROGRAM}/{Path(row.source).stem}"}
        argv = tuple(fill(part, places) for part in row.run)
        executable = Executable(made, in_memory=in_memory)
        return Artifact(argv, program.digest, executable, processes=_more(row))
    places |= {"{binary}": f"{PROGRAM}/{row.output}"}
    if row.family == "java":
        places["{main}"] = java_names.names(_main_file(program))[1]
    argv = tuple(fill(part, places) for part in row.run)
    digest = f"{row.name} {program.digest}"
    return Artifact(argv, digest, files={row.output: made}, processes=_more(row))


def interpreted(row: Language, tool: Tool, program: Program) -> Artifact:
    """A program whose source is run."""
    files = named(row, program)
    places = _places(row, tool) | {"{source}": f"{PROGRAM}/{next(iter(files))}"}
    argv = tuple(fill(part, places) for part in row.run)
    return Artifact(argv, program.digest, files=files, processes=_more(row))


def named(row: Language, program: Program) -> dict[str, bytes]:
    """The files, the main one first and under the name its language wants."""
    (_, main), *others = program.files.items()
    name = java_names.names(main)[0] if row.family == "java" else row.source
    return {name: main, **{other: data for other, data in others if other != name}}


def _main_file(program: Program) -> bytes:
    return next(iter(program.files.values()))


def _places(row: Language, tool: Tool) -> dict[str, str]:
    return {"{tool}": tool.path, "{runtime}": tool.runtime, "{folder}": tool.folder}


def _more(row: Language) -> int:
    return row.processes if row.processes > 1 else 0

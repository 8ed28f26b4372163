"""The body of one /api/v2/execute request, and how a server with a launcher is spoken to.

gbx-launch.py  the launcher, the only file the server takes for source (utf8)
gbx-job        what it is to do                     (base64, as everything below)
gbx-stdin      the program's standard input
gbx-program    its binary, gzipped, when it is compiled
main.py, …     its sources when it is interpreted, and the run's own files
"""

from __future__ import annotations

import base64
import functools
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.errors import BadRequest

LAUNCHER = "gbx-launch.py"
JOB, STDIN, PROGRAM = "gbx-job", "gbx-stdin", "gbx-program"
RESERVED = (LAUNCHER, JOB, STDIN, PROGRAM)
BINARY = "main"

# What --piston-package chooses: the runtime that runs launchers, and the one whose box
# has the compilers. The Codeforces package has both in one; it drops empty lines, so
# frames are base64 there, and it wants an input.txt and a grader_config.
PYTHON_RUNTIME = {"piston": "python", "codeforces": "cf_python3"}


@dataclass(frozen=True)
class File:
    """One file of a request; `source`: sent as utf8, so the server compiles or runs it."""

    name: str
    content: bytes
    source: bool = False

    def as_json(self) -> dict[str, str]:
        if self.source:
            return {"name": self.name, "content": self.content.decode()}
        content = base64.b64encode(self.content).decode("ascii")
        return {"name": self.name, "content": content, "encoding": "base64"}


def encode(language: str, version: str, files: Sequence[File], fields: Mapping[str, Any]) -> bytes:
    """The request's bytes."""
    body = {
        "language": language,
        "version": version,
        "files": [f.as_json() for f in files],
        **fields,
    }
    return json.dumps(body, separators=(",", ":")).encode()


def codeforces_files(wall_s: float) -> list[File]:
    """What the Codeforces package needs to act as a mere runtime.

    Its own time limit lies beyond ours; no memory limit (it would be one of address
    space); neither the expected output nor a checker is ever sent.
    """
    config = f"TIME_LIMIT={int(wall_s) + 1}\nINPUT_MODE=stdio\n"
    return [File("input.txt", b"\n"), File("grader_config", config.encode())]


def check_names(names: Sequence[str]) -> None:
    """BadRequest for a file name that is not a plain name, or is the launcher's."""
    for name in names:
        if not name or name in (".", "..") or "/" in name or "\0" in name or len(name) > 200:
            raise BadRequest(
                f"file name {name[:80]!r} is not a plain name: 1 to 200 characters, no / and no NUL"
            )
        if name in RESERVED:
            raise BadRequest(f"file name {name!r} is the launcher's own; choose another")


@functools.lru_cache(maxsize=1)
def launcher_source() -> bytes:
    """The launcher's text without comments and docstrings: it travels with every run."""
    import ast

    text = Path(__file__).with_name("box_launcher.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)):
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body.pop(0)
    return ast.unparse(tree).encode()


def nonce() -> str:
    return secrets.token_hex(8)

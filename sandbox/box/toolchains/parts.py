"""What a tool consists of besides its own file: shared libraries and folders that it reads.

    the tool ── on the host, with the grader's LD_LIBRARY_PATH ──▶ Parts

A box shows the libraries under the same paths. Whether a tool was replaced during a run shows in
the times of its parts (`state_of`).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 30  # of a query; a JVM's first start on a busy machine takes seconds
SEARCH = "LD_LIBRARY_PATH"
# What other parts of a compiler need, the compiler itself may not.
COMPANIONS = {"g++": ("cc1plus", "as", "collect2"), "gcc": ("cc1", "as", "collect2")}
# An interpreter imports its extension modules, as programs may, and prints what that mapped.
PYTHON = """
import os, sys
folders = [p for p in sys.path if os.path.isdir(p)]
names = [n for p in folders if p.endswith("lib-dynload") for n in os.listdir(p)]
for name in [*names, "numpy"]:
    if not name.startswith(("_test", "_xx", "_tkinter")):
        try:
            __import__(name.partition(".")[0])
        except BaseException:
            pass
os.write(1, b"\\0".join(map(os.fsencode, folders)) + b"\\n\\n")
with open("/proc/self/maps", "rb") as maps:
    os.write(1, b"".join(line for line in maps if b".so" in line))
"""

State = tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class ToolParts:
    """The parts of one tool.

    libraries  real paths of its shared libraries
    folders    of an interpreter's modules, or of a compiler's programs and libraries
    """

    libraries: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def ask(command: Sequence[str], *, silent: bool = False, **environment: str) -> str:
    """Return what a tool prints; "" when it cannot be started or ends with an error.

    silent       stderr does not count as output
    environment  added to the few variables that tools are given
    """
    env = {"HOME": os.environ.get("HOME", "/"), "PATH": os.defpath, **environment}
    kept = ("RUSTUP_HOME", "RUSTUP_TOOLCHAIN", SEARCH)
    env |= {name: os.environ[name] for name in kept if name in os.environ}
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            list(command),
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=TIMEOUT_S,
            check=False,
            env=env,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode == 0:
            return done.stdout if done.stdout.strip() or silent else done.stderr
    return ""


def find_parts(path: str, version: Sequence[str], family: str) -> ToolParts:
    """Return the parts of a tool.

    version  arguments with which it prints its version
    family   see `Language`
    """
    if family == "python":
        folders, _, maps = ask([path, "-I", "-c", PYTHON], silent=True).partition("\n\n")
        mapped = [line.split(maxsplit=5)[-1] for line in maps.splitlines()]
        return _existing(mapped, folders.split("\0"))
    tools, folders = [path], ""
    if family in COMPANIONS:
        tools += [ask([path, f"-print-prog-name={name}"]).strip() for name in COMPANIONS[family]]
        folders = ask([path, "-print-search-dirs"])
    found = [line for tool in tools for line in _loaded(tool, version)]
    lists = (line.partition(": ")[2].lstrip("=").split(":") for line in folders.splitlines())
    return _existing(found, [folder for some in lists for folder in some])


def _loaded(path: str, arguments: Sequence[str]) -> list[str]:
    """Return the libraries that the loader finds for a program, which it does not start.

    One without a loader is started, hence the arguments.
    """
    if not Path(path).is_absolute():
        return []
    lines = ask([path, *arguments], silent=True, LD_TRACE_LOADED_OBJECTS="1").splitlines()
    return [line.partition("=> ")[2].rpartition(" (")[0] for line in lines]


def _existing(libraries: Iterable[str], folders: Iterable[str]) -> ToolParts:
    real = {os.path.realpath(path) for path in libraries if path.startswith("/")}
    kept = {os.path.realpath(path) for path in folders if path.startswith("/")}
    return ToolParts(
        tuple(sorted(path for path in real if Path(path).is_file())),
        tuple(sorted(path for path in kept if Path(path).is_dir())),
    )


def folders_searched(libraries: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of LD_LIBRARY_PATH in which some of these libraries are found."""
    real = set(libraries)
    folders = [Path(f) for f in os.environ.get(SEARCH, "").split(":") if f.startswith("/")]
    return tuple(
        str(folder)
        for folder in folders
        if folder.is_dir() and any(os.path.realpath(file) in real for file in folder.glob("*.so*"))
    )


def module_sizes(folders: Iterable[str]) -> dict[str, int]:
    """Return the bytes of each module in these folders, by its path; -1 of a package."""
    sizes: dict[str, int] = {}
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith((".", "~", "__pycache__")):
                    with contextlib.suppress(OSError):
                        sizes[entry.path] = -1 if entry.is_dir() else entry.stat().st_size
    return sizes


def state_of(paths: Iterable[str]) -> State:
    """Return what changes when one of these files or folders is replaced, or loses an entry."""
    found: list[tuple[int, ...] | None] = []
    for path in paths:
        try:
            s = os.stat(path)  # noqa: PTH116 - 30 of them after each program that failed
        except OSError:
            found.append(None)
        else:
            found.append((s.st_dev, s.st_ino, s.st_mtime_ns, s.st_ctime_ns, s.st_size))
    return tuple(found)

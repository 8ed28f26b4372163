"""Finds compilers and interpreters on this machine, and what a box must show of the host."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sandbox.errors import MissingToolchain
from sandbox.languages import Language

SHIM_FOLDERS = ("shims",)
SYSTEM_FOLDERS = ("/usr/bin", "/usr/local/bin", "/bin")


@dataclass(frozen=True)
class Tool:
    """One compiler or interpreter: its real path, the line it says of itself, its folders.

    binds   host folders a box must show beside the system's own
    startup_files   files an interpreter runs before any program (*.pth of site-packages):
                    a box shows them empty, which saves up to 25 ms of a 35 ms start
    """

    path: str
    version: str
    binds: tuple[str, ...]
    startup_files: tuple[str, ...] = ()


def resolve(row: Language, public: bool = False) -> Tool:
    """The tool of a language, by its real path, never through a version manager's shim.

    `public`: one that any user may run, because programs run as another user.

    Raises MissingToolchain with the command that installs it.
    """
    return _resolve(row.name, row.tool, row.version, row.install, public)


@cache
def _resolve(
    name: str, candidates: tuple[str, ...], ask: tuple[str, ...], install: str, public: bool
) -> Tool:
    for candidate in candidates:
        path = _python(public) if candidate == "python3" else _which(candidate)
        if path:
            startup = _path_files(path) if candidate == "python3" else ()
            return Tool(path, _version(path, ask), _folders(path), startup)
    raise MissingToolchain(
        f"{name}: none of {', '.join(candidates)} on this machine; install it: {install or '?'}"
    )


def _python(public: bool) -> str | None:
    """The interpreter that runs this, outside any virtual environment; else the system's."""
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    named = os.environ.get("GRADEBOX_PYTHON")
    for path in (named, str(base), "/usr/bin/python3", _which("python3")):
        if path and os.access(path, os.X_OK) and not _is_shim(path):
            real = Path(path).resolve()
            if not public or _anyone_may_reach(real):
                return str(real)
    return None


def _anyone_may_reach(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


def _which(name: str) -> str | None:
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = shutil.which(name, path=os.pathsep.join([*SYSTEM_FOLDERS, *folders]))
    return None if path is None or _is_shim(path) else path


def _is_shim(path: str) -> bool:
    return Path(path).parent.name in SHIM_FOLDERS


def _version(path: str, ask: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(
            [path, *ask], capture_output=True, text=True, timeout=20, check=False, env={}
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0].strip() if lines else "unknown"


def _folders(path: str) -> tuple[str, ...]:
    """The installation a tool lies in, unless it is the system's own."""
    real = Path(path).resolve()
    if str(real).startswith(("/usr/bin/", "/usr/lib/")):
        return ()
    prefix = real.parent.parent if real.parent.name == "bin" else real.parent
    if str(prefix) in ("/", "/usr"):
        return (str(real),)
    return tuple(str(prefix / part) for part in ("bin", "lib", "lib64", "libexec", "include"))


def _path_files(python: str) -> tuple[str, ...]:
    """The *.pth files that this interpreter's site module would process."""
    ask = "import site; print(*site.getsitepackages(), sep='\\n')"
    try:
        done = subprocess.run(
            [python, "-I", "-S", "-c", ask], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    folders = [Path(line) for line in done.stdout.splitlines() if line]
    return tuple(str(f) for folder in folders if folder.is_dir() for f in folder.glob("*.pth"))

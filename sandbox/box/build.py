"""The launcher's binary: shipped in a wheel, or built once from source and cached by its hash."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from gradebox.sandbox.errors import SandboxUnavailable

HERE = Path(__file__).resolve().parent / "c"
FLAGS = ("-O2", "-std=gnu11", "-static", "-Wall", "-Wextra")


def cache_folder() -> Path:
    """Return the user's cache folder (mode 0700): GRADEBOX_CACHE, XDG_CACHE_HOME or ~/.cache.

    Its contents are executed. Raises SandboxUnavailable when it belongs to another user or others
    may write to it.
    """
    named = os.environ.get("GRADEBOX_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    folder = Path(named) if named else Path(base) / "gradebox"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        folder = Path(tempfile.gettempdir()) / f"gradebox-{os.getuid()}"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            raise SandboxUnavailable(
                f"cannot create a cache folder: {error}; set GRADEBOX_CACHE to a folder you own"
            ) from error
    state = folder.lstat()
    if state.st_uid != os.getuid() or state.st_mode & 0o022:
        raise SandboxUnavailable(
            f"cache folder {folder} belongs to uid {state.st_uid}, mode {state.st_mode & 0o777:o}; "
            "it must be yours and not writable by others: set GRADEBOX_CACHE to another folder"
        )
    return folder


def sources() -> list[Path]:
    """Return the launcher's C files and headers, sorted."""
    return sorted((*HERE.glob("*.c"), *HERE.glob("*.h")))


def source_hash(machine: str = "") -> str:
    """Return the SHA-256 of everything that the binary for a machine (default: this) depends on."""
    h = hashlib.sha256(" ".join((*FLAGS, machine or platform.machine())).encode())
    for path in sources():
        h.update(path.name.encode() + b"\0" + path.read_bytes())
    return h.hexdigest()


@cache
def launcher() -> Path:
    """Return the path of the launcher's binary; build it if necessary.

    Raises SandboxUnavailable with the package to install when there is no C compiler.
    """
    name = launcher_name()
    shipped = HERE / "bin" / name
    if shipped.exists():
        return shipped
    built = cache_folder() / name
    if not built.exists():
        build_launcher(built)
    return built


def launcher_name(machine: str = "") -> str:
    """Return the binary's file name: the machine (default: this) and the hash of the sources."""
    return f"launcher-{machine or platform.machine()}-{source_hash(machine)[:24]}"


def build_launcher(target: Path, compiler: str | None = None) -> None:
    """Compile the launcher to `target`, whole or not at all.

    Raises SandboxUnavailable with the package to install when there is no C compiler.
    """
    cc = compiler or os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
    if not cc:
        raise SandboxUnavailable(
            "the sandbox's launcher must be compiled once, but no C compiler was found: "
            "apt-get install gcc libc6-dev"
        )
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / "launcher"
        files = [str(path) for path in sources() if path.suffix == ".c"]
        done = subprocess.run(
            [cc, *FLAGS, *files, "-o", str(made)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SandboxUnavailable(
                f"{cc} could not build the sandbox's launcher (apt-get install gcc libc6-dev): "
                f"{done.stderr.strip()[:400]}"
            )
        made.chmod(0o755)
        made.replace(target)  # two processes may build at once: either result will do

"""The compiled parts of the sandbox: shipped in a wheel, or built once and cached by their hash."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gradebox.sandbox.errors import SandboxUnavailable

HERE = Path(__file__).resolve().parent / "c"


def cache_folder(*, for_programs: bool = False) -> Path:
    """Return the user's cache folder (mode 0700): GRADEBOX_CACHE, else the first that is usable.

    for_programs  one on a file system that allows execution

    Raises SandboxUnavailable when there is none that belongs to this
    user and that nobody else may write to.
    """
    named = os.environ.get("GRADEBOX_CACHE")
    why = ""
    for folder in [Path(named)] if named else _usual_caches():
        why = _why_unusable(folder, for_programs)
        if not why:
            return folder
    raise SandboxUnavailable(
        f"no folder for compiled files: {why}; set GRADEBOX_CACHE to a folder of your own"
    )


def _usual_caches() -> list[Path]:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    folders = [Path(base) / "gradebox"]  # a user without a home folder has no absolute path
    with contextlib.suppress(FileNotFoundError):  # no folder for temporary files is writable
        folders.append(Path(tempfile.gettempdir()) / f"gradebox-{os.getuid()}")
    return [folder for folder in folders if folder.is_absolute()]


def _why_unusable(folder: Path, for_programs: bool) -> str:
    """Create a cache folder if necessary. Return why it cannot be used, "" when it can."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.lstat()
    except OSError as error:
        return str(error)
    if state.st_uid != os.getuid() or state.st_mode & 0o022:
        return (
            f"{folder} belongs to uid {state.st_uid}, mode {state.st_mode & 0o777:o}; it must be "
            "yours and not writable by others"
        )
    if for_programs and os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return f"{folder} is mounted noexec"
    return "" if os.access(folder, os.W_OK | os.X_OK) else f"{folder} is read-only"


@dataclass(frozen=True)
class Part:
    """One compiled file: its name, the compiler's flags, the C files it is made from."""

    name: str
    flags: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def sources(self) -> list[Path]:
        """The C files and all headers, sorted."""
        files = {path for pattern in self.files for path in HERE.glob(pattern)}
        return sorted(files | {*HERE.rglob("*.h")})

    def file_name(self, machine: str = "") -> str:
        """Return the name for a machine (default: this), with a hash of all that it depends on."""
        machine = machine or platform.machine()
        h = hashlib.sha256(" ".join((*self.flags, machine)).encode())
        for path in self.sources:
            h.update(path.name.encode() + b"\0" + path.read_bytes())
        return f"{self.name}-{machine}-{h.hexdigest()[:24]}"

    def build(self, target: Path, compiler: str | None = None) -> None:
        """Compile to `target`, whole or not at all.

        Raises SandboxUnavailable with the package to install when there is no C compiler.
        """
        cc = compiler or os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
        if not cc:
            raise SandboxUnavailable(
                "the sandbox's launcher must be compiled once, but no C compiler was found: "
                "apt-get install gcc libc6-dev"
            )
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            made = Path(folder) / self.name
            files = [str(path) for path in self.sources if path.suffix == ".c"]
            done = subprocess.run(
                [cc, *self.flags, *files, "-o", str(made)],
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            if done.returncode:
                raise SandboxUnavailable(
                    f"{cc} could not build the sandbox's {self.name} "
                    f"(apt-get install gcc libc6-dev): {done.stderr.strip()[:400]}"
                )
            made.chmod(0o755)
            made.replace(target)  # two processes may build at once: either result will do


COMMON = ("-O2", "-std=gnu11", "-Wall", "-Wextra")
LAUNCHER = Part("launcher", (*COMMON, "-static"), ("*.c",))
# Loaded into interpreters, with whatever C library they use: it is linked with none.
TEMPLATE = Part(
    "template",
    (
        *COMMON,
        *("-shared", "-fPIC", "-nostdlib", "-fvisibility=hidden"),
        *("-fno-stack-protector", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=0"),
    ),
    ("template/*.c", "child.c"),
)
PARTS = (LAUNCHER, TEMPLATE)


def binary(part: Part) -> Path:
    """Return the path of a part; build it if necessary: the cache may have been cleaned meanwhile.

    Raises SandboxUnavailable with the package to install when there is no C compiler.
    """
    name = part.file_name()
    shipped = HERE / "bin" / name
    if shipped.exists():
        return shipped
    built = cache_folder(for_programs=True) / name
    if not built.exists():
        part.build(built)
    return built


def launcher() -> Path:
    """Return the path of the launcher's binary; see `binary`."""
    return binary(LAUNCHER)

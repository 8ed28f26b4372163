"""Find compilers and interpreters on this machine, and what boxes show for them.

A tool consists of its own file, shared libraries and folders that it reads. A box shows them under
the same paths. Whether a tool was replaced during a run shows in the times of its parts (probe.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from gradebox.sandbox.box.build import cache_folder
from gradebox.sandbox.common.whole_file import whole_file
from gradebox.sandbox.errors import MissingToolchain, SandboxUnavailable
from gradebox.sandbox.languages import Language

SHIM_FOLDERS = ("shims",)  # of pyenv, rbenv, nodenv, asdf: they add 90 ms to each start
SYSTEM_FOLDERS = ("/usr/bin", "/usr/local/bin", "/bin")
# Folders with much besides libraries: a box shows only the libraries of these.
SHOWN = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec")  # by every box
BROAD = ("/", "/home", "/mnt", "/opt", "/srv", "/tmp", "/usr", "/usr/local", "/var", "/var/tmp")


@dataclass(frozen=True)
class Tool:
    """One compiler or interpreter.

    path           the real path
    version        its own version line
    binds          host paths that a box must show besides the system's own
    startup_files  files that an interpreter runs before any program (*.pth of site-packages);
                   a box shows them empty, which saves up to 25 ms of a 35 ms start
    runtime        path of what runs the compiler's output, if anything does
    environment    NAME=value for it and its programs: where the loader finds its libraries
    watched        files and folders whose change means that it was replaced
    modules        folders of what an interpreter imports
    """

    path: str
    version: str
    binds: tuple[str, ...]
    startup_files: tuple[str, ...] = ()
    runtime: str = ""
    environment: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    def started(self, command: Sequence[str]) -> tuple[str, ...]:
        """Return a command with the environment that the tool needs."""
        return ("/usr/bin/env", *self.environment, *command) if self.environment else (*command,)

    @cached_property
    def folder(self) -> str:
        """The real folder of the tool, which has its companions."""
        return str(Path(self.path).resolve().parent)


def resolve(row: Language, public: bool = False, python: str = "") -> Tool:
    """Return the tool of a language by its real path, never a version manager's shim.

    public  only a tool that any user may run, because programs run as another user
    python  of `named_python`: the interpreter of the row python

    Raises MissingToolchain with the command that installs the tool.
    """
    return _resolve(
        replace(row, tool=(python,)) if python and row.name == "python" else row, public
    )


@cache
def _resolve(row: Language, public: bool) -> Tool:
    path = _first(row.tool, row, public)
    runtime = _first(row.runtime, row, public, companion=path) if row.runtime else ""
    found = [p for p in (path, runtime) if p]
    known = [_known(p, row.version, row.family if p == path else "") for p in found]
    libraries = [file for parts in known for file in parts.libraries]
    read = [folder for parts in known for folder in parts.folders]
    searched = _folders_searched(libraries)
    binds = [folder for p in found for folder in _folders(p, row.own_folder)]
    binds += [str(p) for pattern in row.binds for p in Path("/").glob(pattern.lstrip("/"))]
    binds += _elsewhere(libraries, searched, binds)
    watched = [*found, *map(os.path.realpath, found), *libraries]
    watched = [path for path in watched if str(Path(path).parent) not in read]
    watched += [str(Path(path).parent) for path in watched]
    startup = [str(file) for folder in read for file in Path(folder).glob("*.pth")]
    version, named = " / ".join(parts.version for parts in known), row.tool == (path,)
    return Tool(
        path,
        f"{version}, {packages_of(read)}" if named else version,
        tuple(dict.fromkeys(binds)),
        tuple(startup) if row.name == "python" and not named else (),
        runtime,
        (f"{SEARCH}={':'.join(searched)}",) if searched else (),
        tuple(dict.fromkeys((*watched, *read, *binds))),
        tuple(dict.fromkeys(read)) if row.family == "python" else (),
    )


def _elsewhere(
    libraries: Sequence[str], searched: Sequence[str], binds: Sequence[str]
) -> Iterator[str]:
    """Yield the folders of libraries that a box would not show, or the file for a broad folder."""
    shown = [*SHOWN, *map(os.path.realpath, binds)]
    broad = {*BROAD, *map(str, _home_folders())}
    for file in libraries:
        folder = str(Path(file).parent)
        if not any(f"{folder}/".startswith(f"{top}/") for top in shown):
            yield file if folder in broad else folder
    for folder in searched:  # which may have links to libraries of another one
        if os.path.realpath(folder) not in broad:
            yield folder


def _first(candidates: Sequence[str], row: Language, public: bool, companion: str = "") -> str:
    """Return the path of the first candidate that is installed.

    companion  a tool in whose folder candidates are preferred
    """
    unreachable = ""
    for candidate in candidates:
        beside = str(Path(companion).resolve().with_name(candidate)) if companion else ""
        found = _python(public) if candidate == "python3" else None
        if candidate != "python3":
            found = beside if beside and os.access(beside, os.X_OK) else _which(candidate)
        if found and row.sysroot and not companion:
            found = _installed(found, candidate, row)
        if found and (not public or _anyone_may_reach(Path(found).resolve())):
            return found
        unreachable = found or unreachable
    if unreachable:
        raise MissingToolchain(
            f"{row.name}: {unreachable} is in a folder that other users cannot enter, and at this "
            f"level programs run as another user; install it for all users: {row.install or '?'}"
        )
    raise MissingToolchain(
        f"{row.name}: {' or '.join(candidates)} not found on this machine; "
        f"install it: {row.install or '?'}"
    )


def _python(public: bool) -> str | None:
    """Return this process's interpreter, outside its virtual environment, else the system's."""
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


OLDEST_PYTHON = (3, 8)


def named_python(path: str) -> str:
    """Return the interpreter that a user named, by its own name of itself.

    One of a virtual environment is named within it: its real path would be without its packages.
    Raises MissingToolchain for anything but an interpreter of Python 3.8 or newer.
    """
    oldest = ".".join(map(str, OLDEST_PYTHON))
    remedy = f"give the path of a Python {oldest} or newer, such as venv/bin/python"
    full = os.path.abspath(os.path.expanduser(path))  # noqa: PTH100,PTH111 - keeps links
    if not os.path.isfile(full) or not os.access(full, os.X_OK):  # noqa: PTH113
        raise MissingToolchain(f"--python {path}: no program of this name; {remedy}")
    question = "import sys; print('python %d %d' % sys.version_info[:2]); print(sys.executable)"
    answer = _ask([full, "-c", question]).splitlines()
    words = answer[0].split() if len(answer) == 2 else []
    if len(words) != 3 or words[0] != "python":
        raise MissingToolchain(f"--python {path}: it does not answer as Python does; {remedy}")
    if tuple(map(int, words[1:])) < OLDEST_PYTHON:
        raise MissingToolchain(f"--python {path}: it is Python {'.'.join(words[1:])}; {remedy}")
    if any(f"{name}/".startswith("/tmp/") for name in (full, os.path.realpath(full))):
        raise MissingToolchain(
            f"--python {path}: /tmp is each program's own folder; move the environment elsewhere"
        )
    return answer[1]


def packages_of(folders: Iterable[str]) -> str:
    """Return how many packages an interpreter has, with a hash of their names and versions."""
    names = [entry.name for folder in folders for entry in Path(folder).iterdir()]
    names = sorted(name for name in names if name.endswith((".dist-info", ".egg-info")))
    return f"{len(names)} packages {hashlib.sha256(repr(names).encode()).hexdigest()[:12]}"


def importable(folders: Iterable[str]) -> frozenset[str]:
    """Return the top-level modules in the folders of an interpreter, without the built-in ones."""
    return frozenset(
        entry.name.partition(".")[0]
        for folder in folders
        for entry in Path(folder).iterdir()
        if entry.suffix in (".py", ".so", "")
    )


def _which(name: str) -> str | None:
    folders = [*SYSTEM_FOLDERS, *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    kept = [folder for folder in folders if not _is_shim(f"{folder}/{name}")]
    return shutil.which(name, path=os.pathsep.join(kept))


def _is_shim(path: str) -> bool:
    return Path(path).parent.name in SHIM_FOLDERS


def _installed(path: str, name: str, row: Language) -> str | None:
    """Return the real tool behind a proxy that selects an installation (rustup, go)."""
    root = Path(_ask([path, *row.sysroot]).strip())
    real = root / "bin" / name
    return str(real) if root.is_absolute() and os.access(real, os.X_OK) else None


def _folders(path: str, whole: bool = False) -> tuple[str, ...]:
    """Return the folders of a tool's installation, none for the system's own.

    whole  the whole installation folder, if it contains nothing else
    """
    real, environment = Path(path).resolve(), Path(path).parent.parent
    venv = (str(environment),) if (environment / "pyvenv.cfg").is_file() else ()
    if str(real).startswith(("/usr/bin/", "/usr/lib/")):
        return venv
    prefix = real.parent.parent if real.parent.name == "bin" else real.parent
    if str(prefix) in ("/", "/usr"):
        return (*venv, str(real))
    own = () if real.parent.name == "bin" else (str(real),)
    alone = whole and prefix not in (Path("/usr/local"), Path("/opt"), *_home_folders())
    if str(prefix).startswith("/usr/share/") or alone:
        return (*venv, str(prefix))
    parts = ("bin", "lib", "lib64", "libexec", "include")
    return (*venv, *own, *(str(prefix / part) for part in parts))


def _home_folders() -> tuple[Path, ...]:
    """Return folders of this user that contain tools among other things."""
    home = Path(os.environ.get("HOME") or "/").resolve()
    return (*home.parents, home, home / ".local")


# ---- the parts of a tool ----

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


class ToolParts(NamedTuple):
    """The parts of one tool.

    version    its own version line
    libraries  real paths of its shared libraries
    folders    of an interpreter's modules, or of a compiler's programs and libraries
    """

    version: str
    libraries: tuple[str, ...]
    folders: tuple[str, ...]


@cache
def _known(path: str, arguments: tuple[str, ...], family: str) -> ToolParts:
    """Return the parts of a tool. They are cached on disk: querying eleven tools takes seconds.

    arguments  with which it prints its version
    family     see `Language`
    """
    cached: Path | None = None
    with contextlib.suppress(OSError, ValueError, TypeError, SandboxUnavailable):
        real = Path(path).resolve()
        state = real.stat()
        key = (path, real, state.st_mtime_ns, state.st_size, arguments, family)
        name = hashlib.sha256(repr((*key, os.environ.get(SEARCH), "2")).encode()).hexdigest()[:32]
        folder = cache_folder() / "tools"
        folder.mkdir(mode=0o700, exist_ok=True)
        cached = folder / name
        version, libraries, folders = json.loads(cached.read_bytes())
        return ToolParts(version, tuple(libraries), tuple(folders))
    parts = _find_parts(path, arguments, family)
    if cached and parts.version != "unknown":
        with contextlib.suppress(OSError), whole_file(cached, durable=False) as file:
            file.write(json.dumps(parts).encode())
    return parts


def _find_parts(path: str, arguments: tuple[str, ...], family: str) -> ToolParts:
    lines = [line.strip() for line in _ask([path, *arguments]).splitlines()]
    version = next((line for line in lines if line and "warning" not in line.lower()), "unknown")
    if family == "python":
        shown, _, maps = _ask([path, "-I", "-c", PYTHON], silent=True).partition("\n\n")
        libraries = [line.split(maxsplit=5)[-1] for line in maps.splitlines()]
        folders = shown.split("\0")
    else:
        tools, lists = [path], ""
        if family in COMPANIONS:
            query = "-print-prog-name="
            tools += [_ask([path, query + name]).strip() for name in COMPANIONS[family]]
            lists = _ask([path, "-print-search-dirs"])
        libraries = [file for tool in tools for file in _loaded(tool, arguments)]
        found = (line.partition(": ")[2].lstrip("=").split(":") for line in lists.splitlines())
        folders = [folder for some in found for folder in some]
    real = {os.path.realpath(one) for one in libraries if one.startswith("/")}
    kept = {os.path.realpath(one) for one in folders if one.startswith("/")}
    return ToolParts(
        version,
        tuple(sorted(filter(os.path.isfile, real))),
        tuple(sorted(filter(os.path.isdir, kept))),
    )


def _ask(command: Sequence[str], *, silent: bool = False, **environment: str) -> str:
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


def _loaded(path: str, arguments: Sequence[str]) -> list[str]:
    """Return the libraries that the loader finds for a program, which it does not start.

    One without a loader is started, hence the arguments.
    """
    if not Path(path).is_absolute():
        return []
    lines = _ask([path, *arguments], silent=True, LD_TRACE_LOADED_OBJECTS="1").splitlines()
    return [line.partition("=> ")[2].rpartition(" (")[0] for line in lines]


def _folders_searched(libraries: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of LD_LIBRARY_PATH in which some of these libraries are found."""
    real = set(libraries)
    folders = [Path(f) for f in os.environ.get(SEARCH, "").split(":") if f.startswith("/")]
    return tuple(
        str(folder)
        for folder in folders
        if folder.is_dir() and any(os.path.realpath(file) in real for file in folder.glob("*.so*"))
    )

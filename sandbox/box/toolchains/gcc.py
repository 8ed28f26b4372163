"""Ways to make g++ faster that do not change the program it makes.

- Precompiled headers: g++ makes them in a box from its own headers, one for each sequence of
  includes that three sources begin with (leading_includes.py). They are cached per compiler and
  flags in the user's 0700 cache folder, verified by their hash once a process, and read-only for
  the compiler. The binary is the same byte for byte: bits/stdc++.h takes 0.25 s instead of 1 s,
  iostream 0.12 s instead of 0.27 s.
- -static, where the libraries allow it: the program starts in half the time (521 µs instead of
  1152 µs for one with iostream).
- The gold linker, where installed: 0.04 s instead of 0.11 s for a static program.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gradebox.sandbox.box.build import cache_folder
from gradebox.sandbox.box.built_program import BuiltProgram
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.box.toolchains.leading_includes import PLAIN, header_texts
from gradebox.sandbox.common.whole_file import whole_file
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB, Execution, Limits

TEXT = "standard.h"
MADE = f"{TEXT}.gch"
LIMITS = Limits(
    cpu_s=120,
    wall_s=300,
    memory_bytes=3072 * MIB,
    output_bytes=512 * MIB,
    processes=64,
    file_size_bytes=512 * MIB,
    disk_bytes=1024 * MIB,
)
AFTER_USES = 3  # making a header takes as long as it saves in three compilations
MOST_TRIED = 32  # headers that one process makes
MOST_COUNTED = 4096  # texts whose uses are counted
MOST_KEPT = 32  # headers in the cache, and their size, before all but bits/stdc++.h are refused
MOST_BYTES = 1024 * MIB
UNUSED_S = 30 * 24 * 3600  # such as those of a compiler that was replaced

Run = Callable[[BuiltProgram, dict[str, bytes], Limits, str], Execution]


def pch_root() -> Path:
    """Return the folder of precompiled headers: readable in boxes, private outside."""
    root = cache_folder() / "pch"
    root.mkdir(mode=0o755, exist_ok=True)
    return root


@cache
def link_flags(
    tool: str, libraries: tuple[str, ...] = ("libstdc++.a", "libc.a")
) -> tuple[str, ...]:
    """Return -static and the option for the gold linker, where they are available."""
    flags = []
    if all(_library(tool, name) for name in libraries):
        flags.append("-static")
    if shutil.which("ld.gold", path="/usr/bin"):
        flags.append("-fuse-ld=gold")
    return tuple(flags)


def _library(tool: str, name: str) -> bool:
    done = subprocess.run(
        [tool, f"-print-file-name={name}"], capture_output=True, text=True, check=False
    )
    return done.returncode == 0 and Path(done.stdout.strip()).is_absolute()


@dataclass(frozen=True)
class HeaderSpec:
    """What a precompiled header is made from: compiler, options and text."""

    tool: Tool
    options: tuple[str, ...]
    text: bytes

    @property
    def key(self) -> str:
        """Hash of everything that the header depends on."""
        path = self.tool.path
        h = hashlib.sha256()
        for part in (path, self.tool.version, str(Path(path).resolve()), *self.options):
            h.update(part.encode() + b"\0")
        if self.text != PLAIN:
            h.update(self.text)
        return h.hexdigest()[:32]


class PrecompiledHeaders:
    """The cache of precompiled headers.

    A cached header is used at once. Another one is made in the background when it has been
    requested often enough to be worth it; meanwhile compilations go without it.

    run    run a compiler in a box
    abort  end the compiler that `run` is running
    """

    def __init__(self, run: Run, abort: Callable[[], None] = lambda: None) -> None:
        self._run = run
        self._abort = abort
        self.enabled = True  # False where programs run as a user who cannot read the cache
        self._lock = threading.Lock()
        self._ready: dict[HeaderSpec, Path | None] = {}
        self._uses: dict[HeaderSpec, int] = {}  # of headers that do not exist; the last used last
        self._requested: dict[HeaderSpec, None] = {}
        self._making: dict[HeaderSpec, threading.Thread] = {}
        self._closed = False

    def flags(self, tool: Tool, options: tuple[str, ...], source: bytes) -> list[str]:
        """Return the options that make a compilation use the longest header there is for it."""
        texts = header_texts(source) if self.enabled else ()
        specs = [HeaderSpec(tool, options, text) for text in texts]
        with self._lock:
            missing = []
            folder = None
            for spec in specs:
                folder = self._cached(spec)
                if folder is not None:
                    break
                missing.append(spec)
            self._count(missing)
        return [] if folder is None else ["-include", str(folder / TEXT)]

    def _cached(self, spec: HeaderSpec) -> Path | None:
        """Return the folder of a header, if it exists. The caller holds the lock."""
        if spec not in self._ready and spec not in self._uses:
            folder = pch_root() / spec.key
            if _verified(folder / MADE):
                self._ready[spec] = folder
        return self._ready.get(spec)

    def _count(self, specs: Sequence[HeaderSpec]) -> None:
        """Count a source that could use these headers, the longest first; make one if worth it.

        The caller holds the lock.
        """
        for spec in specs:
            self._uses[spec] = self._uses.pop(spec, 0) + 1
        while len(self._uses) > MOST_COUNTED:
            del self._uses[next(iter(self._uses))]
        if len(self._requested) < MOST_TRIED:
            self._requested |= dict.fromkeys(specs[:1])
        worth = (s for s in specs if self._uses[s] >= AFTER_USES and s not in self._ready)
        for spec in itertools.islice(worth, 1):
            self._begin(spec)

    def forget_lost(self, flags: Sequence[str]) -> bool:
        """Forget the header in options from `flags` if it was deleted. Return whether it was.

        Then the compiler has failed without a fault of the program.
        """
        folders = {Path(flag).parent for flag in flags if Path(flag).name == TEXT}
        lost = {folder for folder in folders if not (folder / TEXT).is_file()}
        with self._lock:
            self._ready |= {spec: None for spec, f in self._ready.items() if f in lost}
        return bool(lost)

    def _begin(self, spec: HeaderSpec) -> None:
        """Start to make a header in a thread, once. The caller holds the lock."""
        if self._closed or spec in self._making or spec in self._ready:
            return
        if len(self._making) >= MOST_TRIED and spec.text != PLAIN:
            return
        thread = threading.Thread(
            target=self._prepare, args=(spec,), name="gradebox-pch", daemon=True
        )
        self._making[spec] = thread
        thread.start()

    def wait(self) -> None:
        """Make the longest header for each source so far, and wait (benchmarks, tests)."""
        with self._lock:
            for spec in self._requested:
                self._begin(spec)
        for thread in list(self._making.values()):
            thread.join()

    def _prepare(self, spec: HeaderSpec) -> None:
        folder: Path | None = None
        with contextlib.suppress(
            SandboxError, OSError
        ):  # without the header, compiling is only slower
            folder = self._make(spec)
        with self._lock:
            self._ready[spec] = folder

    def _make(self, spec: HeaderSpec) -> Path | None:
        root = pch_root()
        folder = root / spec.key
        # Outside the folder that compilers can read: they could hold the lock.
        lock = os.open(root.with_name("pch.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._lock_file(lock)  # one header at a time, whatever the number of graders
            if not _verified(folder / MADE):
                if spec.text != PLAIN and not _room(root):
                    return None
                options = (*spec.options, "-x", "c++-header", TEXT, "-o", MADE)
                argv = spec.tool.started([spec.tool.path, *options])
                command = BuiltProgram(argv, "precompiled header")
                execution = self._run(command, {TEXT: spec.text}, LIMITS, MADE)
                data = execution.files.get(MADE)
                if execution.exit_code != 0 or data is None:
                    return None
                folder.mkdir(mode=0o755, exist_ok=True)
                _write(folder / TEXT, spec.text)  # g++ requires it, and falls back on it
                _write(folder / MADE, data)
        finally:
            os.close(lock)
        return folder

    def _lock_file(self, lock: int) -> None:
        """Lock a file. Raises SandboxError when this object is closed first."""
        while not self._closed:
            with contextlib.suppress(BlockingIOError):
                return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            time.sleep(0.05)
        raise SandboxError("closed")

    def close(self) -> None:
        """Start no further headers and abort the one that is being made."""
        with self._lock:
            self._closed = True
        for thread in list(self._making.values()):
            while thread.is_alive():
                self._abort()
                thread.join(0.02)


def _room(root: Path) -> bool:
    """Return whether another header may be kept, after removing those that nobody uses."""
    for folder in root.iterdir():
        if time.time() - folder.stat().st_mtime > UNUSED_S:
            shutil.rmtree(folder, ignore_errors=True)
    sizes = [path.stat().st_size for path in root.glob("*/*")]
    return len(list(root.iterdir())) < MOST_KEPT and sum(sizes) < MOST_BYTES


def _write(target: Path, data: bytes) -> None:
    """Write a file and its hash beside it, each whole or not at all."""
    digest = hashlib.sha256(data).hexdigest().encode()
    for path, content in ((_hash_file(target), digest), (target, data)):
        with whole_file(path, durable=False) as file:
            file.write(content)
        path.chmod(0o644)  # whatever the umask: compilers may run as another user


def _hash_file(target: Path) -> Path:
    return target.with_name(f"{target.name}.sha256")


def _verified(target: Path) -> bool:
    """Return whether the header exists and is what was written; if so, note that it is used."""
    try:
        recorded = _hash_file(target).read_text()
        with target.open("rb") as file:
            h = hashlib.sha256()
            while chunk := file.read(1 << 20):
                h.update(chunk)
        if h.hexdigest() != recorded:
            return False
        os.utime(target.parent)
    except OSError:
        return False
    return True

"""Ways to make g++ faster that do not change the program it makes.

- Precompiled headers: g++ makes them in a box from its own headers, one for each sequence of
  includes that three sources begin with (`header_texts`). They are cached per compiler and flags in
  the user's 0700 cache folder, written whole, and read-only for the compiler. The binary is the
  same byte for byte: bits/stdc++.h takes 0.25 s instead of 1 s, iostream 0.12 s instead of 0.27 s.
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
import re
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
from gradebox.sandbox.common.whole_file import whole_file
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB, Execution, Limits

PLAIN = b"#include <bits/stdc++.h>\n"
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
MOST_MACHINE_OPTIONS = 64  # -m options from a source's target pragmas; others are dropped
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


# g++ 13 and 14 refuse `#pragma GCC target("avx2")` before `#include <string>` or <vector>: the
# destructors that the compiler itself writes do not get the pragma's target, and so may not inline
# ~allocator (GCC bug 109753). The same target as an option applies to them too.
MISMATCH = b"target specific option mismatch"
TARGET = re.compile(
    rb"""^[ \t]*\#[ \t]*pragma[ \t]+GCC[ \t]+target[ \t]*\(? ((?: [ \t,]* "[^"\n]{0,400}" )+)""",
    re.MULTILINE | re.VERBOSE,
)
LAST_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include\b", re.MULTILINE)
QUOTED = re.compile(rb'"([^"]*)"')
MACHINE_OPTION = re.compile(rb"[a-z][\w.+=-]{0,40}")


def target_options(source: bytes, log: bytes) -> tuple[str, ...]:
    """Return the options for a source that g++ refused, by its log, for its target pragmas.

    #pragma GCC target("avx2,bmi") before an #include ─▶ (-mavx2, -mbmi)
    """
    if MISMATCH not in log:
        return ()
    includes = [found.start() for found in LAST_INCLUDE.finditer(source)]
    pragmas = TARGET.findall(source, 0, includes[-1] if includes else 0)
    quoted = b",".join(text for pragma in pragmas for text in QUOTED.findall(pragma))
    names = filter(MACHINE_OPTION.fullmatch, map(bytes.strip, quoted.split(b",")))
    return tuple(dict.fromkeys(f"-m{name.decode()}" for name in names))[:MOST_MACHINE_OPTIONS]


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
            if _is_made(folder):
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
            if not _is_made(folder):
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
                # g++ requires the text, and falls back on it.
                for path, content in ((folder / TEXT, spec.text), (folder / MADE, data)):
                    with whole_file(path) as file:
                        file.write(content)
                    path.chmod(0o644)  # whatever the umask: compilers may run as another user
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


def _is_made(folder: Path) -> bool:
    """Return whether a header exists; if so, note that it is used."""
    made = (folder / MADE).is_file()
    with contextlib.suppress(OSError):
        if made:
            os.utime(folder)
    return made


def _room(root: Path) -> bool:
    """Return whether another header may be kept, after removing those that nobody uses."""
    for folder in root.iterdir():
        if time.time() - folder.stat().st_mtime > UNUSED_S:
            shutil.rmtree(folder, ignore_errors=True)
    sizes = [path.stat().st_size for path in root.glob("*/*")]
    return len(list(root.iterdir())) < MOST_KEPT and sum(sizes) < MOST_BYTES


# ---- which header texts may precede a source ----

# A text repeats the first includes of the source, in their order: template-heavy programs differ in
# the order of their functions when headers change places. Only headers of the C library may move
# behind the text: they declare no templates. Nothing but comments and pragmas that are repeated
# too may precede the last include of the text, so no macro of the source can change what it means.
#
# For the same reason, there is no smaller bits/stdc++.h for sources that name nothing of <regex>,
# <filesystem> and the like, though it would save a third more: these headers instantiate
# vector<unsigned long>, and `vector<int> a; vector<unsigned long> b;` places its destructor first.

PRAGMA_BYTES = 400
MOST_INCLUDES = 16
SCANNED_BYTES = 65536

_NAMES = Path(__file__).with_name("headers.txt").read_bytes().splitlines()
CPP, C = (frozenset(line.split()) for line in _NAMES if not line.startswith(b"#"))
KNOWN = CPP | C

# A comment with a backslash may end elsewhere than it seems to. The pragmas may precede everything:
# they change how code is generated, not the header's meaning. No name=value (arch=, tune=): g++
# refuses those when they appear twice. `#pragma comment` is for other compilers' linkers.
HEAD = re.compile(
    rb"""
    (?: \s+ | //[^\n\\]*(?=\n|\Z) | /\*[^\\]*?\*/ )
    | \#[ \t]* (?:
        include [ \t]* <(?P<name>[^>\n]*)>
        | pragma [ \t]+ GCC [ \t]+ (?P<kind>optimize|target) [ \t]*
          \( (?P<options> [ \t]*"[\w,+.-]*"[ \t]* (?: ,[ \t]*"[\w,+.-]*"[ \t]* )* ) \)
        | pragma [ \t]+ comment [ \t]* \( [ \t]*\w+[ \t]* (?: ,[ \t]*"[^"\\\n]*"[ \t]* )? \)
    ) [ \t\r]* (?: /\*[^\n\\]*?\*/ [ \t\r]* )? (?: //[^\n\\]* )? (?=\n|\Z)
    """,
    re.VERBOSE,
)
MACRO_USE = re.compile(rb"__[A-Z]|##|_options")
INCLUDE = re.compile(rb"(?:#|%:|\?\?=|\*/)\s*include(?:\s*<([^>\n]{0,200})>)?")


def header_texts(source: bytes) -> tuple[bytes, ...]:
    """Return the header texts that may precede a C++ source, the longest first; often none.

    pragmas, #include <cstdio>, #include <iostream>, #include <vector>, using namespace …
        ─▶ (pragmas + iostream + vector, pragmas + iostream)
    """
    pragmas: list[bytes] = []
    includes: list[bytes] = []
    known, at = 0, 0
    head = source
    if len(source) > SCANNED_BYTES:
        head = source[:SCANNED_BYTES].rpartition(b"\n")[0]
    while len(includes) < MOST_INCLUDES and (found := HEAD.match(head, at)):
        at = found.end()
        name = found["name"]
        if found["kind"]:
            if known:
                break
            options = b",".join(re.findall(rb'"[^"]*"', found["options"]))
            pragmas.append(b"#pragma GCC %b(%b)\n" % (found["kind"], options))
        elif name is not None:
            name = name.strip()
            if name not in KNOWN:
                break
            known += 1
            includes += [b"#include <%b>\n" % name] if name in CPP else []
            if includes and includes[-1] == PLAIN:
                break
    first = b"".join(pragmas)
    odd = b"??/" in head  # a backslash, before C++17
    if odd or len(first) > PRAGMA_BYTES or (pragmas and _may_use_macros(source)):
        return ()
    return tuple(first + b"".join(includes[:n]) for n in range(len(includes), 0, -1))


def _may_use_macros(source: bytes) -> bool:
    """Return whether a source may use the macros that pragmas define (__AVX2__, __FAST_MATH__).

    With g++ 12 these differ between a precompiled header and a plain one.
    """
    if len(source) > SCANNED_BYTES or MACRO_USE.search(source):
        return True
    return any(name.strip() not in KNOWN for name in INCLUDE.findall(source))

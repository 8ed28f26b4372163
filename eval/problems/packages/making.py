"""Make a package's tests with its own programs, in the box: generators, and a right solution.

    "gen -n 5" ─ parsed, never a shell ─▶ program, arguments ─ box ─▶ a file of a temporary folder

The programs are hostile like any other. What they write goes to files, up to MOST_BYTES in all.
"""

from __future__ import annotations

import logging
import shlex
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.eval.problems.packages.files import remove, unpack
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
from gradebox.sandbox.protocol import Sandbox

STDERR_BYTES = 64 << 10  # what the box keeps of it
LIMITS = Limits(
    cpu_s=30.0,
    wall_s=90.0,
    memory_bytes=2048 * MIB,
    output_bytes=512 * MIB,
    processes=64,
    stderr_bytes=STDERR_BYTES,
)
MOST_BYTES = 4 << 30
MOST_WORDS = 200
SAY_EVERY_S = 10.0
log = logging.getLogger(__name__)
_TEMPLATE = ("<#", "${", "</#")


def command_words(command: str, where: str) -> list[str]:
    """Return the words of a generator's command. Raises RowError for a template or a shell's."""
    if any(sign in command for sign in _TEMPLATE):
        raise RowError(
            f"{where} has the FreeMarker template {shown(command)}: build the full package, in "
            "which commands are written out"
        )
    try:
        words = shlex.split(command) if len(command) < 10_000 else []
    except ValueError:
        words = []
    signs = [word for word in words if word in ("|", ">", "<", ">>", "&&", ";")]
    if not words or len(words) > MOST_WORDS or signs:
        raise RowError(
            f"{where} has the command {shown(command)}: a program and its arguments are needed, "
            "without signs of a shell"
        )
    return words


class Maker(Closeable):
    """Runs programs of packages and keeps what they write. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._folder: Path | None = None
        self._compiled: dict[str, Compiled] = {}
        self._made: dict[tuple[object, ...], Path] = {}
        self._left = MOST_BYTES
        self._said = time.monotonic()

    def make(
        self,
        program: Program,
        args: Sequence[str],
        name: str,
        stdin: Path | None = None,
        files: Mapping[str, Path] | None = None,
        output: str = "",
        stream: Literal["stdout", "stderr"] = "stdout",
    ) -> Path:
        """Return the file with what a program writes, run once.

        name    of the program and test, for messages
        stdin   a file
        files   beside the program, by name
        output  the name of the file it writes; "" for `stream`

        Raises RowError when it fails, InputError without a sandbox.
        """
        with self._lock:
            key = (program.digest, tuple(args), stdin, tuple((files or {}).items()))
            place = (key, output or stream)
            if place not in self._made:
                execution = self._run(program, args, name, stdin, files or {}, output)
                if output:
                    self._made[place] = self._keep(execution.files.get(output, b""), name)
                elif stream == "stderr" and len(execution.stderr) >= STDERR_BYTES:
                    raise RowError(
                        f"{name} writes {STDERR_BYTES} bytes or more to stderr, of which no "
                        "more is kept: put the outputs into files"
                    )
                else:
                    self._made[key, "stdout"] = self._keep(execution.stdout, name)
                    self._made[key, "stderr"] = self._keep(execution.stderr, name)
            return self._made[place]

    def unpacked(self, archive: Path) -> Path:
        """Return the folder that a zip was unpacked to. Raises RowError and InputError."""
        with self._lock:
            place = (archive.resolve(), "")
            if place not in self._made:
                folder = self._home() / f"zip{len(self._made)}"
                folder.mkdir()
                unpack(archive, folder)
                self._made[place] = folder
            return self._made[place]

    def _say(self, name: str) -> None:
        """Log what is made, every SAY_EVERY_S seconds."""
        if time.monotonic() - self._said >= SAY_EVERY_S:
            self._said = time.monotonic()
            log.info("%d files of tests are made; next %s", len(self._made), name)

    def _run(
        self,
        program: Program,
        args: Sequence[str],
        name: str,
        stdin: Path | None,
        files: Mapping[str, Path],
        output: str,
    ) -> Execution:
        self._say(name)
        try:
            execution = self._open().run(
                self._ready(program, name),
                LIMITS,
                stdin=b"" if stdin is None else stdin.read_bytes(),
                args=tuple(args),
                files={n: path.read_bytes() for n, path in files.items()},
                collect=(output,) if output else (),
            )
        except (SandboxError, OSError) as error:
            raise InputError(f"{name} can't be run to make a test: {error}") from None
        except BadRequest as error:
            raise RowError(f"{name} can't be run to make a test: {error}") from None
        if execution.exit_code != 0 or execution.killed_for or execution.stdout_cut:
            lines = execution.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
            why = execution.killed_for or f"exit status {execution.exit_code}"
            said = shown(lines[-1]) if lines else "nothing"
            raise RowError(f"{name} failed while a test was made ({why}; it said {said}): mend it")
        return execution

    def _home(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="gradebox-made-"))
        return self._folder

    def _keep(self, made: bytes, name: str) -> Path:
        self._left -= len(made)
        if self._left < 0:
            raise RowError(f"{name}: the made tests are larger than {MOST_BYTES} bytes")
        path = self._home() / str(len(self._made))
        try:
            path.write_bytes(made)
        except OSError as error:
            raise InputError(f"{path} can't be written: {error.strerror}: free space") from None
        return path

    def _open(self) -> Sandbox:
        if self._sandbox is None:
            from gradebox.sandbox.opening import open_sandbox

            self._sandbox = open_sandbox("local", slots=1)
        return self._sandbox

    def _ready(self, program: Program, name: str) -> Compiled:
        compiled = self._compiled.get(program.digest)
        if compiled is None:
            compiled = self._compiled[program.digest] = self._open().compile(program)
        if not compiled.ok:
            first = compiled.log[:2000].decode("utf-8", "replace").strip().splitlines()
            raise RowError(f"{name} does not compile: {shown(first[0] if first else '')}: mend it")
        return compiled

    def close(self) -> None:
        with self._lock:
            for compiled in self._compiled.values():
                compiled.close()
            if self._sandbox is not None:
                self._sandbox.close()
            if self._folder is not None:
                remove(self._folder)
            self._sandbox, self._folder = None, None
            self._compiled.clear()
            self._made.clear()

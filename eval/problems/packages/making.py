"""The programs of a package: judges as the column `judge_program`, and what makes its tests.

    program, arguments, input ─ box ─▶ a file of a temporary folder

The programs are hostile like any other. What they write goes to files, up to MOST_BYTES in all.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from gradebox.checkers.check import CheckerError
from gradebox.checkers.opening import HEADER, read_program
from gradebox.checkers.programs import not_compiled
from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.eval.problems.packages.files import PackageFiles, unpack
from gradebox.eval.problems.packages.submissions import LANGUAGES
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.errors import BadRequest, SandboxError, UnknownLanguage
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import MIB, Execution, Limits, Program
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


class ProblemPackage(PackageFiles):
    """A package of problems: its files, the programs among them, and what makes its tests.

    testlib  path of testlib.h, for a package that lacks it
    """

    def __init__(self, root: Path, testlib: str | None, maker: Maker) -> None:
        super().__init__(root)
        self.testlib, self.maker = testlib, maker

    def program(self, place: Path, protocol: str = "kattis", language: str = "") -> Program:
        """Return the program of a checker, an interactor or a generator, with what it includes.

        language  of a program that is one file; "": by its ending

        Raises RowError for files that can't be read, lie outside the package or are no program.
        """
        headers = (place.parent / HEADER, self.root / "files" / HEADER, self.root / HEADER)
        inside = next((path for path in headers if path.is_file()), None)
        testlib = self.testlib if inside is None else str(self.inside(inside))
        usual = LANGUAGES.get(place.suffix, "python") if place.is_file() else "python"
        try:
            if language or usual not in ("python", "c++20"):
                row = find(language or usual)
                return Program(row.name, {row.source: self.bytes(place)})
            if protocol != "testlib" or place.suffix == ".py":
                return read_program("kattis", place, within=self.root)
            if testlib is None:
                raise CheckerError(f"{HEADER} is not in the package: give its path, --testlib FILE")
            return read_program("testlib", place, testlib, within=self.root)
        except (CheckerError, UnknownLanguage) as error:
            raise RowError(f"{self.say(place)}: {error}") from None

    def judge(self, place: Path, role: str, protocol: str, **more: Any) -> dict[str, Any]:
        """Return the column of a judge in a file or a folder. Raises RowError as `program` does."""
        return judge_column(self.program(place, protocol), role, protocol, self.say(place), **more)


def judge_column(
    program: Program, role: str, protocol: str, name: str, **more: Any
) -> dict[str, Any]:
    """Return the column of a judge; `more` of its keys are in `checkers.interactive.open_sent`."""
    files, language = dict(program.files), program.language
    given = {"role": role, "protocol": protocol, "name": name, "language": language, "files": files}
    return {"judge_program": {**given, **more}}


class Maker(Closeable):
    """Runs programs of packages and keeps what they write. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="gradebox-package-")
        self._made: dict[tuple[object, ...], tuple[Path, Path]] = {}
        self._unpacked: dict[Path, Path] = {}
        self._left = MOST_BYTES

    def make(
        self,
        program: Program,
        args: Sequence[str],
        name: str,
        given: Path | None = None,
        given_as: str = "",
        written: str = "",
    ) -> tuple[Path, Path]:
        """Return the files with what a program writes, and with its stderr; it runs once.

        name      of the program and test, for messages
        given     its input, a file
        given_as  the input's name beside the program; "" for stdin
        written   the name of the file that it writes; "" for stdout

        Raises RowError when it fails, InputError without a sandbox.
        """
        key = program.digest, tuple(args), given, written
        with self._lock:
            if key not in self._made:
                data = b"" if given is None else given.read_bytes()
                case: dict[str, Any] = {"files": {given_as: data}} if given_as else {"stdin": data}
                collect = (written,) if written else ()
                run = self._run(program, name, args=tuple(args), collect=collect, **case)
                made = run.files.get(written, b"") if written else run.stdout
                self._made[key] = self._keep(made, name), self._keep(run.stderr, name)
            return self._made[key]

    def unpacked(self, archive: Path) -> Path:
        """Return the folder that a zip was unpacked to. Raises RowError and InputError."""
        with self._lock:
            if archive not in self._unpacked:
                folder = Path(tempfile.mkdtemp(dir=self._folder.name))
                unpack(archive, folder)
                self._unpacked[archive] = folder
            return self._unpacked[archive]

    def _run(self, program: Program, name: str, **case: Any) -> Execution:
        try:
            if self._sandbox is None:
                from gradebox.sandbox.opening import open_sandbox

                self._sandbox = open_sandbox("local", slots=1)
            compiled = self._sandbox.compile(program)
            if not compiled.ok:
                raise RowError(f"{name} {not_compiled(compiled.log)}: mend it")
            execution = self._sandbox.run(compiled, LIMITS, **case)
        except (SandboxError, OSError, BadRequest) as error:
            kind = RowError if isinstance(error, BadRequest) else InputError
            raise kind(f"{name} can't be run to make a test: {error}") from None
        if execution.exit_code != 0 or execution.killed_for or execution.stdout_cut:
            lines = execution.stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
            why = execution.killed_for or f"exit status {execution.exit_code}"
            said = shown(lines[-1]) if lines else "nothing"
            raise RowError(f"{name} failed while a test was made ({why}; it said {said}): mend it")
        return execution

    def _keep(self, made: bytes, name: str) -> Path:
        self._left -= len(made)
        if self._left < 0:
            raise RowError(f"{name}: the made tests are larger than {MOST_BYTES} bytes")
        path = Path(self._folder.name, uuid4().hex)
        try:
            path.write_bytes(made)
        except OSError as error:
            raise InputError(f"{path} can't be written: {error.strerror}: free space") from None
        return path

    def close(self) -> None:
        with self._lock:
            if self._sandbox is not None:
                self._sandbox.close()
            self._folder.cleanup()

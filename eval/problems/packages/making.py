"""The programs of a package: judges as the column `judge_program`, and what makes its tests.

    "gen -n 5" ─ parsed, never a shell ─▶ program, arguments ─ box ─▶ a file of a temporary folder

The programs are hostile like any other. What they write goes to files, up to MOST_BYTES in all.
"""

from __future__ import annotations

import shlex
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from gradebox.checkers.check import CheckerError
from gradebox.checkers.interactive import judge_fields
from gradebox.checkers.opening import HEADER, read_program
from gradebox.checkers.programs import not_compiled
from gradebox.checkers.protocols import PROTOCOLS
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
Role = Literal["checker", "interactor"]
_SIGNS = ("<", ">", "|", "${", "&&", ";")  # of FreeMarker's templates and of shells


def read_judge(package: PackageFiles, place: Path, protocol: str, language: str = "") -> Program:
    """Return the program of a checker, an interactor or a generator, with what it includes.

    language  of a program that is one file; "": by its ending

    Raises RowError for files that can't be read, lie outside the package or are no program.
    """
    headers = (place.parent / HEADER, package.root / "files" / HEADER, package.root / HEADER)
    inside = next((path for path in headers if path.is_file()), None)
    testlib = package.testlib if inside is None else str(package.inside(inside))
    usual = LANGUAGES.get(place.suffix, "python") if place.is_file() else "python"
    try:
        if language or usual not in ("python", "c++20"):
            row = find(language or usual)
            return Program(row.name, {row.source: package.bytes(place)})
        if protocol != "testlib" or place.suffix == ".py":
            return read_program("kattis", place, within=package.root)
        if testlib is None:
            raise CheckerError(f"{HEADER} is not in the package: give its path, --testlib FILE")
        return read_program("testlib", place, testlib, within=package.root)
    except (CheckerError, UnknownLanguage) as error:
        raise RowError(f"{package.say(place)}: {error}") from None


def judge_program(
    package: PackageFiles,
    place: Path,
    role: Role,
    protocol: str,
    extra_args: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the column of a judge in a file or a folder. Raises RowError as `read_judge` does."""
    program, name = read_judge(package, place, protocol), package.say(place)
    judge = judge_fields(role, PROTOCOLS[protocol], program, extra_args, name=name)
    return {"judge_program": judge}


def command_words(command: str, where: str) -> list[str]:
    """Return the words of a generator's command. Raises RowError for a template or a shell's."""
    try:
        words = shlex.split(command) if len(command) < 10_000 else []
    except ValueError:
        words = []
    if not words or any(sign in command for sign in _SIGNS):
        raise RowError(
            f"{where} has the command {shown(command)}, which is no program with its arguments, "
            "but a template or signs of a shell: build the full package"
        )
    return words


class Maker(Closeable):
    """Runs programs of packages and keeps what they write. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="gradebox-package-")
        self._made: dict[tuple[object, ...], list[Path]] = {}
        self._unpacked: dict[Path, Path] = {}
        self._left = MOST_BYTES

    def make(
        self,
        program: Program,
        args: Sequence[str],
        name: str,
        outputs: Sequence[str] = ("",),
        given: Path | None = None,
        given_as: str = "",
    ) -> list[Path]:
        """Return the files with what a program writes, run once.

        name      of the program and test, for messages
        outputs   the names of the files it writes; "stderr", or "" for stdout
        given     its input, a file
        given_as  the input's name beside the program; "" for stdin

        Raises RowError when it fails, InputError without a sandbox.
        """
        with self._lock:
            key = (program.digest, tuple(args), given, tuple(outputs))
            if key not in self._made:
                data = b"" if given is None else given.read_bytes()
                case: dict[str, Any] = {"files": {given_as: data}} if given_as else {"stdin": data}
                collect = tuple({*outputs} - {"", "stderr"})
                run = self._run(program, name, args=tuple(args), collect=collect, **case)
                if "stderr" in outputs and len(run.stderr) >= STDERR_BYTES:
                    raise RowError(
                        f"{name} writes {STDERR_BYTES} bytes or more to stderr, of which no "
                        "more is kept: put the outputs into files"
                    )
                written = {**run.files, "stderr": run.stderr, "": run.stdout}
                self._made[key] = [self._keep(written.get(o, b""), name) for o in outputs]
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

"""The tests of one problem that were chosen, their contents on disk while it is graded.

    ProblemSet.official_tests ┐                       ┌─▶ plan    (refs, skipped ones too)
    GeneratedTests.read       ┴─ one pass ─ spilled ──┼─▶ digest  (part of a record's key)
                                                      └─▶ load(ref): any order, any thread

Contents go to one unlinked temporary file and are read back with pread, so the memory
of a problem is that of the tests being run. Small problems stay in memory.
"""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Protocol

from eval.choice import Choice, choose
from eval.input_error import InputError
from eval.model import CaseType, Problem, TestCase, TestRef
from sandbox.closing import Closing

IN_MEMORY_BYTES = 1 << 20
_READ_BYTES = 1 << 30


class OfficialTests(Protocol):
    """What is asked of a ProblemSet."""

    def official_sizes(self, problem_id: str) -> list[int]: ...

    def official_tests(self, problem_id: str) -> Iterator[TestCase]: ...


class GeneratedSource(Protocol):
    """What is asked of GeneratedTests."""

    def refs(self, problem: Problem) -> list[TestRef]: ...

    def read(self, problem: Problem, wanted: set[int]) -> Iterator[TestCase]: ...


def open_tests(
    problems: OfficialTests,
    generated: GeneratedSource | None,
    problem: Problem,
    choice: Choice,
) -> ProblemTests:
    """Chooses the tests of a problem and makes their contents ready to be loaded.

    What is skipped is not read. Raises InputError for tests that cannot be read, for
    two of one number, and for a full disk.
    """
    official = [
        TestRef("official", i, size) for i, size in enumerate(problems.official_sizes(problem.id))
    ]
    made = generated.refs(problem) if generated is not None and choice.max_generated else []
    plan = choose(problem.id, official, made, choice)
    tests = ProblemTests(problem.id, plan)
    try:
        if tests.wants("official"):
            tests.keep(problems.official_tests(problem.id))
        wanted = tests.wants("generated")
        if generated is not None and wanted:
            tests.keep(generated.read(problem, wanted))
        tests.seal()
    except BaseException:
        tests.close()
        raise
    return tests


@dataclass(frozen=True)
class _Place:
    """Where a test's contents lie, and their hash."""

    offset: int
    input_bytes: int
    expected_bytes: int
    sha256: bytes


class ProblemTests(Closing):
    """The plan of one problem and the contents of what is to be run.

    `plan` is in the order of the run; `digest` is a SHA-256 (hex) over the plan, skips
    and contents included. `load` may be called from any thread until `close`.
    """

    def __init__(self, problem_id: str, plan: Iterable[TestRef]) -> None:
        self.problem_id = problem_id
        self.plan: tuple[TestRef, ...] = tuple(plan)
        self.digest = ""
        self._places: dict[tuple[CaseType, int], _Place] = {}
        self._spill = _Spill()

    def wants(self, case_type: CaseType) -> set[int]:
        """The numbers of the tests of one kind that are to be run."""
        return {ref.index for ref in self.plan if ref.case_type == case_type and ref.skip is None}

    def keep(self, tests: Iterable[TestCase]) -> None:
        """Keeps those of the tests that the plan runs, one in memory at a time."""
        wanted = {case_type: self.wants(case_type) for case_type in ("official", "generated")}
        for test in tests:
            if test.index not in wanted[test.case_type]:
                continue
            key = (test.case_type, test.index)
            if key in self._places:
                raise InputError(f"{self.problem_id} has two {key[0]} tests of number {key[1]}")
            sha = hashlib.sha256(len(test.input).to_bytes(8, "big"))
            sha.update(test.input)
            sha.update(test.expected)
            offset = self._spill.append(test.input, test.expected)
            self._places[key] = _Place(offset, len(test.input), len(test.expected), sha.digest())

    def seal(self) -> None:
        """Checks that every test to be run is there, and computes the digest."""
        sha = hashlib.sha256()
        for ref in self.plan:
            sha.update(f"{ref.case_type}\0{ref.index}\0{ref.skip or ''}\0".encode())
            if ref.skip is not None:
                sha.update(ref.input_bytes.to_bytes(8, "big"))
                continue
            place = self._places.get((ref.case_type, ref.index))
            if place is None or place.input_bytes != ref.input_bytes:
                raise InputError(
                    f"{self.problem_id}: {ref.case_type} test {ref.index} changed while it was "
                    "read: start again"
                )
            sha.update(place.sha256)
        self.digest = sha.hexdigest()

    def load(self, ref: TestRef) -> TestCase:
        """The contents of a test of the plan; KeyError for one that is skipped or unknown."""
        place = self._places[ref.case_type, ref.index]
        given = self._spill.read(place.offset, place.input_bytes)
        expected = self._spill.read(place.offset + place.input_bytes, place.expected_bytes)
        return TestCase(ref.case_type, ref.index, given, expected)

    def close(self) -> None:
        """Frees the contents; calling it twice is harmless."""
        self._spill.close()


class _Spill:
    """Bytes appended by one thread, then read by many: in memory, on disk when they are many."""

    def __init__(self) -> None:
        self._memory: bytearray | None = bytearray()
        self._file: IO[bytes] | None = None
        self._size = 0
        self._readers = 0
        self._closed = False
        self._lock = threading.Lock()

    def append(self, *parts: bytes) -> int:
        """The offset at which the parts now stand one after another."""
        offset = self._size
        self._size += sum(map(len, parts))
        if self._memory is not None and self._size > IN_MEMORY_BYTES:
            parts = (bytes(self._memory), *parts)
            self._memory = None
            self._file = _temporary_file()
        if self._memory is not None:
            self._memory += b"".join(parts)
        elif self._file is not None:
            _write(self._file, parts)
        return offset

    def read(self, offset: int, size: int) -> bytes:
        """`size` bytes from `offset`; the file is not closed under a reader."""
        with self._lock:
            if self._closed:
                raise ValueError("the tests of this problem were closed")
            if self._memory is not None:
                return bytes(self._memory[offset : offset + size])
            self._readers += 1
        try:
            return _pread(self._file, offset, size)
        finally:
            with self._lock:
                self._readers -= 1
                self._release()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._release()

    def _release(self) -> None:
        if self._closed and not self._readers:
            self._memory = None
            if self._file is not None:
                self._file.close()
                self._file = None


def _temporary_file() -> IO[bytes]:
    try:
        return tempfile.TemporaryFile(prefix="gradebox-tests-", buffering=0)
    except OSError as error:
        raise _disk_error(error) from error


def _write(file: IO[bytes], parts: Iterable[bytes]) -> None:
    try:
        for part in parts:
            view = memoryview(part)
            while view:
                view = view[file.write(view) :]
    except OSError as error:
        raise _disk_error(error) from error


def _disk_error(error: OSError) -> InputError:
    folder = tempfile.gettempdir()
    why = "is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else f"fails ({error.strerror})"
    return InputError(
        f"the folder for temporary files, {folder}, {why}: the tests of a problem are kept there "
        "while it is graded; free space, or set TMPDIR to a folder with more"
    )


def _pread(file: IO[bytes] | None, offset: int, size: int) -> bytes:
    """The bytes, read into one buffer; a cut file is the machine's fault."""
    if file is None:
        raise ValueError("the tests of this problem were closed")
    number, parts = file.fileno(), []
    while size:
        part = os.pread(number, min(size, _READ_BYTES), offset)
        if not part:
            raise OSError(errno.EIO, "the temporary file of a problem's tests was cut")
        parts.append(part)
        offset, size = offset + len(part), size - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)

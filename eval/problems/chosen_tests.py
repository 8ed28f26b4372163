"""The chosen tests of one problem, kept ready while the problem is graded.

    ProblemSet.official_tests ┐                       ┌─▶ plan    (refs, skipped ones included)
    GeneratedTests.read       ┴─ one pass ─ spilled ──┼─▶ digest  (part of a record's key)
                                                      └─▶ load(ref): any order, any thread

Small tests stay in memory. Others go to an unlinked temporary file and are read back with pread,
so a large problem needs only the memory of the tests that are running.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, NamedTuple, Protocol

from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.generated_tests import GeneratedTests
from gradebox.eval.problems.problem import Problem, TestCase, TestRef
from gradebox.eval.problems.selection import TestSelection, select_tests
from gradebox.eval.results.record import CaseType
from gradebox.sandbox.common.cleanup import Closeable

IN_MEMORY_BYTES = 256 << 10
_READ_BYTES = 1 << 30


class OfficialTests(Protocol):
    """The part of ProblemSet that is needed here."""

    def official_sizes(self, problem_id: str) -> list[int]: ...

    def official_tests(self, problem_id: str) -> Iterator[TestCase]: ...


def plan_tests(
    official: OfficialTests,
    generated: GeneratedTests | None,
    problem: Problem,
    selection: TestSelection,
) -> list[TestRef]:
    """Return the tests to run and to skip, in order, without reading their contents."""
    made = generated.refs(problem) if generated is not None and selection.max_generated else []
    return select_tests(problem.id, _official_refs(official, problem), made, selection)


def open_tests(
    official: OfficialTests,
    generated: GeneratedTests | None,
    problem: Problem,
    selection: TestSelection,
) -> ProblemTests:
    """Choose the tests of a problem and keep a copy of their contents.

    Skipped tests are not read. Raises InputError for tests that are unreadable or share a
    number, and for a full disk.
    """
    tests = ProblemTests(problem.id, plan_tests(official, generated, problem, selection))
    try:
        if tests.to_run("official"):
            tests.add(official.official_tests(problem.id))
        wanted = tests.to_run("generated")
        if generated is not None and wanted:
            tests.add(generated.read(problem, wanted))
        tests.finish()
    except BaseException:
        tests.close()
        raise
    return tests


def unsupported_tests(official: OfficialTests, problem: Problem) -> ProblemTests:
    """Return the tests of an interactive problem without an interactor: all are skipped."""
    refs = _official_refs(official, problem)
    tests = ProblemTests(problem.id, [replace(ref, skip="unsupported_interactive") for ref in refs])
    tests.digest = f"unsupported {len(refs)}"
    return tests


def _official_refs(official: OfficialTests, problem: Problem) -> list[TestRef]:
    sizes = official.official_sizes(problem.id)
    return [TestRef("official", i, size) for i, size in enumerate(sizes)]


@dataclass(frozen=True)
class _Stored:
    """Where the contents of a test are stored, and their hash."""

    offset: int
    input_bytes: int
    expected_bytes: int
    sha256: bytes


class StoredTests(NamedTuple):
    """What another process needs to read a problem's tests (`ProblemTests.stored`).

    contents  the tests themselves; None when they are in a file, whose descriptor it needs as well
    """

    problem_id: str
    plan: tuple[TestRef, ...]
    digest: str
    size_bytes: int
    places: Mapping[tuple[CaseType, int], _Stored]
    contents: bytes | None


class ProblemTests(Closeable):
    """The plan of one problem and the contents of the tests to run.

    plan        in run order, skipped tests included
    digest      SHA-256 (hex) of the plan with skips and contents; "" before `finish`
    size_bytes  bytes of the contents

    `load` and `input_sha256` may be called from any thread, but not during or after `close`.
    """

    def __init__(self, problem_id: str, plan: Iterable[TestRef]) -> None:
        self.problem_id = problem_id
        self.plan: tuple[TestRef, ...] = tuple(plan)
        self.digest = ""
        self.size_bytes = 0
        self._stored: dict[tuple[CaseType, int], _Stored] = {}
        self._input_hashes: dict[tuple[CaseType, int], str] = {}
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(  # noqa: SIM115
            IN_MEMORY_BYTES, prefix="gradebox-tests-"
        )
        self._memory: bytes | None = None

    @classmethod
    def of(cls, problem_id: str, tests: Sequence[TestCase]) -> ProblemTests:
        """Return the given tests, none of them skipped."""
        refs = [TestRef(test.case_type, test.index, len(test.input)) for test in tests]
        opened = cls(problem_id, refs)
        opened.add(tests)
        opened.finish()
        return opened

    @classmethod
    def opened(cls, stored: StoredTests, fd: int | None) -> ProblemTests:
        """Return tests that another process stored.

        fd  of the file with the contents, which belongs to the result; None when `stored` has them
        """
        tests = cls(stored.problem_id, stored.plan)
        if fd is not None:
            tests._file.close()
            tests._file = os.fdopen(fd, "rb")
        tests.digest, tests.size_bytes = stored.digest, stored.size_bytes
        tests._stored, tests._memory = dict(stored.places), stored.contents
        return tests

    def stored(self) -> tuple[StoredTests, int | None]:
        """Return what another process needs to read the tests, and their file's descriptor."""
        places, contents = self._stored, self._memory
        stored = StoredTests(
            self.problem_id, self.plan, self.digest, self.size_bytes, places, contents
        )
        return stored, None if contents is not None or not places else self._file.fileno()

    def to_run(self, case_type: CaseType) -> set[int]:
        """Return the numbers of the tests of one kind that are not skipped."""
        return {ref.index for ref in self.plan if ref.case_type == case_type and ref.skip is None}

    def add(self, tests: Iterable[TestCase]) -> None:
        """Store the tests that the plan runs, one in memory at a time; ignore the others."""
        wanted = {case_type: self.to_run(case_type) for case_type in ("official", "generated")}
        for test in tests:
            if test.index not in wanted[test.case_type]:
                continue
            key = (test.case_type, test.index)
            if key in self._stored:
                raise InputError(f"{self.problem_id} has two {key[0]} tests of number {key[1]}")
            sha = hashlib.sha256(len(test.input).to_bytes(8, "big"))
            sha.update(test.input)
            sha.update(test.expected)
            self._stored[key] = _Stored(
                self.size_bytes, len(test.input), len(test.expected), sha.digest()
            )
            self.size_bytes += len(test.input) + len(test.expected)
            with _disk_errors():
                self._file.write(test.input)
                self._file.write(test.expected)

    def finish(self) -> None:
        """Check that every test to run was added, and compute the digest."""
        sha = hashlib.sha256()
        for ref in self.plan:
            sha.update(f"{ref.case_type}\0{ref.index}\0{ref.skip or ''}\0".encode())
            if ref.skip is not None:
                sha.update(ref.input_bytes.to_bytes(8, "big"))
                continue
            stored = self._stored.get((ref.case_type, ref.index))
            if stored is None or stored.input_bytes != ref.input_bytes:
                raise InputError(
                    f"{self.problem_id}: {ref.case_type} test {ref.index} changed while it was "
                    "read: start again"
                )
            sha.update(stored.sha256)
        self.digest = sha.hexdigest()
        with _disk_errors():
            self._file.flush()
        if self.in_memory:
            self._file.seek(0)
            self._memory = self._file.read()

    def load(self, ref: TestRef) -> TestCase:
        """Return a test with its contents; raise KeyError for a skipped or unknown one."""
        stored = self._stored[ref.case_type, ref.index]
        given = self._read(stored.offset, stored.input_bytes)
        expected = self._read(stored.offset + stored.input_bytes, stored.expected_bytes)
        return TestCase(ref.case_type, ref.index, given, expected)

    def input_sha256(self, test: TestCase) -> str:
        """Return the SHA-256 (hex) of a test's input, computed once: 10 MB take 10 to 30 ms."""
        key = (test.case_type, test.index)
        known = self._input_hashes.get(key)
        if known is None:
            known = self._input_hashes[key] = hashlib.sha256(test.input).hexdigest()
        return known

    @property
    def in_memory(self) -> bool:
        """Whether the contents are in memory, not in a file."""
        return self.size_bytes <= IN_MEMORY_BYTES

    @property
    def closed(self) -> bool:
        """Whether the contents were freed."""
        return self._file.closed

    def close(self) -> None:
        self._file.close()
        self._memory = None

    def _read(self, offset: int, size: int) -> bytes:
        if self._memory is not None:
            return self._memory[offset : offset + size]
        if self.closed:
            raise ValueError(f"the tests of {self.problem_id} are closed")
        number, parts = self._file.fileno(), []
        while size:
            part = os.pread(number, min(size, _READ_BYTES), offset)
            if not part:
                raise OSError(errno.EIO, "the temporary file of a problem's tests was cut")
            parts.append(part)
            offset, size = offset + len(part), size - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


@contextlib.contextmanager
def _disk_errors() -> Iterator[None]:
    """Raise InputError for an error of the temporary file."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        why = "is full" if full else f"fails ({error.strerror})"
        raise InputError(
            f"the folder for temporary files, {tempfile.gettempdir()}, {why}: a problem's tests "
            "are kept there while it is graded; free space, or set TMPDIR to a folder with more"
        ) from error

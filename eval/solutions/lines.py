"""Lines of a solutions file by number, for readers that show some solutions of a finished run."""

from __future__ import annotations

from pathlib import Path

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import limited_lines
from gradebox.eval.common.offset_index import OffsetIndex
from gradebox.eval.solutions.files import MAX_LINE_BYTES, read_lines
from gradebox.eval.solutions.reader import read_solution
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.common.cleanup import Closeable

_NOT_LINES = (b"\x1f\x8b", b"[")  # gzip; one JSON array


class SolutionLines(Closeable):
    """The solutions of a file by line. Not thread-safe.

    The file is read once at the first use, and a line again when it is wanted. A compressed file,
    or a JSON array, is read up to the line each time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offsets: OffsetIndex | None = None
        self._size = 0

    def solution(self, line: int, solution_id: str) -> tuple[Solution, str]:
        """Return a solution and its response (`read_solution`). Raises InputError without one."""
        data = self._line(line)
        if data is None:
            raise InputError(
                f"{self.path} has no line {line}, so it was shortened since the run; "
                "give --solutions-path"
            )
        return read_solution(data, line, solution_id)

    def _line(self, line: int) -> bytes | None:
        try:
            with self.path.open("rb") as file:
                if file.read(2).startswith(_NOT_LINES):
                    found = (data for number, data in read_lines(self.path) if number == line)
                    data = next(found, None)
                    return data if isinstance(data, bytes) else None
                offset = self._index().get(line)
                if offset is None:
                    return None
                file.seek(offset)
                return file.readline(MAX_LINE_BYTES + 1)
        except OSError as error:
            raise InputError(f"{self.path} can't be read: {error.strerror or error}") from None

    def _index(self) -> OffsetIndex:
        size = self.path.stat().st_size
        if self._offsets is None or size != self._size:
            self.close()
            self._offsets, self._size = OffsetIndex(), size
            with self.path.open("rb") as file:
                for number, offset, line in limited_lines(file, MAX_LINE_BYTES):
                    if line is not None:
                        self._offsets.put(number, offset)
        return self._offsets

    def close(self) -> None:
        """Free the index; a later call builds it again."""
        if self._offsets is not None:
            self._offsets.close()
            self._offsets = None

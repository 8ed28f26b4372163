"""Solutions of a file by their line, for pages that show some of a run.

record ─ line, solution_id ─▶ line of the solutions file ─▶ {program, language, response, …}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import limited_lines
from gradebox.eval.common.offset_index import OffsetIndex
from gradebox.eval.problems.problem import spellings
from gradebox.eval.solutions.files import MAX_LINE_BYTES, read_lines
from gradebox.eval.solutions.reader import read_solution
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

    def texts(
        self, record: Mapping[str, Any], program_chars: int, response_chars: int
    ) -> dict[str, Any]:
        """Return the program and the response of a record's solution, null for what it has not.

        program_chars, response_chars  the most that is returned of each

        `cut` names the texts that are longer; `named` is the line's problem where the record
        spells it differently, "" where it does not. A response is null where the line has only
        the program. Raises InputError when the file no longer has the solution.
        """
        line, name = record.get("line"), record.get("solution_id")
        if not isinstance(line, int) or not isinstance(name, str):
            raise InputError("the record has no usable line; start the run again")
        data = self._line(line)
        if data is None:
            raise InputError(
                f"{self.path} has no line {line}, so it was shortened since the run; "
                "give --solutions-path"
            )
        solution, response = read_solution(data, line, name)
        if solution.solution_id not in (name, name.partition("@")[0]):
            raise InputError(
                f"line {line} of {self.path} holds another solution now; give --solutions-path"
            )
        names = spellings(solution.problem_id)
        given = {"program": (solution.code, program_chars), "response": (response, response_chars)}
        return {
            **{key: (text or "")[:most] or None for key, (text, most) in given.items()},
            "language": str(record.get("language") or solution.language),
            "named": "" if record.get("problem_id") in names else solution.problem_id,
            "cut": [key for key, (text, most) in given.items() if len(text or "") > most],
        }

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

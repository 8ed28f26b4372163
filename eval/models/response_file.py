"""Question files: JSON lines, each with an id that is unique in the file.

{"id": "7", "problem": "…", "answer": "42"}
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.common.files import remove_cut_line
from gradebox.eval.common.signals import is_discarded
from gradebox.eval.models.exchange import Request, RequestOutcome
from gradebox.eval.models.sampler import Sampler, SamplerOptions, SamplingProgress
from gradebox.eval.models.servers import Server
from gradebox.eval.problems.rows import parse_row
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.input_file import check_input_file

ID_FIELDS = ("id", "problem_id", "unique_id")


def read_questions(
    path: Path, required: Iterable[str | Sequence[str]], limit: int | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """Return (id, line) of each line of a JSONL file; a line without an id has its number.

    required  names of fields that every line must have; of a list of names, any one of them
    limit     maximum number of lines returned; the whole file is checked

    Raises InputError for a missing file or field, a duplicate id, or an empty file.
    """
    groups = [(name,) if isinstance(name, str) else tuple(name) for name in required]
    line_of_id: dict[str, int] = {}
    questions: list[tuple[str, dict[str, Any]]] = []
    for number, line in enumerate(read_lines(path), 1):
        for names in groups:
            if all(line.get(name) is None for name in names):
                present = ", ".join(list(line)[:8]) or "none"
                raise InputError(
                    f"{path} line {number} has no field {' or '.join(map(repr, names))}; its "
                    f"fields are {present}"
                )
        question_id = _id_of(line, str(number))
        if question_id in line_of_id:
            raise InputError(
                f"{path} line {number}: line {line_of_id[question_id]} has the same id "
                f"{question_id!r}; ids must be unique"
            )
        line_of_id[question_id] = number
        if limit is None or len(questions) < limit:
            questions.append((question_id, line))
    if not questions:
        raise InputError(f"{path} has no questions; at least one line is needed")
    return questions


def _id_of(line: dict[str, Any], default: str) -> str:
    for field in ID_FIELDS:
        value = line.get(field)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return str(value)
    return default


def text_field(where: str, line: dict[str, Any], name: str) -> str:
    """Return a field that the line has as text, 27.0 as "27".

    Raises InputError when it is neither text nor a number.
    """
    value = line[name]
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{where}: field {name!r} is a {type(value).__name__}, not a text")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)


RequestKey = tuple[str, int]


class ResponseFile(Closeable):
    """The responses of one run; one process at a time may open it."""

    def __init__(self, path: Path, *, parameters: Mapping[str, Any]) -> None:
        """Open or create the file.

        parameters  the server's; they are part of each request's digest

        Raises InputError when the file can't be written, is open in another process, or is not
        a responses file. It is unchanged then.
        """
        self.path = path
        self.failed_path = path.with_name(f"{path.stem}.failed.jsonl")
        self._parameters = dict(parameters)
        self._fd = _open_checked(path)
        remove_cut_line(self._fd)
        self._entries = self._read_entries()
        # Failed requests are sent again, so their old reasons are dropped.
        self._failed_fd = os.open(
            self.failed_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644
        )

    def _read_entries(self) -> dict[RequestKey, tuple[int, bytes]]:
        """Return (offset of its last line, digest) of each request with a response."""
        entries = {}
        offset = 0
        with self.path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if raw.strip():
                    record = _parse(self.path, number, raw)
                    try:
                        key = str(record["problem_id"]), int(record["sample_id"])
                        entries[key] = offset, bytes.fromhex(record["request_sha256"])
                    except (KeyError, TypeError, ValueError):
                        raise InputError(
                            f"{self.path} line {number} is not a line of a responses file; choose "
                            "another --output, or start over with --fresh"
                        ) from None
                offset += len(raw)
        return entries

    def lacks(self, request: Request) -> bool:
        """Return whether the file has no response to this request.

        Raises InputError when it has one to another prompt, model or parameter.
        """
        if request.resume_key not in self._entries:
            return True
        if self._entries[request.resume_key][1].hex() != request.digest(self._parameters):
            raise InputError(
                f"{self.path}: {request.item} sample {request.sample} was answered to another "
                "prompt, model or parameter; start over with --fresh, or choose another --output"
            )
        return False

    def __len__(self) -> int:
        return len(self._entries)

    def ask_missing(
        self,
        requests: Iterable[Request],
        server: Server,
        options: SamplerOptions,
        label: str,
        **fields: Any,
    ) -> SamplingProgress:
        """Send the requests without a response and append the outcomes.

        `label` names the run in its progress, `fields` are added to the line of each response.
        Returns the counts of answered and failed requests. Raises ServerLost; the responses
        received before it are in the file.
        """
        missing = [request for request in requests if self.lacks(request)]
        with SamplingProgress(len(missing), label) as progress:

            def on_outcome(outcome: RequestOutcome) -> None:
                self.add(outcome, **fields)
                progress.add(outcome)

            Sampler(server, options).run(missing, on_outcome)
        return progress

    def add(self, outcome: RequestOutcome, **fields: Any) -> None:
        """Append an outcome; `fields` are added to the line of a response."""
        request, reply, failure = outcome.request, outcome.reply, outcome.failure
        record: dict[str, Any] = {"problem_id": request.item, "sample_id": request.sample}
        effort = {"attempts": outcome.attempts, "wall_s": round(outcome.wall_s, 3)}
        if failure is not None:
            record |= {"error": failure.kind, "message": str(failure), **effort}
            self._write(self._failed_fd, record)
        if reply is None:
            return
        digest = request.digest(self._parameters)
        record |= {
            "completion_id": f"{request.item}#{request.sample}",
            **fields,
            "response": reply.text,
            "model": reply.model or self._parameters.get("model"),
            "finish_reason": reply.finish_reason,
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
            "provider": reply.provider,
            "seed": request.seed,
            **effort,
            "request_sha256": digest,
        }
        offset = os.fstat(self._fd).st_size
        self._write(self._fd, record)
        self._entries[request.resume_key] = offset, bytes.fromhex(digest)

    def _write(self, fd: int, record: Mapping[str, Any]) -> None:
        # ASCII escapes: a reply may contain lone surrogates, which UTF-8 can't encode.
        data = memoryview((json.dumps(record) + "\n").encode("ascii"))
        try:
            while data:
                data = data[os.write(fd, data) :]
        except OSError as error:
            raise InputError(
                f"cannot write {self.path}: {error.strerror}; make room and run the same command "
                "again, it continues from the responses in the file"
            ) from None

    def records(self, keys: Iterable[RequestKey] | None = None) -> Iterator[dict[str, Any]]:
        """Yield the responses, the last line of each key only.

        They are in the order of `keys`, without those that have no response; or else in the
        order of the file, which is the order of arrival and differs from run to run.
        """
        found = self._entries if keys is None else [k for k in keys if k in self._entries]
        offsets = [self._entries[key][0] for key in found]
        with self.path.open("rb") as file:
            for offset in sorted(offsets) if keys is None else offsets:
                file.seek(offset)
                yield _parse(self.path, 0, file.readline())

    def close(self) -> None:
        """Flush to disk and close. May be called more than once."""
        for fd in (self._fd, self._failed_fd):
            if fd >= 0:
                os.fsync(fd)
                os.close(fd)
        if self._failed_fd >= 0 and self.failed_path.stat().st_size == 0:
            self.failed_path.unlink()
        self._fd = self._failed_fd = -1


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file; raise InputError for a line that is not an object."""
    try:
        check_input_file(path, once=True)
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if raw.strip():
                    yield _parse(path, number, raw)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def _parse(path: Path, number: int, raw: bytes) -> dict[str, Any]:
    try:
        return parse_row(raw)
    except RowError as error:
        raise InputError(f"{path} line {number}: {error}") from None


def _open_locked(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; choose another place") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise InputError(f"another run is writing {path}; wait until it ends") from None
    return fd


def _open_checked(path: Path) -> int:
    fd = _open_locked(path)
    try:
        _check_format(path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def discard_responses(paths: Iterable[Path]) -> None:
    """Empty all of these files of responses, else none.

    Raises InputError as opening them does.
    """
    with contextlib.ExitStack() as stack:
        opened = []
        for path in dict.fromkeys(paths):
            opened.append(_open_checked(path))
            stack.callback(os.close, opened[-1])
        for fd in opened:
            os.ftruncate(fd, 0)
    is_discarded()


def _check_format(path: Path) -> None:
    """Raise InputError unless the file is empty or starts like a responses file.

    Called before anything is removed: a dataset given as the output by mistake would lose an
    unfinished last line, or all of its contents with `fresh`.
    """
    with path.open("rb") as file:
        first = file.readline()
    if not first:
        return
    try:
        record = json.loads(first)
        is_response = isinstance(record, dict) and "request_sha256" in record
    except (ValueError, RecursionError):
        # A killed run leaves at least the first bytes of the first response.
        is_response = not first.endswith(b"\n") and first[:2] in (b"{", b'{"')
    if not is_response:
        raise InputError(
            f"{path} line 1 is not a line of a responses file, so the file was not changed; choose "
            "another place for the responses, or remove the file"
        )

"""Responses as JSONL: what a run has, what it lacks, and what the code grader takes.

    out.jsonl          {"problem_id", "sample_id", "completion_id", "response", "model",
                        "finish_reason", "tokens_in", "tokens_out", "provider", "seed",
                        "attempts", "wall_s", "request_sha256"}
    out.failed.jsonl   {"problem_id", "sample_id", "error", "message", "attempts", "wall_s"}

Failures stand in a file of their own: a line without an answer in the first would be graded
as a wrong one. A run that is started again asks only for what the first file lacks.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from eval.input_error import InputError
from eval.sampling.model import Outcome, Request
from sandbox.closing import Closing

Key = tuple[str, int]


class ResponseFile(Closing):
    """The responses of one run, appended whole; one process at a time."""

    def __init__(self, path: Path, *, parameters: Mapping[str, Any], fresh: bool = False) -> None:
        """Opens or creates it; `parameters` are the server's, part of what a line is known by.

        Raises InputError when the folder cannot be written, another process has the file, or
        it is no responses file: then not a byte of it is changed, `fresh` or not.
        """
        self.path = path
        self.failed_path = path.with_name(f"{path.stem}.failed.jsonl")
        self._parameters = dict(parameters)
        self._fd = _open_locked(path)
        try:
            _check_ours(path)
        except BaseException:
            os.close(self._fd)
            raise
        if fresh:
            os.ftruncate(self._fd, 0)
        _cut_partial_line(self._fd)
        self._done = self._read_done()
        # What failed is asked again: the old reasons are history.
        self._failed_fd = os.open(
            self.failed_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644
        )

    def _read_done(self) -> dict[Key, bytes]:
        done = {}
        for line, record in enumerate(read_lines(self.path), 1):
            try:
                key = (str(record["problem_id"]), int(record["sample_id"]))
                digest = bytes.fromhex(record["request_sha256"])
            except (KeyError, TypeError, ValueError):
                raise InputError(
                    f"{self.path} line {line}: not a line of a responses file; name another "
                    "--output, or use --fresh to start over"
                ) from None
            done[key] = digest
        return done

    def lacks(self, request: Request) -> bool:
        """Whether this request is still to be asked.

        Raises InputError when it was answered to another prompt, model or parameter.
        """
        digest = self._done.get(request.key)
        if digest is None:
            return True
        if digest.hex() != request.digest(self._parameters):
            raise InputError(
                f"{self.path}: {request.item} sample {request.sample} was answered to another "
                "prompt, model or parameter; use --fresh to start over, or another --output"
            )
        return False

    def __len__(self) -> int:
        return len(self._done)

    def add(self, outcome: Outcome, **fields: Any) -> None:
        """Appends an outcome in one write; `fields` are further fields of a response's line."""
        request, reply, failure = outcome.request, outcome.reply, outcome.failure
        record: dict[str, Any] = {"problem_id": request.item, "sample_id": request.sample}
        tail = {"attempts": outcome.attempts, "wall_s": round(outcome.wall_s, 3)}
        if failure is not None:
            record |= {"error": failure.error, "message": failure.message, **tail}
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
            **tail,
            "request_sha256": digest,
        }
        self._write(self._fd, record)
        self._done[request.key] = bytes.fromhex(digest)

    def _write(self, fd: int, record: Mapping[str, Any]) -> None:
        # ASCII escapes: a reply may hold lone surrogates, which UTF-8 cannot write.
        data = memoryview((json.dumps(record) + "\n").encode("ascii"))
        try:
            while data:
                data = data[os.write(fd, data) :]
        except OSError as error:
            raise InputError(
                f"cannot write {self.path}: {error.strerror}; make room and run the same command "
                "again, nothing that was answered is lost"
            ) from None

    def records(self, keys: Iterable[Key] | None = None) -> Iterator[dict[str, Any]]:
        """The responses, the last line of a key alone counting.

        In the order of `keys`, those without a response left out, or else of the file: that is
        the order in which the server answered, another one in every run.
        """
        at: dict[Key, int] = {}
        start = 0
        with self.path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if raw.strip():
                    record = _object(self.path, number, raw)
                    at[(str(record["problem_id"]), int(record["sample_id"]))] = start
                start += len(raw)
            places = at.values() if keys is None else (at[key] for key in keys if key in at)
            for place in sorted(places) if keys is None else places:
                file.seek(place)
                yield _object(self.path, 0 if place else 1, file.readline())

    def close(self) -> None:
        """Writes through to the disk; calling it twice is harmless."""
        for fd in (self._fd, self._failed_fd):
            if fd >= 0:
                os.fsync(fd)
                os.close(fd)
        if self._failed_fd >= 0 and self.failed_path.stat().st_size == 0:
            self.failed_path.unlink()
        self._fd = self._failed_fd = -1


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file, one at a time; InputError names the line that is none."""
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if raw.strip():
                    yield _object(path, number, raw)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def _object(path: Path, number: int, raw: bytes) -> dict[str, Any]:
    if number == 1:
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} line {number}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise InputError(f"{path} line {number}: not a JSON object")
    return value


def _open_locked(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; name another place") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise InputError(f"{path} is being written by another run; wait for it to end") from None
    return fd


def _check_ours(path: Path) -> None:
    """InputError when a file begins like no responses file.

    Asked before anything is cut off: a dataset named as the output by mistake would lose its
    last line, when nothing ends that, and all of it to `fresh`.
    """
    with path.open("rb") as file:
        first = file.readline()
    if not first:
        return
    try:
        record = json.loads(first)
        ours = isinstance(record, dict) and "request_sha256" in record
    except (ValueError, RecursionError):
        # The start of our first line is all that a kill may have left.
        ours = not first.endswith(b"\n") and first[:2] in (b"{", b'{"')
    if not ours:
        raise InputError(
            f"{path} line 1: not a line of a responses file; it stays as it is: name another "
            "place for the answers, or remove it"
        )


def _cut_partial_line(fd: int) -> None:
    """Cuts off a last line without its end: what a killed run left."""
    size = os.fstat(fd).st_size
    end = size
    while end > 0:
        start = max(0, end - 65536)
        at = os.pread(fd, end - start, start).rfind(b"\n")
        if at >= 0:
            end = start + at + 1
            break
        end = start
    if end != size:
        os.ftruncate(fd, end)

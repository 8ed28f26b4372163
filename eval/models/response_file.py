"""Files of questions and of responses: JSON lines.

{"id": "7", "problem": "…", "answer": "42"}                          the id is unique in the file
{"problem_id": "7", "sample_id": 0, "response": "…", "request_sha256": "…", …}
"""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.models.exchange import Request, RequestOutcome
from gradebox.eval.models.sampler import Sampler, SamplerOptions, SamplingProgress
from gradebox.eval.models.servers import Server
from gradebox.eval.problems.rows import parse_row
from gradebox.eval.results.records import RecordLog
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
        self._lock = _lock_checked(path)
        try:
            self._log = RecordLog(path)
            self._entries = self._read_entries()
        except BaseException:
            self._lock.close()
            raise
        # Failed requests are sent again, so their old reasons are dropped.
        self.failed_path.unlink(missing_ok=True)
        self._failed_log: RecordLog | None = None

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
        Returns the counts of answered and failed requests. Raises CallError when the
        server has gone; the responses received before are in the file.
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
            if self._failed_log is None:
                self._failed_log = RecordLog(self.failed_path)
            record |= {"error": failure.kind, "message": str(failure), **effort}
            self._failed_log.append(_line(record))
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
        self._entries[request.resume_key] = self._log.append(_line(record)), bytes.fromhex(digest)

    def records(self, keys: Iterable[RequestKey]) -> Iterator[dict[str, Any]]:
        """Yield the response to each of the requests that has one, the last line of each."""
        for key in keys:
            if key in self._entries:
                yield _parse(self.path, 0, self._log.read_line(self._entries[key][0]))

    def failures(self) -> dict[RequestKey, dict[str, Any]]:
        """Return the reasons of the requests that have failed since the file was opened."""
        lines = read_lines(self.failed_path) if self._failed_log else ()
        return {(line["problem_id"], line["sample_id"]): line for line in lines}

    def close(self) -> None:
        """Flush to disk and close. May be called more than once."""
        self._log.close()
        if self._failed_log is not None:
            self._failed_log.close()
        self._lock.close()


def _line(record: Mapping[str, Any]) -> bytes:
    # ASCII escapes: a reply may contain lone surrogates, which UTF-8 can't encode.
    return (json.dumps(record) + "\n").encode("ascii")


def read_prompt_file(path: Path) -> str:
    """Return the text of --prompt-file; raise InputError when it can't be read."""
    try:
        check_input_file(path, once=True)
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--prompt-file {path}: {error}") from None


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


def _lock_checked(path: Path) -> IO[bytes]:
    """Open a file of responses for this process alone.

    Raises InputError unless the file is empty or starts like a responses file. Called before
    anything is removed: a dataset given as the output by mistake would lose an unfinished last
    line, or all of its contents with `fresh`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab+")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; choose another place") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.seek(0)
        first = file.readline()
        try:
            is_response = "request_sha256" in dict(json.loads(first or b'{"request_sha256": 0}'))
        except (ValueError, TypeError, RecursionError):
            # A killed run leaves at least the first bytes of the first response.
            is_response = not first.endswith(b"\n") and first[:2] in (b"{", b'{"')
        if not is_response:
            raise InputError(
                f"{path} line 1 is not a line of a responses file, so the file was not changed; "
                "choose another place for the responses, or remove the file"
            )
    except OSError:
        file.close()
        raise InputError(f"another run is writing {path}; wait until it ends") from None
    except BaseException:
        file.close()
        raise
    return file


def discard_responses(paths: Iterable[Path]) -> None:
    """Empty all of these files of responses, else none.

    Raises InputError as opening them does.
    """
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(_lock_checked(path)) for path in dict.fromkeys(paths)]
        for file in opened:
            file.truncate(0)

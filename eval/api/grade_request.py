"""One request to `POST /grade`: encode it, send it, validate the reply.

    Chunk ─ encode ─▶ post ─▶ status, body ─ parse_reply ─▶ records

A reply is untrusted. One that does not fit the request gives no verdict: it raises `NoAnswer`, and
the client tries again elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.in_memory import Row
from gradebox.eval.results.record_shape import is_record
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.common.retry_after import retry_after_s

if TYPE_CHECKING:
    import requests

MAX_REPLY_BYTES = 1 << 30
MAX_RETRY_AFTER_S = 60.0
REFUSED = (400, 401, 403, 404, 413, 415)


class Refused(Exception):
    """The server refused the request itself; sending it again would not help."""


class NoAnswer(Exception):
    """The server gave no usable answer; another server, or the same one later, may."""


@dataclass(frozen=True)
class Chunk:
    """Solutions of one problem, for one request. `problem` is its row or its id."""

    solutions: list[Solution]
    problem: Row | str
    time_limit_s: float | None


def encode(chunk: Chunk, flags: Mapping[str, Any]) -> bytes:
    """Return the body of a chunk's request. Raises InputError for values that JSON lacks."""
    solutions = [
        {
            "problem_id": s.problem_id,
            "solution_id": s.solution_id,
            "language": s.language,
            **({"completion": s.response or ""} if s.code is None else {"code": s.code}),
        }
        for s in chunk.solutions
    ]
    body = {"solutions": solutions, "flags": flags, "time_limit_s": chunk.time_limit_s}
    if not isinstance(chunk.problem, str):
        body["problem"] = chunk.problem
    return json.dumps(body, default=_plain).encode()


def post(
    session: requests.Session, url: str, headers: Mapping[str, str], body: bytes, timeout_s: float
) -> tuple[int, bytes, float]:
    """Send a request; return (status, body, seconds to wait before another try).

    Raises Refused for a wrong request, NoAnswer when the server cannot be reached.
    """
    import requests

    try:
        with session.post(
            f"{url}/grade",
            data=body,
            headers=headers,
            timeout=(10, max(1.0, timeout_s)),
            allow_redirects=False,
            stream=True,
        ) as reply:
            raw = _read(reply, url)
            wait_s = retry_after_s(reply.headers.get("Retry-After"), MAX_RETRY_AFTER_S) or 1.0
    except (requests.RequestException, OSError) as error:
        raise NoAnswer(f"{url} does not answer ({type(error).__name__})") from None
    if reply.status_code in REFUSED:
        raise Refused(f"{url}/grade answered {reply.status_code}: {message_of(raw)}")
    return reply.status_code, raw, wait_s


def parse_reply(raw: bytes, solutions: Sequence[Solution]) -> list[dict[str, Any]]:
    """Return the records of `solutions`, in order, with this side's names and line numbers."""
    try:
        records = json.loads(raw)["records"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NoAnswer("the server's reply is not JSON with `records`") from None
    if not isinstance(records, list) or len(records) != len(solutions):
        raise NoAnswer(f"the server's records are {shown(records)}, not {len(solutions)} records")
    for record in records:
        if not is_record(record):
            raise NoAnswer(
                "the server sent a record with a missing or invalid field; is it another version "
                "of gradebox?"
            )
    return [
        {
            **record,
            "problem_id": s.problem_id,
            "solution_id": s.solution_id,
            "sample_i": s.sample_i,
            "line": s.line,
        }
        for record, s in zip(records, solutions, strict=True)
    ]


def message_of(raw: bytes) -> str:
    """Return a server's message, short and printable."""
    try:
        message = json.loads(raw)["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        message = raw[:80].decode("utf-8", "replace")
    return shown(str(message), 300)


def _read(reply: requests.Response, url: str) -> bytes:
    parts, size = [], 0
    for part in reply.iter_content(1 << 20):
        size += len(part)
        if size > MAX_REPLY_BYTES:
            raise NoAnswer(f"the reply of {url} is over {MAX_REPLY_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise InputError(
        f"a problem has the value {shown(value)}, which can't be sent; give text, numbers and lists"
    )

"""Judge0's API: submissions that run at once or in a queue, and what the server offers.

    POST /submissions?wait=true ─▶ 201 {"stdout", "status": {"id": 3, …}, …}
    POST /submissions ─▶ 201 {"token"} ─ GET /submissions/{token} ─▶ 200 the same, when it ended

Results are kept in memory: KEPT_BYTES of them, at most KEPT_MOST, for KEPT_S seconds. Under
/extra the same is served as the flavor Extra CE, which Judge0's SDK asks for its default language.
"""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradebox.eval.api.dialects.judge0_submission import (
    FIELDS,
    STATUSES,
    TABLES,
    Judge0Submission,
    answered,
    languages_of,
    limits_of,
    read_submission,
)
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.common.errors import shown
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest, RequestRefused
from gradebox.sandbox.server.settings import Answer, Route, Routes, ServerRequest, telling

if TYPE_CHECKING:
    from gradebox.eval.api.service import GradeService

CONFIG = TABLES["config"]
BATCH_MOST, QUEUE_MOST = CONFIG["max_submission_batch_size"], CONFIG["max_queue_size"]
QUEUE_BYTES = 256 << 20
KEPT_BYTES, KEPT_MOST, KEPT_S = 256 << 20, 4_000, 3600.0
KEPT_LARGEST = 4 << 20  # without its output
ANSWER_CHARS = 32 << 20  # in the answer about a batch (else 413): many clients may ask at once


class Submissions:
    """Submissions by token: those that wait or run, and the last that ended."""

    def __init__(self, programs: ProgramRunner) -> None:
        self._programs = programs
        self._waiting: dict[str, Judge0Submission] = {}
        self._lock = threading.Lock()
        self._ended: LruCache[str, tuple[float, Judge0Submission]] = LruCache(
            KEPT_BYTES, cost=lambda kept: max(kept[1].size, KEPT_BYTES // KEPT_MOST)
        )

    def start(self, submissions: Sequence[Judge0Submission]) -> None:
        """Run submissions when there is a place. Raises RequestRefused."""
        largest = max((one.size for one in submissions), default=0)
        if largest > KEPT_LARGEST:
            why = f"{largest} bytes are too much to wait; at most {KEPT_LARGEST}, or send wait=true"
            raise RequestRefused(413, why)
        with self._lock:
            together = {**self._waiting, **{one.token: one for one in submissions}}
            size = sum(one.size for one in together.values())
            if len(together) > QUEUE_MOST or size > QUEUE_BYTES:
                raise RequestRefused(503, "the queue is full; try again later, or send wait=true")
            self._waiting = together
        for one in submissions:
            self._programs.pool.submit(self.run, one)

    def run(self, submission: Judge0Submission) -> None:
        """Run a submission now."""
        kept = submission.size <= KEPT_LARGEST
        try:
            submission.values = submission.run(self._programs)
            if kept:
                self._ended.put(submission.token, (time.monotonic(), submission))
        finally:
            with self._lock:
                self._waiting.pop(submission.token, None)

    def get(self, token: str) -> Mapping[str, Any] | None:
        """Return the fields of a submission that is still kept."""
        if (waiting := self._waiting.get(token)) is not None:
            return waiting.values
        ended_at, ended = self._ended.get(token) or (0.0, None)
        return ended.values if ended and time.monotonic() - ended_at < KEPT_S else None


def routes(service: GradeService) -> Routes:
    """Return the routes of this dialect."""
    programs = service.programs
    languages = languages_of(programs.installed)
    ceilings, kept = programs.ceilings, Submissions(programs)

    def create(request: ServerRequest) -> Answer:
        names, encoded = _wanted(request.parameters)
        submission = read_submission(request.body, languages, ceilings, encoded=encoded)
        if request.parameters.get("wait") != "true":
            kept.start([submission])
            return 201, {"token": submission.token}
        kept.run(submission)
        try:
            return 201, answered(submission.values, names, encoded=encoded)
        except BadRequest as error:
            return 201, {"error": str(error), "token": submission.token}

    def create_batch(request: ServerRequest) -> Answer:
        body = request.body
        rows = body.get("submissions") if isinstance(body, dict) else None
        _check_batch("submissions", rows)
        answers: list[dict[str, Any]] = []
        found = []
        for row in rows or ():
            try:
                encoded = _wanted(request.parameters)[1]
                found.append(read_submission(row, languages, ceilings, encoded=encoded))
                answers.append({"token": found[-1].token})
            except BadRequest as error:
                if error.detail is None:
                    raise
                answers.append(_invalid(error.detail))
        kept.start(found)
        return 201 if found else 422, answers

    def show(request: ServerRequest) -> Answer:
        names, encoded = _wanted(request.parameters)
        found = kept.get(request.parameters["token"])
        if found is None:
            raise RequestRefused(
                404, f"no submission {shown(request.parameters['token'])}, or not any more"
            )
        return 200, answered(found, names, encoded=encoded)

    def show_batch(request: ServerRequest) -> Answer:
        names, encoded = _wanted(request.parameters)
        tokens = [token for token in request.parameters.get("tokens", "").split(",") if token]
        _check_batch("tokens", tokens)
        shown_each, size = list[Any](), 0
        for one in map(kept.get, tokens):
            fields = one and answered(one, names, encoded=encoded)
            shown_each.append(fields)
            size += sum(len(text) for text in (fields or {}).values() if isinstance(text, str))
            if size > ANSWER_CHARS:
                why = f"the answer has over {ANSWER_CHARS} characters; ask for fewer at once"
                raise RequestRefused(413, why)
        return 200, {"submissions": shown_each}

    def refuse(_request: ServerRequest) -> Answer:
        raise BadRequest("submissions can't be deleted here; they are forgotten after an hour")

    def language(request: ServerRequest) -> Answer:
        about = next(
            (one for n, one in languages.items() if str(n) == request.parameters["id"]), None
        )
        if about is None:
            raise RequestRefused(404, f"no language {shown(request.parameters['id'])} here")
        return 200, about

    limits = limits_of(ceilings)
    most = {f"max_{name}": bounds[2] for name, bounds in limits.items()}
    listed = [{name: one[name] for name in ("id", "name")} for one in languages.values()]
    facts = {
        "/languages": listed,
        "/languages/all": listed,
        "/statuses": STATUSES,
        "/config_info": {**CONFIG, **{name: usual for name, (usual, *_) in limits.items()}, **most},
        "/system_info": {"Architecture": platform.machine(), "CPU(s)": programs.sandbox.slots},
    }
    asking = {
        ("POST", "/submissions"): create,
        ("POST", "/submissions/batch"): create_batch,
        ("GET", "/submissions/batch"): show_batch,
        ("GET", "/submissions/{token}"): show,
        ("DELETE", "/submissions/{token}"): refuse,
        ("GET", "/languages/{id}"): language,
    }
    made: dict[tuple[str, str], Route] = {}
    for start, version in TABLES["versions"].items():
        told = {**facts, "/about": {"version": version, "maintainer": "gradebox"}}
        made |= {("GET", start + path): telling(told[path]) for path in told}
        made |= {(method, start + path): route for (method, path), route in asking.items()}
    return made


def judge0_form(error: Exception) -> Answer | None:
    """422 a wrong submission, 400 what else the client has to change."""
    if isinstance(error, RequestRefused):
        return error.status, {"error": str(error)}
    if not isinstance(error, BadRequest):
        return None
    return (400, {"error": str(error)}) if error.detail is None else (422, _invalid(error.detail))


def _invalid(detail: Mapping[str, Any]) -> dict[str, list[str]]:
    return {str(detail["loc"][-1]): [str(detail["msg"])]}


def _check_batch(name: str, given: Any) -> None:
    count = len(given) if isinstance(given, list) else 0
    if not 0 < count <= BATCH_MOST:
        raise BadRequest(f"{name} has {count} elements: it must have 1 to {BATCH_MOST}")


def _wanted(parameters: Mapping[str, str]) -> tuple[Sequence[str], bool]:
    """Return the fields that are asked for, and whether texts are base64. Raises BadRequest."""
    names = [name for name in parameters.get("fields", "").split(",") if name]
    unknown = [name for name in names if name not in FIELDS and name != "*"]
    if unknown:
        raise BadRequest(f"fields has {shown(unknown[0])}: there are {', '.join(FIELDS)}")
    fields = FIELDS if "*" in names else names or TABLES["default_fields"]
    return fields, parameters.get("base64_encoded") == "true"

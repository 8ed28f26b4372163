"""One request to `POST /grade` of our server: send it, validate the reply.

    SentProblem ─ small: in the request │ large: POST /problems, once for each server ─▶ its name
    solutions, problem or name, flags ─ POST /grade ─▶ records

A reply is untrusted. One that does not fit the request gives no verdict: it raises Transient, and
the request is sent again, to another server first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.in_memory import Row
from gradebox.eval.results.record_shape import is_record
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.errors import Transient
from gradebox.sandbox.piston.fleet import Endpoint

INLINE_BYTES = 32 << 10  # of a problem that is sent with every request
MOST_REPLY_BYTES = 1 << 30
UPLOAD_S = 300.0  # for a server to take a problem
MOST_UPLOADS = 3  # for one request; a server forgets problems when it has many


@dataclass(frozen=True)
class SentProblem:
    """A problem for servers.

    key         the same for the same problem only
    size_bytes  of its tests and programs
    row         returns its row
    """

    key: Hashable
    size_bytes: int
    row: Callable[[], Row]


@dataclass(frozen=True)
class GradeRequest:
    """Solutions of one problem; `problem` None: of the data set of the server."""

    solutions: Sequence[Solution]
    problem: SentProblem | None
    flags: Mapping[str, Any]
    time_limit_s: float | None = None

    def ask(self, endpoint: Endpoint, timeout_s: float) -> list[dict[str, Any]]:
        """Return a record for each solution, in order, with this side's names and line numbers.

        timeout_s  for the answer to begin

        Raises Transient, Refused, and InputError for values that JSON lacks.
        """
        problem = self.problem
        if problem is None:
            return self._records(_post(endpoint, "/grade", self._body(), timeout_s))
        if problem.size_bytes <= INLINE_BYTES:
            body = self._body(problem=problem.row())
            return self._records(_post(endpoint, "/grade", body, timeout_s))
        for _ in range(MOST_UPLOADS):
            name = self._upload(endpoint, problem)
            answer = _post(endpoint, "/grade", self._body(problem=name), timeout_s)
            if "missing" not in answer:
                return self._records(answer)
            endpoint.problems.pop(problem.key)
        raise Transient(f"{endpoint.url} forgot a problem {MOST_UPLOADS} times before grading it")

    def _upload(self, endpoint: Endpoint, problem: SentProblem) -> str:
        """Return the server's name of a problem; send it if the server was not sent it before."""
        with endpoint.uploading:
            name = endpoint.problems.get(problem.key)
            if name is None:
                body = {"problem": problem.row(), "judge": self.flags.get("judge", "strict")}
                name = _post(endpoint, "/problems", body, UPLOAD_S).get("problem")
                if not isinstance(name, str):
                    raise Transient(f"{endpoint.url} took a problem without naming it")
                endpoint.problems.put(problem.key, name)
            return name

    def _body(self, **problem: Row | str) -> dict[str, Any]:
        solutions = [
            {
                **({"problem_id": s.problem_id} if self.problem is None else {}),
                "solution_id": s.solution_id,
                "language": s.language,
                **({"completion": s.response or ""} if s.code is None else {"code": s.code}),
            }
            for s in self.solutions
        ]
        own = {"solutions": solutions, "flags": self.flags, "time_limit_s": self.time_limit_s}
        return {**own, **problem}

    def _records(self, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
        records, wanted = answer.get("records"), len(self.solutions)
        if not isinstance(records, list) or len(records) != wanted:
            raise Transient(f"the server's records are {shown(records)}, not {wanted} records")
        if not all(map(is_record, records)):
            raise Transient(
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
            for record, s in zip(records, self.solutions, strict=True)
        ]


def _post(
    endpoint: Endpoint, route: str, body: Mapping[str, Any], timeout_s: float
) -> dict[str, Any]:
    raw = json.dumps(body, default=_plain).encode()
    answer = endpoint.transport.post(route, raw, timeout_s, MOST_REPLY_BYTES)
    if not isinstance(answer, dict):
        raise Transient(f"{endpoint.url}{route} answered {shown(answer)}, not an object")
    return answer


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise InputError(
        f"a problem has the value {shown(value)}, which can't be sent; give text, numbers and lists"
    )

"""What the server's `POST /grade` does: `sandbox.server` loads `open_service` by name.

    {"solutions": [row…], "problem": row | id, "flags": {…}, "time_limit_s": …} ─▶ {"records": […]}

`problems` (a list of rows) may stand in place of `problem`. A request may choose only flags
that read nothing of this machine, and no limits beyond the server's own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from eval.given_problems import GivenBook, Row
from eval.grader import Grader, GraderClosed
from eval.input_error import InputError, shown
from sandbox.errors import BadRequest
from sandbox.protocol import Sandbox
from sandbox.server.settings import Ceilings

MOST_SOLUTIONS = 4096
MOST_REPEATS = 16
GRADERS_KEPT = 8
KEYS = frozenset({"solutions", "problem", "problems", "flags", "time_limit_s"})


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_repeat(value: object) -> bool:
    return _is_count(value) and isinstance(value, int) and value <= MOST_REPEATS


def _is_scale(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(f, (int, float)) for f in value.values())


# flag → whether a request's value for it can be one, and what can; Options has the last word.
FLAGS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "stop_on_first_failure": (_is_flag, "true or false"),
    "compare": (_is_text, "text"),
    "max_stored_output": (_is_count, "a whole number"),
    "repeat": (_is_repeat, f"a whole number, at most {MOST_REPEATS},"),
    "time_limit_scale": (_is_scale, "an object of languages and factors"),
}


class GradeService:
    """Grades requests with warm graders over one sandbox. From any thread."""

    def __init__(self, sandbox: Sandbox, dataset: str | None, ceilings: Ceilings) -> None:
        self._sandbox = sandbox
        self._dataset = dataset
        self._ceilings = ceilings
        self._lock = threading.Lock()
        self._graders: OrderedDict[str, Grader] = OrderedDict()

    def grade(self, body: Any) -> dict[str, Any]:
        """The records of a request; BadRequest for one that can't be graded at all."""
        if not isinstance(body, dict):
            raise BadRequest(f"the request is {shown(body)}: an object is needed")
        unknown = sorted(set(body) - KEYS)
        if unknown:
            raise BadRequest(f"unknown field {shown(unknown[0])}: known: {', '.join(sorted(KEYS))}")
        try:
            solutions = _solutions(body.get("solutions"))
            problem = body.get("problem")
            rows = self._rows(problem, body.get("problems"))
            if isinstance(problem, str):
                solutions = [{**row, "problem_id": problem} for row in solutions]
            scale = _scale(body.get("flags"))
            if rows is not None:
                self._check_limits(rows, scale)
            seconds = body.get("time_limit_s")
            if seconds is not None and (isinstance(seconds, bool) or not _is_number(seconds)):
                raise BadRequest(f"time_limit_s is {shown(seconds)}: seconds or null is needed")
            while True:
                try:
                    grader = self._grader(body.get("flags"))
                    return {"records": grader.grade(solutions, rows, time_limit_s=seconds)}
                except GraderClosed:  # put aside by others between the two calls
                    continue
        except InputError as error:
            raise BadRequest(str(error)) from None

    def _rows(self, problem: object, problems: object) -> list[Row] | None:
        """The rows of a request; None when it only names problems of the dataset."""
        if isinstance(problem, dict):
            return [problem]
        if isinstance(problems, list):
            if not all(isinstance(row, dict) for row in problems):
                raise BadRequest("problems has an element that is no object: rows are needed")
            return problems
        if problems is not None:
            raise BadRequest(f"problems is {shown(problems)}: a list of rows is needed")
        if problem is not None and not isinstance(problem, str):
            raise BadRequest(f"problem is {shown(problem)}: a row or an id is needed")
        if self._dataset is None:
            raise BadRequest(
                "problems are named by id, but this server has no --dataset: give the problem's row"
            )
        return None

    def _check_limits(self, rows: list[Row], scale: float) -> None:
        """Refuses limits that no request may ask for, as /api/v2/execute does."""
        book = GivenBook(rows)
        cpu_s = self._ceilings.run_cpu_time / 1000
        for name in book.ids():
            problem = book.get(name)
            if problem is None:
                continue
            if problem.time_limit_s * scale > cpu_s:
                raise BadRequest(
                    f"problem {name}: time_limit {problem.time_limit_s * scale:g} s is over this "
                    f"server's {cpu_s:g} s (PISTON_RUN_CPU_TIME)"
                )
            if problem.memory_limit_bytes > self._ceilings.run_memory_limit:
                raise BadRequest(
                    f"problem {name}: memory_limit {problem.memory_limit_bytes >> 20} MB is over "
                    f"this server's {self._ceilings.run_memory_limit >> 20} MB "
                    "(PISTON_RUN_MEMORY_LIMIT)"
                )

    def _grader(self, flags: object) -> Grader:
        flags = {} if flags is None else flags
        if not isinstance(flags, dict):
            raise BadRequest(f"flags is {shown(flags)}: an object is needed")
        for name, value in flags.items():
            if name not in FLAGS:
                raise BadRequest(
                    f"flag {shown(name)} can't be set by a request: {', '.join(FLAGS)} can"
                )
            can_be, needed = FLAGS[name]
            if not can_be(value):
                raise BadRequest(f"flag {name} can't be {shown(value)}: {needed} is needed")
        key = repr(sorted(flags.items()))
        with self._lock:
            found = self._graders.pop(key, None)
            if found is None:
                found = self._open(flags)
            self._graders[key] = found
            surplus = len(self._graders) - GRADERS_KEPT
            old = [self._graders.popitem(last=False)[1] for _ in range(surplus)]
        for grader in old:
            threading.Thread(target=grader.close_when_idle, daemon=True).start()
        return found

    def _open(self, flags: dict[str, Any]) -> Grader:
        return Grader(
            self._dataset, sandbox=self._sandbox, **{"workers": self._sandbox.slots, **flags}
        )

    def open_dataset(self) -> None:
        """Opens the dataset now, so that a wrong one is told at the start."""
        if self._dataset is not None:
            self._grader(None).warm_up()

    def close(self) -> None:
        """Frees what the graders keep; the sandbox stays the server's."""
        with self._lock:
            graders = list(self._graders.values())
            self._graders.clear()
        for grader in graders:
            grader.close()


def _solutions(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise BadRequest(f"solutions is {shown(value)}: a list of objects is needed")
    for i, row in enumerate(value):
        if not isinstance(row, dict):
            raise BadRequest(f"solutions[{i}] is {shown(row)}: a list of objects is needed")
    if len(value) > MOST_SOLUTIONS:
        raise BadRequest(
            f"solutions has {len(value)} elements, at most {MOST_SOLUTIONS} fit a request: "
            "send several"
        )
    return value


def _scale(flags: object) -> float:
    """The largest factor on time limits that a request asks for, 1 at least."""
    scales = flags.get("time_limit_scale") if isinstance(flags, dict) else None
    values = scales.values() if isinstance(scales, dict) else ()
    return max([1.0, *(float(f) for f in values if _is_number(f))])


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def open_service(sandbox: Sandbox, dataset: str | None, ceilings: Ceilings) -> GradeService:
    """What the server asks for by name; BadRequest for a dataset that can't be had."""
    service = GradeService(sandbox, dataset, ceilings)
    try:
        service.open_dataset()
    except InputError as error:
        raise BadRequest(str(error)) from None
    return service

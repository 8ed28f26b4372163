"""The service behind the server's `POST /grade`; `gradebox.sandbox.server` loads it by name.

    {"solutions": [row…], "problem": row | id, "flags": {…}, "time_limit_s": …} ─▶ {"records": […]}

A request may have `problems`, a list of rows, instead of `problem`. It can set only flags that
read no file of this machine, and no limit above the server's own.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from gradebox.eval.api.grader import Grader, GraderClosed
from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.grading.options import FLAGS, Options
from gradebox.eval.problems.in_memory import InMemoryProblems, Row
from gradebox.eval.problems.row import TESTS_COLUMN
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.body import check_structure, structure_bytes
from gradebox.sandbox.server.settings import Ceilings

MAX_SOLUTIONS = 4096
GRADERS_KEPT = 8
TEXTS_OF_JSON = (TESTS_COLUMN, "public_test_cases", "private_test_cases", "metadata")
FIELDS = frozenset({"solutions", "problem", "problems", "flags", "time_limit_s"})
REQUEST_FLAGS = {name: flag for name, flag in FLAGS.items() if flag.request}


class GradeService:
    """Grade requests over one sandbox, with one warm grader for each set of flags.

    Any thread may call any method.
    """

    def __init__(self, sandbox: Sandbox, dataset: str | None, ceilings: Ceilings) -> None:
        self._sandbox = sandbox
        self._dataset = dataset
        self._ceilings = ceilings
        self._lock = threading.Lock()
        self._closed = False
        self._graders: LruCache[str, Grader] = LruCache(GRADERS_KEPT, dropped=self._retire)

    def grade(self, body: Any) -> dict[str, Any]:
        """Return the records of a request. Raises BadRequest for one that cannot be graded."""
        if not isinstance(body, dict):
            raise BadRequest(f"the request is {shown(body)}; it must be an object")
        unknown = sorted(set(body) - FIELDS)
        if unknown:
            raise BadRequest(
                f"unknown field {shown(unknown[0])}; the fields are {', '.join(sorted(FIELDS))}"
            )
        try:
            flags = _flags(body.get("flags"))
            solutions = _solutions(body.get("solutions"))
            problem = body.get("problem")
            rows = self._rows(problem, body.get("problems"))
            if isinstance(problem, str):
                solutions = [{**row, "problem_id": problem} for row in solutions]
            time_limit_s = body.get("time_limit_s")
            if not (time_limit_s is None or _is_number(time_limit_s)):
                raise BadRequest(
                    f"time_limit_s is {shown(time_limit_s)}; it must be seconds or null"
                )
            while True:
                grader = self._grader(flags)
                if rows is not None:
                    self._check_limits(rows, grader.options, len(solutions))
                try:
                    return {"records": grader.grade(solutions, rows, time_limit_s=time_limit_s)}
                except GraderClosed:  # dropped from the cache by another request in between
                    continue
        except InputError as error:
            raise BadRequest(str(error)) from None

    def _rows(self, problem: object, problems: object) -> list[Row] | None:
        """Return the rows of a request; None when it names problems of the dataset."""
        if isinstance(problem, dict):
            problems = [problem]
        if isinstance(problems, list):
            if not all(isinstance(row, dict) for row in problems):
                raise BadRequest("an element of problems is not an object; give a list of rows")
            tests = [row.get(name) for row in problems for name in TEXTS_OF_JSON]
            if any(isinstance(t, str) and t[:1].isalnum() for t in tests):
                raise BadRequest(
                    "a problem has packed tests: give private_test_cases as JSON, which has a size"
                )
            # tests may be JSON text, which a string of the request hides from its checks
            check_structure(
                sum(
                    structure_bytes(t.encode("utf-8", "surrogatepass"))
                    for t in tests
                    if isinstance(t, str)
                )
            )
            return problems
        if problems is not None:
            raise BadRequest(f"problems is {shown(problems)}; give a list of rows")
        if problem is not None and not isinstance(problem, str):
            raise BadRequest(f"problem is {shown(problem)}; give a row or an id")
        if self._dataset is None:
            raise BadRequest(
                "the request names its problems by id, but this server was started without "
                "--dataset; give the problem's row"
            )
        return None

    def _check_limits(self, rows: list[Row], options: Options, solutions: int) -> None:
        """Refuse limits above the server's own, as /api/v2/execute does."""
        scale = max([1.0, *options.time_limit_scale.values()])
        runs = solutions * options.repeat  # of each test
        max_cpu_s = self._ceilings.run_cpu_time / 1000
        max_memory = self._ceilings.run_memory_limit
        book = InMemoryProblems(rows)
        for name in book.ids():
            problem = book.get(name)
            if problem is None:
                continue
            self._check_cases(name, len(problem.tests) * runs, options.max_stored_output)
            if problem.time_limit_s * scale > max_cpu_s:
                raise BadRequest(
                    f"problem {name}: its time limit of {problem.time_limit_s * scale:g} s is over "
                    f"this server's limit of {max_cpu_s:g} s; lower it, or start the server with a "
                    "larger PISTON_RUN_CPU_TIME"
                )
            if problem.memory_limit_bytes > max_memory:
                raise BadRequest(
                    f"problem {name}: its memory limit of {problem.memory_limit_bytes >> 20} MB is "
                    f"over this server's limit of {max_memory >> 20} MB; lower it, or start the "
                    "server with a larger PISTON_RUN_MEMORY_LIMIT"
                )

    def _check_cases(self, name: str, cases: int, stored_bytes: int) -> None:
        """Refuse a problem whose records would not fit into memory."""
        most = self._ceilings.grade_cases
        if cases > most:
            raise BadRequest(
                f"problem {name} has {cases} cases (solutions times tests times repeat); a request "
                f"may have at most {most}, so send several requests"
            )
        most = self._ceilings.grade_stored_size
        if cases * stored_bytes > most:
            raise BadRequest(
                f"problem {name} has {cases} cases that store {stored_bytes} bytes each; a request "
                f"may store at most {most}: lower max_stored_output, or send several requests"
            )

    def _grader(self, flags: Mapping[str, Any]) -> Grader:
        key = repr(sorted(flags.items()))
        with self._lock:
            grader = self._graders.get(key)
            if grader is None:
                options = {"workers": self._sandbox.slots, **flags}
                grader = Grader(self._dataset, sandbox=self._sandbox, **options)
                self._graders.put(key, grader)
        return grader

    def _retire(self, grader: Grader) -> None:
        """Close a grader that left the cache; other requests may still be using it."""
        if self._closed:
            grader.close()
        else:
            threading.Thread(target=grader.close_when_idle, daemon=True).start()

    def open_dataset(self) -> None:
        """Open the dataset now, so that the server does not start with a wrong one."""
        if self._dataset is not None:
            self._grader({}).warm_up()

    def close(self) -> None:
        """Close the graders; the sandbox belongs to the server."""
        self._closed = True
        self._graders.clear()


def open_service(sandbox: Sandbox, dataset: str | None, ceilings: Ceilings) -> GradeService:
    """Return the service that the server runs. Raises BadRequest for an unusable dataset."""
    service = GradeService(sandbox, dataset, ceilings)
    try:
        service.open_dataset()
    except InputError as error:
        raise BadRequest(str(error)) from None
    return service


def _flags(value: object) -> dict[str, Any]:
    """Return a request's flags; `Options` checks their values."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadRequest(f"flags is {shown(value)}; it must be an object")
    for name, given in value.items():
        flag = REQUEST_FLAGS.get(name)
        if flag is None:
            raise BadRequest(
                f"a request cannot set the flag {shown(name)}; it can set "
                f"{', '.join(REQUEST_FLAGS)}"
            )
        most = flag.request_most
        if most is not None and _is_number(given) and given > most:
            raise BadRequest(f"the flag {name} is {shown(given)}; a request may set at most {most}")
    return value


def _solutions(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise BadRequest(f"solutions is {shown(value)}; give a list of objects")
    for i, row in enumerate(value):
        if not isinstance(row, dict):
            raise BadRequest(f"solutions[{i}] is {shown(row)}; give a list of objects")
    if len(value) > MAX_SOLUTIONS:
        raise BadRequest(
            f"solutions has {len(value)} elements; a request may have at most {MAX_SOLUTIONS}, "
            "so send several requests"
        )
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

"""What `gradebox.sandbox.server` loads by name: the grading call, the routes, a judge of outputs.

    POST /grade
    {"solutions": [row…], "problem": row | id, "flags": {…}, "time_limit_s": …} ─▶ {"records": […]}

    POST /problems
    {"problem": row, "judge": …} ─▶ {"problem": name}   which /grade takes until it is forgotten

A request may have `problems`, a list of rows, instead of `problem`. Every route that grades makes
the same call, those of other servers' dialects (dialects/) as well:

    solutions, problems, flags ─ limits ─▶ a warm grader for these flags ─▶ records

It can set only flags that read no file of this machine, and no limit above the server's own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gradebox.checkers import open_checker
from gradebox.checkers.check import Checker
from gradebox.checkers.long_outputs import first_difference
from gradebox.eval.api.dialects import dialect_routes
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grader import Grader
from gradebox.eval.common.errors import DriversUnavailable, InputError, shown
from gradebox.eval.grading.drivers.pool import DriverPool, open_drivers
from gradebox.eval.grading.options import FLAGS, Options
from gradebox.eval.problems.formats import Judge
from gradebox.eval.problems.in_memory import InMemoryProblems, Row
from gradebox.eval.problems.row.tests import TESTS_COLUMN
from gradebox.eval.results.records import EncodedRecord, line_of
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest, SandboxUnavailable
from gradebox.sandbox.model import MIB
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.incoming import check_structure, structure_bytes
from gradebox.sandbox.server.request import is_number
from gradebox.sandbox.server.settings import (
    Answer,
    Judgement,
    Routes,
    ServerRequest,
    ServerSettings,
)

T = TypeVar("T")

MAX_SOLUTIONS = 4096
KEPT, KEPT_BYTES = "kept:", 512 << 20  # what begins their names, and their tests together
GRADERS_KEPT = 8
TEXTS_OF_JSON = (TESTS_COLUMN, "public_test_cases", "private_test_cases", "metadata")
REQUEST_FLAGS = {name: flag for name, flag in FLAGS.items() if flag.request}


class GradeBody(msgspec.Struct, forbid_unknown_fields=True):
    """What POST /grade is asked; `problem` is a row, or an id of the data set or of /problems."""

    solutions: list[dict[str, Any]]
    problem: dict[str, Any] | str | None = None
    problems: list[Row] | None = None
    flags: dict[str, Any] | None = None
    time_limit_s: float | None = None


class KeepBody(msgspec.Struct):
    """What POST /problems is asked."""

    problem: dict[str, Any]
    judge: Judge | None = None


class GradeService:
    """Grades over one sandbox, with one warm grader for each set of flags.

    All graders share the same drivers, which are started at once. Any thread may call any method.
    Raises InputError for drivers that cannot be started.
    """

    def __init__(self, sandbox: Sandbox, settings: ServerSettings) -> None:
        self._sandbox = sandbox
        self._settings = settings
        self.dataset = settings.dataset  # whose problems solutions may name; None: there is none
        self._lock = threading.Lock()
        self._closed = False
        self._kept: LruCache[str, InMemoryProblems] = LruCache(KEPT_BYTES, cost=_size)
        self._graders: LruCache[str, Grader] = LruCache(GRADERS_KEPT, dropped=Grader.retire)
        self._drivers = self._open_drivers()
        self.programs = ProgramRunner(sandbox, settings.ceilings)
        # Each checker is compiled once for many cases. A dropped one may still be in use, so it is
        # not closed but freed with its last user.
        self._checkers: LruCache[str, Checker] = LruCache(64)

    def _open_drivers(self) -> DriverPool | None:
        """Start the drivers of all graders; None when this process grades by itself."""
        slots, given = self._sandbox.slots, self._settings.drivers
        if given > slots:
            raise BadRequest(
                f"--drivers {given} is more than --slots {slots}: give at most {slots}"
            )
        options = Options(solutions_path=(), workers=slots, drivers=given)
        if options.drivers == 1 or self._sandbox.describe().backend != "box":
            return None
        hidden = [path for path in [self._settings.dataset] if path and Path(path).exists()]
        return open_drivers(options, self._sandbox, hidden)

    def problem_ids(self) -> list[str]:
        """Return the ids of the server's data set, [] without one."""
        return self._grader({}).problem_ids() if self.dataset else []

    # ---- routes ----

    @property
    def routes(self) -> Routes:
        """See `Grading.routes`."""
        own = {("POST", "/grade"): self._answer_grade, ("POST", "/problems"): self._answer_keep}
        return {**own, **dialect_routes(self)}

    def _answer_keep(self, request: ServerRequest) -> Answer:
        """Keep a problem for later calls, under a name that depends on what it is."""
        asked = _read(KeepBody, request.body)
        _check_texts([asked.problem])
        found = InMemoryProblems([asked.problem], asked.judge or "strict")
        problem = found.get(found.only_id)
        if problem is None:
            raise BadRequest(found.why_missing(found.only_id))
        name = KEPT + problem.digest
        self._kept.put(name, found)
        return 200, {"problem": name}

    def _answer_grade(self, request: ServerRequest) -> Answer:
        asked = _read(GradeBody, request.body)
        solutions, problem = asked.solutions, asked.problem
        rows: list[Row] | InMemoryProblems | None = asked.problems
        if isinstance(problem, dict):
            rows = [problem]
        elif problem is not None and problem.startswith(KEPT):
            rows = self.kept(problem)
            if rows is None:
                return 200, {"missing": problem}
        elif problem is not None:
            solutions = [{**row, "problem_id": problem} for row in solutions]
        records = self.grade(
            solutions,
            rows,
            flags=asked.flags,
            time_limit_s=asked.time_limit_s,
            cancelled=request.cancelled,
        )
        return 200, {"records": [line_of(record) for record in records]}

    # ---- the grading call ----

    def kept(self, name: str) -> InMemoryProblems | None:
        """Return a problem that was kept, None when it was forgotten since."""
        return self._kept.get(name)

    def grade(
        self,
        solutions: Sequence[Row],
        problems: Sequence[Row] | InMemoryProblems | None,
        *,
        flags: Mapping[str, Any] | None = None,
        time_limit_s: float | None = None,
        cancelled: Cancellation | None = None,
    ) -> list[dict[str, Any] | EncodedRecord]:
        """Return a record for each solution, in order (docs/records.md describes records).

        solutions     rows as in a solutions file, at most MAX_SOLUTIONS
        problems      rows of any data set that is recognised, or problems that were kept; None:
                      solutions name problems of the server's data set. A single problem need not
                      be named by the solutions
        flags         those of REQUEST_FLAGS, by their names in `Options`
        time_limit_s  seconds of running programs, summed over all cores and divided by the cores;
                      solutions that are not graded in time get records of status `error`
        cancelled     ends the call after the running cases

        Raises BadRequest for what the client has to change, SandboxError for what the server's
        operator has to. Anything else that cannot be graded has a record that says why.
        """
        if problems is None and not self.dataset:
            raise BadRequest(
                "the request names its problems by id, but this server was started without "
                "--dataset; give the problem's row"
            )
        if len(solutions) > MAX_SOLUTIONS:
            raise BadRequest(
                f"solutions has {len(solutions)} elements; a request may have at most "
                f"{MAX_SOLUTIONS}, so send several requests"
            )
        flags = flags or {}
        check_flags(flags)
        if problems is not None and not isinstance(problems, InMemoryProblems):
            _check_texts(problems)
        try:
            grader = self._grader(flags)
            found = None
            if problems is not None:
                found = (
                    problems
                    if isinstance(problems, InMemoryProblems)
                    else InMemoryProblems(problems, grader.options.judge)
                )
                self._check_limits(found, grader.options, len(solutions))
            return grader.grade_encoded(solutions, found, time_limit_s, cancelled)
        except DriversUnavailable as error:
            raise SandboxUnavailable(str(error)) from None
        except InputError as error:
            raise BadRequest(str(error)) from None

    def _check_limits(self, book: InMemoryProblems, options: Options, solutions: int) -> None:
        """Refuse limits above the server's own, and records that would not fit into memory."""
        ceilings = self._settings.ceilings
        scale = max([1.0, *options.time_limit_scale.values()])
        for problem in filter(None, map(book.get, book.ids())):
            cases = len(problem.tests) * solutions * options.repeat
            stored = cases * options.max_stored_output
            time_s, memory = problem.time_limit_s * scale, problem.memory_limit_bytes
            for value, most, what, remedy in (
                (cases, ceilings.grade_cases, "cases", "send several requests"),
                (stored, ceilings.grade_stored_size, "stored bytes", "lower max_stored_output"),
                (time_s, ceilings.run_cpu_time / 1000, "s of time limit", "lower it"),
                (memory / MIB, ceilings.run_memory_limit / MIB, "MB of memory limit", "lower it"),
            ):
                if value > most:
                    raise BadRequest(
                        f"problem {problem.id} has {value:.15g} {what}; a request may have at most "
                        f"{most:.15g} here: {remedy}, or start the server with a larger limit "
                        "(docs/server.md)"
                    )

    def _grader(self, flags: Mapping[str, Any]) -> Grader:
        key = repr(sorted(flags.items()))
        with self._lock:
            if self._closed:
                raise SandboxUnavailable("the server is being stopped")
            return self._graders.find(key, lambda: self._new_grader(flags))

    def _new_grader(self, flags: Mapping[str, Any]) -> Grader:
        return Grader(
            self._settings.dataset,
            sandbox=self._sandbox,
            drivers=self._drivers or 1,
            **{"workers": self._sandbox.slots, **flags},
        )

    def judge(self, input: bytes, output: bytes, expected: bytes, checker: str | None) -> Judgement:
        """See `Grading.judge`; `checker` is the source of a Python checker.

        The checker decides, in a sandbox that contains only the solution's output, unless that has
        the very bytes of the expected one. Without a checker the two are compared (open-r1
        comparison).
        """
        program = None if checker is None else self._checker(checker)
        why = first_difference(output, expected, "open-r1" if program is None else "exact")
        if program is None or not why:
            return Judgement("rejected" if why else "accepted", "diff", why)
        check = program.check(input, output, expected)
        return Judgement(check.outcome, "checker", check.message)

    def _checker(self, source: str) -> Checker | None:
        found = self._checkers.get(source)
        if found is None:
            found = open_checker(self._sandbox, source=source, name=None)
            if found is not None:
                self._checkers.put(source, found)
        return found

    def warm_up(self) -> None:
        """Open the data set now; raise InputError for an unusable one."""
        if self.dataset:
            self._grader({}).warm_up()

    def close(self) -> None:
        """Stop running calls and close the graders; the sandbox belongs to the server."""
        with self._lock:
            self._closed = True
        for grader in self._graders.clear():
            grader.close()
        if self._drivers is not None:
            self._drivers.close()
        self.programs.close()


def open_service(sandbox: Sandbox, settings: ServerSettings) -> GradeService:
    """Return the service that the server runs. Raises BadRequest for an unusable dataset."""
    try:
        service = GradeService(sandbox, settings)
        service.warm_up()
    except InputError as error:
        raise BadRequest(str(error)) from None
    return service


def _read(kind: type[T], body: Any) -> T:
    try:
        return msgspec.convert(body, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise BadRequest(f"the request is wrong: {error} (its fields: docs/server.md)") from None


def _size(problems: InMemoryProblems) -> int:
    tests = (test for name in problems.ids() for test in getattr(problems.get(name), "tests", ()))
    return 4096 + sum(len(given) + len(expected) + 100 for given, expected in tests)


def _check_texts(rows: Sequence[Row]) -> None:
    """Refuse rows with JSON inside strings that has more parts than a request may have."""
    tests = [row.get(name) for row in rows for name in TEXTS_OF_JSON]
    if any(isinstance(t, str) and t[:1].isalnum() for t in tests):
        raise BadRequest(
            "a problem has packed tests: give private_test_cases as JSON, which has a size"
        )
    # the tests of our own rows are no JSON themselves
    others = (
        {n: v for n, v in row.items() if n != TESTS_COLUMN or isinstance(v, str)} for row in rows
    )
    texts = (t for row in others for t in _texts(row) if t.lstrip()[:1] in ("[", "{"))
    check_structure(sum(structure_bytes(t.encode("utf-8", "surrogatepass")) for t in texts))


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a JSON value; readers of data sets decode those that are JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def check_flags(flags: Mapping[str, Any]) -> None:
    """Raise BadRequest for flags that no request may set; `Options` checks their values."""
    for name, given in flags.items():
        flag = REQUEST_FLAGS.get(name)
        if flag is None:
            raise BadRequest(
                f"a request cannot set the flag {shown(name)}; it can set "
                f"{', '.join(REQUEST_FLAGS)}"
            )
        most = flag.request_most
        if most is not None and is_number(given) and given > most:
            raise BadRequest(f"the flag {name} is {shown(given)}; a request may set at most {most}")

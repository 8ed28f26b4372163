"""Run an edited program, or a case with another input, as `debug` runs a case.

    record, case ─ case_in ─▶ OpenedCase ─ its program or test replaced ─▶ compile, CaseGrader
        ─▶ a record ─▶ row and detail for the page

One session, and in it one box, stays open for the run that was asked for last.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import msgspec

from gradebox.eval.common.errors import InputError
from gradebox.eval.debugging.find import Results, find_case
from gradebox.eval.debugging.reopen import (
    OpenedCase,
    Overrides,
    case_in,
    check_runnable,
    run_options,
)
from gradebox.eval.grading.cases.case_run import unjudged
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import case_grader
from gradebox.eval.grading.solution_run import compile_error, compile_fields, record_of_cases
from gradebox.eval.problems.chosen_tests import ProblemTests
from gradebox.eval.problems.problem import TestCase
from gradebox.eval.reporting.page_data import detail_of, row_of
from gradebox.eval.results.record import CaseRecord, SolutionRecord, as_json
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.errors import RequestRefused, SandboxError
from gradebox.sandbox.protocol import Sandbox

ALL_S = 60.0  # after which no further case of all begins
STORED_BYTES = 64 << 10  # of each text in an answer
EDITED_BYTES = 256 << 10  # of a test that the page may edit


class Edit(msgspec.Struct, frozen=True):
    """What the page asks for.

    program          the whole program
    case             such as "official:0"; None for all cases
    given, expected  of the case's test; None keeps its own
    """

    program: str
    case: str | None = None
    given: str | None = None
    expected: str | None = None

    @classmethod
    def of(cls, body: Any) -> Edit:
        """Return the edit of a request's JSON. Raises RequestRefused for any other value."""
        try:
            return msgspec.convert(body, cls)
        except msgspec.ValidationError as error:
            raise RequestRefused(400, f"the body is not an edit: {error}") from None


class Reruns(Closeable):
    """Runs one edit at a time. Any thread may call any method.

    sandbox  the sandbox to use; None: that of the run is opened

    Raises InputError for what debug cannot run either, RequestRefused (429) while another runs.
    """

    def __init__(self, overrides: Overrides, sandbox: Sandbox | None = None) -> None:
        self._overrides = replace(overrides, workers=1)
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._session: GradingSession | None = None
        self._run: object = None

    def test(self, results: Results, record: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Return {given, expected} of a case's test, null when it is too large to edit."""
        with self._alone(), self._case(results, record, name, None) as opened:
            test = opened.test
            sizes = len(test.input), len(test.expected)
            if sum(sizes) > EDITED_BYTES:
                return {"given": None, "expected": None, "bytes": sizes}
            given, expected = (d.decode("utf-8", "replace") for d in (test.input, test.expected))
            return {"given": given, "expected": expected, "bytes": sizes}

    def run(self, results: Results, record: Mapping[str, Any], edit: Edit) -> dict[str, Any]:
        """Run an edit; return {row, detail, judged, seconds}.

        `judged` is false where the input was changed and the expected output was not.
        """
        name = edit.case or _first_case(record)
        with self._alone(), self._case(results, record, name, edit.program) as opened:
            began, own = time.monotonic(), opened.test
            if edit.case and edit.given is not None:
                opened = _with_test(opened, edit.given, edit.expected)
            judged = opened.test.input == own.input or opened.test.expected != own.expected
            graded = as_json(_graded(opened, whole=edit.case is None))
        return {
            "row": row_of(graded),
            "detail": detail_of(graded, str(results.folder), every_text=True),
            "judged": judged,
            "seconds": round(time.monotonic() - began, 3),
        }

    def close(self) -> None:
        """End what runs, and close the box."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._lock.acquire(blocking=False):
            raise RequestRefused(429, "another program is running; wait for its result", 1)
        try:
            yield
        finally:
            self._lock.release()

    def _case(
        self, results: Results, record: Mapping[str, Any], name: str, program: str | None
    ) -> AbstractContextManager[OpenedCase]:
        case = find_case(record, name)
        check_runnable(record, case)
        if case["verdict"] == "SK" and case["reason"] != "not_run_after_failure":
            raise InputError(
                f"{name} was skipped by the run ({case['reason']}); gradebox debug runs it"
            )
        session = self._session_of(results)
        solution = Solution(
            str(record["problem_id"]),
            str(record.get("solution_id")),
            int(record.get("sample_i") or 0),
            int(record.get("line") or 0),
            str(record.get("language")),
            (program or "").encode("utf-8", "replace").decode(),
        )
        return case_in(session, record, case, solution)

    def _session_of(self, results: Results) -> GradingSession:
        run = (results.records, results.run.get("solutions_file"), str(results.flags))
        if self._session is None or run != self._run:
            self.close()
            self._session = GradingSession(run_options(results, self._overrides), self._sandbox)
            self._run = run
        return self._session


def _first_case(record: Mapping[str, Any]) -> str:
    check_runnable(record, None)
    for case in record["details"]:
        if case["verdict"] != "SK" or case["reason"] == "not_run_after_failure":
            return f"{case['case_type']}:{case['test_case_i']}"
    raise InputError("every case of this solution was skipped; there is nothing to run")


def _with_test(opened: OpenedCase, given: str, expected: str | None) -> OpenedCase:
    """Return the case with another test, on which the problem's judge decides as on its own."""
    old = opened.test
    test = TestCase(
        old.case_type,
        old.index,
        given.encode("utf-8", "replace"),
        old.expected if expected is None else expected.encode("utf-8", "replace"),
    )
    tests = ProblemTests.of(opened.resources.problem.id, [test])
    resources = replace(opened.resources, tests=tests)
    return replace(opened, resources=resources, test=test, ref=tests.plan[0])


def _graded(opened: OpenedCase, *, whole: bool) -> SolutionRecord:
    """Compile the program, and grade one case or all of its problem."""
    run = opened.solution_run
    refs = opened.resources.tests.plan if whole else (opened.ref,)
    settings = replace(opened.settings, stored_bytes=STORED_BYTES)
    until = time.monotonic() + ALL_S
    try:
        compiled = opened.compile()
    except SandboxError as error:
        raise InputError(f"the sandbox failed: {error}; try again") from None
    cases: list[CaseRecord] = []
    if compiled.ok:
        grader = case_grader(settings, run, opened.resources, compiled)
    for ref in refs:
        if not compiled.ok:
            cases.append(compile_error(ref))
        elif time.monotonic() > until:
            cases.append(unjudged(ref, "SK", "not_run_after_failure"))
        else:
            cases.append(grader.grade(ref))
    return record_of_cases(run, cases, compile_fields(compiled, STORED_BYTES))

"""--self-check: what is known beforehand is graded first; a run with a wrong judge never starts.

    each problem's checker   on the expected output of every test     must accept it
                             on an empty output                       must not accept all
    known solutions          gold_solutions of the dataset, and       right ones must pass,
                             --self-check-solutions FILE              wrong ones must fail

The checker itself is asked: the comparison, which would accept an expected output without
asking, is left out. Lines of FILE are those of a solutions file with `expect`: "passed" or
"failed", or an object whose `status` is one of them; lines without it are left out.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checkers.protocol import Checker
from eval.grade_case import Bench
from eval.grade_solution import SolutionJob, Subject, Workshop
from eval.input_error import InputError, shown
from eval.kits import Kit
from eval.materials import Materials
from eval.model import Problem, Solution, SolutionRecord
from eval.plan import Terms, subject_of
from eval.retry import Interrupted
from eval.scheduler import Scheduler
from eval.solution_files import read_lines
from eval.solutions import read_solutions
from eval.stopping import Stopper
from sandbox.errors import SandboxError, UnknownLanguage
from sandbox.languages import find

EXPECTED = ("passed", "failed")
REMEDY = "repair it, or choose other problems with --problems"
_BY_CHECKER = frozenset(("failed_checker", "presentation_error", "checker_unclear"))


@dataclass(frozen=True)
class Gold:
    """A solution of which is known whether it is right."""

    solution: Solution
    expect: str


@dataclass
class SelfCheck:
    """One self-check; `run` gives a line that says what was found in order."""

    materials: Materials
    bench: Bench
    terms: Terms
    stopper: Stopper
    asked: int = 0
    checkers: int = 0
    graded: dict[str, int] = field(default_factory=lambda: dict.fromkeys(EXPECTED, 0))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> str:
        """Raises InputError, naming problem and checker, at the first thing that is wrong."""
        started = time.monotonic()
        problems = self._problems()
        self._ask_checkers(list(problems.values()))
        if not self.stopper.event.is_set():
            self._grade(problems)
        return (
            f"self-check: {self.checkers} checkers asked {self.asked} times, "
            f"{self.graded['passed']} right and {self.graded['failed']} wrong programs graded: "
            f"all as expected ({time.monotonic() - started:.1f} s)"
        )

    def _problems(self) -> dict[str, Problem]:
        """The problems of the solutions to be graded, by id."""
        options, problems = self.materials.options, self.materials.problems
        found: dict[str, Problem] = {}
        for file in self.materials.files:
            for solution in read_solutions(
                [file], limit=options.limit, problems=options.problems, resolve=problems.resolve
            ):
                if solution.error is None and solution.problem_id not in found:
                    problem = problems.get(solution.problem_id)
                    if problem is not None:
                        found[problem.id] = problem
        return found

    # ---- checkers on what they must know ------------------------------------------------

    def _ask_checkers(self, problems: list[Problem]) -> None:
        with ThreadPoolExecutor(self.materials.options.workers) as pool:
            try:
                for _ in pool.map(self._ask_checker, problems):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _ask_checker(self, problem: Problem) -> None:
        if self.stopper.event.is_set():
            return
        try:
            kit = self.materials.shelf.borrow(problem)
        except InputError:  # the run says so of every solution, or ends with it
            return
        try:
            if kit.checker is not None:
                self._ask(kit, kit.checker)
        except Interrupted:
            return
        except SandboxError as e:
            raise InputError(f"self-check: the sandbox failed: {e}; start again") from None
        finally:
            self.materials.shelf.give_back(kit)

    def _ask(self, kit: Kit, checker: Checker) -> None:
        who = f"self-check: problem {kit.problem.id}: checker {checker.name}"
        asked, refused, fooled = 0, False, 0
        for ref in kit.tests.plan:
            if ref.skip is not None or self.stopper.event.is_set():
                continue
            test = kit.tests.load(ref)
            place = f"{ref.case_type}:{ref.index}"
            said = self._check(checker, test.input, test.expected, test.expected)
            asked += 1
            if not said.full:
                word = {"rejected": "calls it wrong", "unclear": "fails on it"}
                raise InputError(
                    f"{who} does not accept the expected output of {place}: "
                    f"{word.get(said.outcome, 'gives it part of the points')}: "
                    f"{shown(said.message)}; {REMEDY}"
                )
            if not refused and test.expected.strip():
                asked += 1
                refused = not self._check(checker, test.input, b"", test.expected).accepted
                fooled += not refused
        if fooled and not refused:
            raise InputError(
                f"{who} accepts an empty output, for {fooled} tests of {fooled}; {REMEDY}"
            )
        with self._lock:
            self.asked += asked
            self.checkers += 1

    def _check(self, checker: Checker, given: bytes, output: bytes, expected: bytes) -> Any:
        return self.bench.retry.call(lambda: checker.check(given, output, expected), checker.name)

    # ---- programs of which is known what they are ---------------------------------------

    def _grade(self, problems: Mapping[str, Problem]) -> None:
        expected: dict[int, str] = {}
        scheduler = Scheduler(self.materials.options.workers)

        def done(subject: Subject, record: SolutionRecord) -> None:
            wanted = expected[id(subject)]
            _hold_to(wanted, subject, record, self.materials)
            with self._lock:
                self.graded[wanted] += 1

        shop = Workshop(self.bench, self.materials.shelf, done, lambda _: None)
        subjects: list[Subject] = []  # kept, so that ids stay theirs

        def jobs() -> Iterator[SolutionJob]:
            for gold in self._gold(problems):
                problem = problems[gold.solution.problem_id]
                try:
                    facts = self.materials.shelf.facts(problem)
                except InputError:
                    continue
                if facts.to_run and gold.solution.code is not None:
                    subject = subject_of(gold.solution, problem, facts, self.terms)
                    subjects.append(subject)
                    expected[id(subject)] = gold.expect
                    yield SolutionJob(subject, shop)

        with self.stopper.stopping(scheduler):
            scheduler.run(jobs())

    def _gold(self, problems: Mapping[str, Problem]) -> Iterator[Gold]:
        for problem in problems.values():
            yield from gold_of(problem)
        file = self.materials.options.self_check_solutions
        if file is not None:
            resolve = self.materials.problems.resolve
            expect = expectations(file)
            for solution in read_solutions([file], resolve=resolve):
                known = solution.line in expect and solution.error is None
                if known and solution.problem_id in problems:
                    yield Gold(solution, expect[solution.line])


def gold_of(problem: Problem) -> Iterator[Gold]:
    """The known solutions that the dataset brings with a problem."""
    for number, entry in enumerate(problem.gold_solutions):
        name = f"gold_solutions[{number}]"
        language, expect = entry.get("language") or "python", entry.get("expect") or "passed"
        where = f"self-check: problem {problem.id}: {name}"
        if expect not in EXPECTED or not isinstance(entry.get("code"), str):
            raise InputError(
                f"{where} has expect {shown(expect)} and code of type "
                f"{type(entry.get('code')).__name__}: passed or failed, and text are needed"
            )
        try:
            find(str(language))
        except UnknownLanguage as e:
            raise InputError(f"{where}: {e}") from None
        code = entry["code"].encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        yield Gold(Solution(problem.id, name, number, 0, str(language), code), expect)


def expectations(file: Path) -> dict[int, str]:
    """Line → what must come of it, for the lines of a solutions file that say so.

    Raises InputError for a file of which no line does, and for one that can't be read.
    """
    found: dict[int, str] = {}
    if not file.is_file():
        raise InputError(f"--self-check-solutions {file} does not exist: give a JSON-lines file")
    for number, line in read_lines(file):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        said = row.get("expect") if isinstance(row, dict) else None
        if isinstance(said, dict):
            said = said.get("status")
        if said in EXPECTED:
            found[number] = str(said)
    if not found:
        raise InputError(
            f'--self-check-solutions {file}: no line has "expect": "passed" or "failed"'
        )
    return found


def _hold_to(wanted: str, subject: Subject, record: SolutionRecord, materials: Materials) -> None:
    """Raises InputError when a known solution ended otherwise than it must."""
    if record.status == wanted:
        return
    problem, name = subject.problem, subject.solution.solution_id
    checker = _checker_name(problem, materials)
    who = f"self-check: problem {problem.id}"
    if record.status == "error":
        raise InputError(f"{who}: the sandbox failed at {name}: {record.error}; start again")
    if wanted == "failed":
        judge = f"checker {checker}" if checker else "the comparison"
        raise InputError(f"{who}: {judge} lets the known wrong solution {name} pass; {REMEDY}")
    case = next(c for c in record.details if c.verdict not in ("AC", "SK"))
    place, why = f"{case.case_type}:{case.test_case_i}", f"{case.error or case.reason}"
    if case.reason in _BY_CHECKER and checker:
        told = f"checker {checker} calls the known right solution {name} wrong at {place}: {why}"
    elif case.reason == "failed_outputs_match":
        told = f"the known right solution {name} is wrong at {place}: {why}: is a checker missing?"
    else:
        told = f"the known right solution {name} ended with {case.verdict} at {place}: {why}"
    raise InputError(f"{who}: {told}; {REMEDY}")


def _checker_name(problem: Problem, materials: Materials) -> str:
    kit = materials.shelf.borrow(problem)
    try:
        judge = kit.interactor or kit.checker
        return judge.name if judge is not None else ""
    finally:
        materials.shelf.give_back(kit)

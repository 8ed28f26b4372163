"""Grade a data set's own solutions first, so that no figure comes from rows that are misread.

    problems that are about to be graded ─▶ first 20 that have a right solution of their own
      ─▶ graded like any solution, by the run's flags ─▶ most fail: InputError
                                                      └▶ single ones: `failed`, a note

What passed is kept in the user's cache folder, under the key of its record: the second run costs
nothing. What failed is graded again, since what it lacks, such as a package, may be installed.
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from typing import Any

from gradebox.eval.api.batch import Batch, InMemoryRecords, ran_out_of_time
from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.planner import Problems
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.problems.problem import Problem
from gradebox.eval.results.cache import VerdictCache
from gradebox.eval.results.records import fields_of
from gradebox.eval.results.statistics.apart import Fault, first_fault
from gradebox.eval.solutions.solution import Solution, known_solutions_of
from gradebox.sandbox.box.build import cache_folder
from gradebox.sandbox.errors import SandboxUnavailable, UnknownLanguage

MOST_PROBLEMS = 20
MOST_SEEN = 60  # problems that are looked at for one with a solution of its own
MOST_LINES = 2000  # of the solutions: reading them takes a second at most
MOST_TRIED = 3  # right solutions of a problem, until one passes
MOST_S = 60.0  # of running known solutions on each core, in each of the turns
MOST_REASONS = 3
MOST_LIBRARIES = 5  # that a note names
FOLDER = "known-solutions"


def missing_libraries(session: GradingSession) -> str:
    """Return a note when the sandbox's Python lacks libraries that rows name, else ""."""
    from gradebox.sandbox.box import EmbeddedSandbox

    sandbox, problems = session.sandbox, session.problems
    if not isinstance(sandbox, EmbeddedSandbox):
        return ""
    chosen = filter(None, map(problems.resolve, session.chosen_problems() or problems.ids()))
    had = sandbox.python_modules() | sys.stdlib_module_names
    missing = [set(needed) - had for needed in problems.libraries(chosen)]
    names = [name for name, _ in Counter(chain(*missing)).most_common()]
    if not names:
        return ""
    more = f" and {len(names) - MOST_LIBRARIES} more" if len(names) > MOST_LIBRARIES else ""
    path = session.options.python
    return (
        f"{f'--python {path}' if path else 'the Python of the sandbox'} does not have "
        f"{', '.join(names[:MOST_LIBRARIES])}{more}: the cases of {sum(map(bool, missing))} "
        f"problems are CU; {'install them' if path else 'name one that has them with --python'}"
    )


class DatasetCheck:
    """The check of one session's data set. One thread may call it at a time."""

    def __init__(self, session: GradingSession) -> None:
        self._session = session
        self._store = _KeptRecords(None if session.has_given_sandbox else _cache())
        self._faults: dict[str, Fault | None] = {}  # by problem; None: one of its solutions passed
        self._names: dict[str, str] = {}  # of the solution that failed

    def run(
        self,
        solutions: Iterable[Solution],
        problems: Problems,
        where: str,
        batch: Callable[[Batch], contextlib.AbstractContextManager[object]],
        find: Callable[[str], object] = lambda key: None,
        time_limit_s: float | None = None,
        least: int = 1,
    ) -> None:
        """Check the problems of these solutions, 20 problems in all.

        where         the problems, for messages
        batch         a context for each batch that is graded
        find          returns the earlier record of a key; nothing is checked when all have one
        time_limit_s  of each batch, at most MOST_S; what is not graded in time says nothing
        least         fewer problems that fail than this are no error

        Raises InputError, with the reasons counted, when most of all that were checked fail. They
        are then forgotten: another call may have other problems.
        """
        if self._session.options.no_check_dataset:
            return
        chosen = self._choose(solutions, problems, find)
        for turn in range(MOST_TRIED):
            left = [known[turn] for known in chosen.values() if len(known) > turn]
            left = [s for s in left if self._faults.get(s.problem_id, 1)]
            if left and not self._grade(left, problems, batch, min(time_limit_s or MOST_S, MOST_S)):
                return
        failed = [fault for fault in self._faults.values() if fault is not None]
        if len(failed) >= least and 2 * len(failed) > len(self._faults):
            message = self._message(failed, where)
            self._faults.clear()
            raise InputError(message)

    @property
    def result(self) -> dict[str, Any]:
        """The number of problems checked, and those whose own solutions fail, for the metrics."""
        failed = [
            {"problem_id": name, "solution_id": self._names[name], **fault._asdict()}
            for name, fault in self._faults.items()
            if fault is not None
        ]
        return {"checked": len(self._faults), "failed": failed}

    def _choose(
        self, solutions: Iterable[Solution], problems: Problems, find: Callable[[str], object]
    ) -> dict[str, list[Solution]]:
        """Return by problem the right solutions of its own that this machine can run.

        Of the first problems; none when all their solutions have records of an earlier run.
        """
        session, chosen, seen = self._session, dict[str, list[Solution]](), set[str]()
        room, new = MOST_PROBLEMS - len(self._faults), False
        for solution in islice(solutions, MOST_LINES if room else 0):
            name = solution.problem_id
            full = len(chosen) >= room or len(seen) >= MOST_SEEN
            if full and (new or not chosen):
                break
            if solution.error is not None or name in self._faults:
                continue
            if new if name in chosen else (full or name in seen):
                continue
            problem = problems.get(name)
            known = [] if problem is None else self._right_solutions(problem)
            seen.add(name)
            if problem is None or not known:
                continue
            with contextlib.suppress(InputError, UnknownLanguage):  # the run itself reports it
                test_set = session.resources.info(problem)
                run = session.context.solution_run(solution, problem, test_set)
                if test_set.to_run and run.solution.code is not None:
                    new = new or find(run.key) is None
                    chosen.setdefault(problem.id, known)
        return chosen if new else {}

    def _right_solutions(self, problem: Problem) -> list[Solution]:
        languages, found = self._session.description.toolchains, []
        with contextlib.suppress(InputError):  # --self-check reports it
            for known in known_solutions_of(problem):
                if known.must_pass and known.solution.language in languages:
                    found.append(known.solution)
        return found[:MOST_TRIED]

    def _grade(
        self,
        solutions: list[Solution],
        problems: Problems,
        context: Callable[[Batch], contextlib.AbstractContextManager[object]],
        time_limit_s: float,
    ) -> bool:
        """Grade known solutions; return False when the caller stopped the batch before its end."""
        batch = Batch(self._session, time_limit_s)
        with context(batch):
            records = batch.grade(solutions, problems, self._store)
        for solution, record in zip(solutions, map(fields_of, records), strict=True):
            if record["status"] == "passed":
                self._faults[solution.problem_id] = None
                self._store.keep(record)
            elif record["status"] == "failed":  # the others are no fault of the data set
                self._faults[solution.problem_id] = first_fault(record)
                self._names[solution.problem_id] = solution.solution_id
        return not batch.stopped or any(map(ran_out_of_time, map(fields_of, records)))

    def _message(self, failed: list[Fault], where: str) -> str:
        kinds = Counter(fault.kind for fault in failed)
        words = [
            f"{count} {next(fault for fault in failed if fault.kind == kind)}"
            for kind, count in kinds.most_common(MOST_REASONS)
        ]
        more = len(kinds) - len(words)
        return (
            f"{where}: its own right solutions fail for "
            f"{len(failed)} of the {len(self._faults)} problems checked, so no figure would be "
            f"right: {'; '.join(words)}{f'; {more} other reasons' * bool(more)}. See whether the "
            "rows are read by the right --dataset-format and whether a package is missing here; "
            "--no-check-dataset grades all the same"
        )


class _KeptRecords(InMemoryRecords):
    """Records of a batch, and those of earlier runs that passed."""

    def __init__(self, cache: VerdictCache | None) -> None:
        super().__init__()
        self._cache = cache
        self._found: set[str] = set()

    def find(self, key: str) -> dict[str, Any] | None:
        found = None if self._cache is None else self._cache.find(key)
        if found is None or found["status"] != "passed":
            return None
        self._found.add(key)
        return found

    def keep(self, record: Mapping[str, Any]) -> None:
        """Keep a record, without its tests, for later runs."""
        if self._cache is not None and record["key"] not in self._found:
            with contextlib.suppress(InputError):  # a full disk: it is graded again
                self._cache.put({**record, "details": []})


def _cache() -> VerdictCache | None:
    try:
        return VerdictCache(cache_folder() / FOLDER)
    except (SandboxUnavailable, InputError):
        return None

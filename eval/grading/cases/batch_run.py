"""Several cases of one solution in one request to the sandbox.

    TestRef… ─load▶ TestCase… ─run_many▶ Execution… ─▶ judged at once, or after the last run

What needs the sandbox again, a checker program or a run alone, follows when the runs have ended:
until then they hold a core, and it may need one as well.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import closing
from itertools import chain

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.cases.case_run import CaseGrader, check_evidence, unjudged
from gradebox.eval.grading.cases.one_process import MOST_BYTES as MOST_IN_ONE
from gradebox.eval.grading.retry import Interrupted
from gradebox.eval.grading.scheduling.work import Share
from gradebox.eval.grading.verdict import fails
from gradebox.eval.problems.problem import TestRef
from gradebox.eval.results.record import CaseRecord
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Execution
from gradebox.sandbox.protocol import MOST_BYTES, count_within

MOST_CASES = 64  # of one request
log = logging.getLogger(__name__)


class BatchGrader:
    """Grades the cases of one compiled solution. Any thread may call any method.

    most_at_once  cases that are worth being given to `grade_some` together
    all_together  the cases depend on each other: one caller grades all of them, in order
    """

    def __init__(self, grader: CaseGrader, *, stop_on_failure: bool) -> None:
        self._grader = grader
        self._stop_on_failure = stop_on_failure
        self.most_at_once = MOST_CASES if grader.runs_many else 1
        self.all_together = grader.one_process

    def grade_some(self, refs: Sequence[TestRef], share: Share) -> list[CaseRecord | None]:
        """Return the records of the first one or more of these cases, in order.

        share  numbers the cases; those that others have taken from it are left to them

        None stands for a case that did not run because an earlier one failed. Raises like
        `CaseGrader.grade`.
        """
        sizes = (ref.input_bytes if ref.skip is None else 0 for ref in refs)
        refs = refs[: count_within(sizes, MOST_IN_ONE if self.all_together else MOST_BYTES)]
        to_run = [i for i, ref in enumerate(refs) if ref.skip is None]
        if len(to_run) < 2 or not self._grader.runs_many:
            return [self._grader.grade(refs[0])]
        records: list[CaseRecord | None] = [
            unjudged(ref, "SK", ref.skip) if ref.skip is not None else None for ref in refs
        ]
        unfinished: list[tuple[int, Execution]] = []
        failed, ran = len(refs), 0
        try:
            tests = [self._grader.load(refs[i]) for i in to_run]
            share.begin(share.start + to_run[0])
            with closing(self._grader.run_many(tests)) as runs:
                for execution in chain.from_iterable(runs):
                    check_evidence(execution)
                    i, test = to_run[ran], tests[ran]
                    following = to_run[ran + 1] if ran + 1 < len(to_run) else len(refs)
                    if not share.is_ours(share.start + i, share.start + following):
                        break
                    outcome = self._grader.judge_at_once(test, execution)
                    if outcome is None:
                        unfinished.append((i, execution))
                    else:
                        record = records[i] = self._grader.record(refs[i], test, outcome)
                        if self._stop_on_failure and fails(record.verdict):
                            failed = i
                    ran += 1
                    if failed == i or share.is_cut:
                        break
        except (Interrupted, InputError):
            raise
        except SandboxError as e:  # the case that it was about is graded alone, with retries
            log.warning("%s: a run of several cases failed: %s", self._grader.problem_id, e)
        except Exception:  # so is this one, and its record says why
            log.exception("%s: unexpected error of the grader", self._grader.problem_id)
        if not ran:
            return [self._grader.grade(refs[0])]
        for i, execution in unfinished:
            if i < failed:
                record = records[i] = self._grader.grade(refs[i], execution)
                if self._stop_on_failure and fails(record.verdict):
                    failed = i
        all_known = failed < len(refs) or ran == len(to_run)
        graded = records if all_known else records[: to_run[ran]]
        return graded[: share.stop - share.start]

"""--dry-run: count what a run would do, without a sandbox and without reading tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from gradebox.eval.grading.options import Options
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.problems.problem import Problem, TestRef
from gradebox.eval.solutions.solution import Solution

MAX_SHOWN_INVALID = 5


@dataclass
class _Totals:
    """Counts over the solutions; memory grows only with the number of problems."""

    solutions: int = 0
    no_code: int = 0
    no_tests: int = 0
    cases: int = 0
    input_bytes: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    plans: dict[str, tuple[TestRef, ...]] = field(default_factory=dict)
    num_invalid: int = 0
    first_invalid: list[str] = field(default_factory=list)

    def add(self, solution: Solution, plan: tuple[TestRef, ...]) -> None:
        if not plan:
            self.no_tests += 1
        elif solution.code is None:
            self.no_code += 1
        else:
            run = [ref for ref in plan if ref.skip is None]
            self.cases += len(run)
            self.input_bytes += sum(ref.input_bytes for ref in run)
            self.skipped.update(ref.skip for ref in plan if ref.skip is not None)

    def add_invalid(self, error: str) -> None:
        self.num_invalid += 1
        if len(self.first_invalid) < MAX_SHOWN_INVALID:
            self.first_invalid.append(error)


def describe_plan(options: Options) -> str:
    """Return the plan as text. Raises InputError for the same input as the run itself."""
    totals = _Totals()
    with GradingSession(options) as session:
        session.open_inputs()
        problems = session.problems
        for file in session.files:
            for solution in session.solutions(file):
                totals.solutions += 1
                problem = None if solution.error else problems.get(solution.problem_id)
                if problem is None:
                    why = problems.why_missing(solution.problem_id)
                    totals.add_invalid(solution.error or f"line {solution.line}: {why}")
                    continue
                if problem.id not in totals.plans:
                    totals.plans[problem.id] = _plan(session, problem)
                totals.add(solution, totals.plans[problem.id])
        text = _text(totals, len(session.files))
        return "\n".join([text, *(f"note: {note}" for note in session.notes())])


def _plan(session: GradingSession, problem: Problem) -> tuple[TestRef, ...]:
    plan = session.plan(problem)
    if problem.interactive and not problem.interactor:
        return tuple(replace(ref, skip="unsupported_interactive") for ref in plan)
    return tuple(plan)


def _text(totals: _Totals, files: int) -> str:
    mib = totals.input_bytes / 2**20
    lines = [
        "",
        "plan (nothing was run)",
        f"  solutions   {totals.solutions} in {files} files, of {len(totals.plans)} problems",
        f"  cases       {totals.cases} to run, {mib:.1f} MiB of input in all",
        f"  skipped     {sum(totals.skipped.values())}",
    ]
    lines += [f"    {reason:<24}{count}" for reason, count in totals.skipped.most_common()]
    lines.append(f"  no code     {totals.no_code} solutions")
    lines.append(f"  no tests    {totals.no_tests} solutions")
    lines.append(f"  invalid     {totals.num_invalid} solutions")
    lines += [f"    {error}" for error in totals.first_invalid]
    return "\n".join(lines)

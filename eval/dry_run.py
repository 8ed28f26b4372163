"""--dry-run: what a run would do, counted without a sandbox and without reading tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from eval.choice import choose
from eval.generated_tests import GeneratedTests, open_generated_tests
from eval.idle_flags import idle_flags
from eval.materials import check_stems, unknown_problems
from eval.model import Problem, Solution, TestRef
from eval.options import Options
from eval.problems import ProblemSet, open_problems
from eval.solution_files import find_files
from eval.solutions import read_solutions

SHOWN_INVALID = 5


@dataclass
class _Plan:
    """Counts over the solutions; memory grows with the problems alone."""

    solutions: int = 0
    no_code: int = 0
    cases: int = 0
    input_bytes: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    problems: dict[str, tuple[TestRef, ...]] = field(default_factory=dict)
    no_tests: int = 0
    invalid: list[str] = field(default_factory=list)
    num_invalid: int = 0

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
        if len(self.invalid) < SHOWN_INVALID:
            self.invalid.append(error)


def describe_plan(options: Options) -> str:
    """The plan as text. Raises InputError like the run itself."""
    files = find_files(options.solutions_path)
    check_stems(files)
    problems = open_problems(
        options.dataset, split=options.dataset_split, subsets=tuple(options.dataset_subsets)
    )
    unknown = unknown_problems(options, problems)
    generated = open_generated_tests(options)
    plan = _Plan()
    for file in files:
        solutions = read_solutions(
            [file], limit=options.limit, problems=options.problems, resolve=problems.resolve
        )
        for solution in solutions:
            plan.solutions += 1
            problem = None if solution.error else problems.get(solution.problem_id)
            if problem is None:
                why = problems.why_missing(solution.problem_id)
                plan.add_invalid(solution.error or f"line {solution.line}: {why}")
                continue
            if problem.id not in plan.problems:
                plan.problems[problem.id] = _chosen(problems, generated, problem, options)
            plan.add(solution, plan.problems[problem.id])
    idle = idle_flags(options, boxed=options.sandbox == "local")
    passed_over = generated.notes.messages() if generated else []
    notes = [*unknown, *idle, *problems.messages(), *passed_over]
    problems.close()
    return "\n".join([_text(plan, len(files)), *(f"note: {note}" for note in notes)])


def _chosen(
    problems: ProblemSet, generated: GeneratedTests | None, problem: Problem, options: Options
) -> tuple[TestRef, ...]:
    sizes = problems.official_sizes(problem.id)
    official = [TestRef("official", i, size) for i, size in enumerate(sizes)]
    choice = options.choice()
    made = generated.refs(problem) if generated is not None and choice.max_generated else []
    plan = choose(problem.id, official, made, choice)
    if problem.interactive and not problem.interactor:
        return tuple(replace(ref, skip="unsupported_interactive") for ref in plan)
    return tuple(plan)


def _text(plan: _Plan, files: int) -> str:
    mib = plan.input_bytes / 2**20
    lines = [
        "",
        "plan (nothing was run)",
        f"  solutions   {plan.solutions} in {files} files, of {len(plan.problems)} problems",
        f"  cases       {plan.cases} to run, {mib:.1f} MiB of input in all",
        f"  skipped     {sum(plan.skipped.values())}",
    ]
    lines += [f"    {reason:<24}{count}" for reason, count in plan.skipped.most_common()]
    lines.append(f"  no code     {plan.no_code} solutions")
    lines.append(f"  no tests    {plan.no_tests} solutions")
    lines.append(f"  invalid     {plan.num_invalid} solutions")
    lines += [f"    {error}" for error in plan.invalid]
    return "\n".join(lines)

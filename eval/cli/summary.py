"""What a run prints: its plan (--dry-run); at its end a table and warnings, within 80 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradebox.eval.common.terminal import cut
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.problems.problem import Problem, TestRef
from gradebox.eval.results.statistics.apart import LEAST

WIDTH = 80
MAX_NOTES = 10
MAX_EXAMPLES = 10
MAX_NAMES = 5
STATUS_NOTES = {
    "passed": "every judged case accepted",
    "failed": "a case failed, or no code",
    "no_tests": "not counted: no test to run",
    "unsupported": "not counted: interactive without interactor",
    "invalid": "not counted: bad line or unknown problem",
    "error": "not counted: infrastructure error; graded again at the next start",
}
WARNINGS = {
    "error": "had infrastructure errors; start again to grade them",
    "invalid": "are invalid",
}


def table(metrics: Mapping[str, Any], folder: str) -> str:
    """Return the summary table of a run's metrics. `folder` is the results folder."""
    statuses, run = metrics["statuses"], metrics["run"]
    rows = ["", *_heading(metrics)]
    for status, note in STATUS_NOTES.items():
        if statuses.get(status) or status in ("passed", "failed"):
            rows.append(f"  {status:<12}{statuses.get(status, 0):>9}  {note}")
    failed = {v: n for v, n in metrics["verdicts"].items() if v != "AC"}
    if failed:
        rows += _wrap("  failed with  ", [f"{_verdict(v)} {n}" for v, n in failed.items()])
    cases = metrics["case_verdicts"]
    rows += _wrap("  cases        ", [f"{v} {n}" for v, n in cases.items()] or ["none"])
    for k, value in metrics["pass_at_k"].items():
        rows.append(f"  {'pass@' + k:<13}{_estimate(value)}")
    rows += [*_generated(metrics.get("generated_tests")), *_apart(metrics)]
    rows.append(f"  {'this run':<13}{_graded_now(run)}")
    rows.append(f"  {'records':<13}{folder}")
    return "\n".join(rows)


def warning_lines(metrics: Mapping[str, Any]) -> list[str]:
    """Return warnings about infrastructure, input and checkers, and the run's notes."""
    lines: list[str] = []
    for status, text in WARNINGS.items():
        count = metrics["statuses"].get(status, 0)
        if count:
            lines.append(f"!! {count} solutions {text}:")
            kinds = metrics["first_troubles"].get(status, ())
            for kind in kinds[:MAX_EXAMPLES]:
                lines += _indented(f"{_lines_of(kind)}: {kind['error']}")
            if len(kinds) > MAX_EXAMPLES:
                lines.append(f"  the metrics file has {len(kinds) - MAX_EXAMPLES} more reasons")
    lines += [line for fault in metrics["same_faults"] for line in _same_fault(fault)]
    faults = metrics["case_verdicts"].get("ER", 0)
    if faults and not metrics["statuses"].get("error"):
        lines += _indented(f"!! {faults} cases of failed solutions {WARNINGS['error']}", "")
    counted = metrics["num_attempted"]
    if counted >= LEAST and not metrics["statuses"].get("passed") and not metrics["same_faults"]:
        lines += _indented(
            f"!! none of the {counted} solutions passed: are they of this data set, whole, and in "
            "the language that they name? `gradebox debug --list failed` shows why each failed",
            "",
        )
    unclear = metrics["case_verdicts"].get("CU", 0)
    if unclear:
        lines.append(f"!! {unclear} cases have the verdict CU: the checker failed or gave no score")
    unstable = metrics["unstable_cases"]["count"]
    if unstable:
        lines.append(f"!! {unstable} cases changed their verdict between runs (unstable_cases)")
    notes = [*_known_failed(metrics), *_missing_modules(metrics), *metrics["run"]["notes"]]
    for note in notes[:MAX_NOTES]:
        lines += _indented(f"note: {note}", "")
    if len(notes) > MAX_NOTES:
        lines.append(f"note: the metrics file has {len(notes) - MAX_NOTES} more notes")
    return lines


def _indented(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(
        cut(text, 4 * WIDTH),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_on_hyphens=False,
    )


def _heading(metrics: Mapping[str, Any]) -> list[str]:
    counted = metrics["num_attempted"]
    box = metrics["sandbox"]
    return [
        f"{metrics['num_solutions']} solutions of {metrics['num_problems']} problems, "
        f"{counted} counted; sandbox {box.get('backend')}, level {box.get('level')}"
    ]


def _verdict(name: str) -> str:
    return "no code" if name == "none" else name


def _estimate(entry: Mapping[str, Any]) -> str:
    if entry["value"] is None:
        return cut(str(entry["note"]), WIDTH - 15)
    text = f"{entry['value']:.4f}"
    interval = entry["interval"]
    if interval is None:
        return text
    share = f"{100 * interval['level']:g} %"
    low, high = interval["low"], interval["high"]
    return f"{text}  mean over problems, {share} interval {low:.4f} to {high:.4f}"


def _generated(tests: Mapping[str, Any] | None) -> list[str]:
    """Return how many generated tests there are, and the problems that have none of those asked."""
    if tests is None:
        return []
    head = f"  {'generated':<13}{tests['tests']} tests of {tests['problems']} problems"
    if not tests["problems_without"]:
        return [head]
    names, count = tests["first_without"][:MAX_NAMES], tests["problems_without"]
    more = [f"… {count - len(names)} more"] if count > len(names) else []
    return [f"{head}; {count} problems have none:", *_wrap(" " * 15, [*names, *more])]


def _apart(metrics: Mapping[str, Any]) -> list[str]:
    rows = []
    if base := metrics.get("base_tests"):
        numbers = f"{base['pass_at_1']:.4f}; with the plus tests {base['pass_at_1_with_plus']:.4f}"
        rows.append(f"  {'base tests':<13}{numbers}")
    if known := metrics.get("known_faults"):
        without = known["pass_at_1_without"]
        rest = "" if without is None else f"; pass@1 without them {without:.4f}"
        kinds = [f"{why} {count}" for why, count in known["faults"].items()]
        count = f"{known['passed']} of {known['solutions']} solutions passed"
        head = f"of {known['problems']} problems{rest}; {count}"
        rows += [f"  {'known faults':<13}{head}", *_wrap(" " * 15, kinds)]
    return rows


def _graded_now(run: Mapping[str, Any]) -> str:
    return (
        f"{run['graded_now']} solutions graded in {run['wall_s']:.1f} s, "
        f"{run['from_before']} taken from earlier runs"
    )


def _lines_of(kind: Mapping[str, Any]) -> str:
    """Return the lines of a kind of error: `line 3`, or `7 at lines 3, 4, 5, 6, 8 …`."""
    lines = ", ".join(map(str, kind["lines"]))
    if kind["count"] == 1:
        return f"line {lines}"
    return f"{kind['count']} at lines {lines}{' …' * (kind['count'] > len(kind['lines']))}"


def _known_failed(metrics: Mapping[str, Any]) -> list[str]:
    """Return a note on the problems whose own solutions fail, so that perhaps nobody passes."""
    failed = metrics["known_solutions_failed"]
    if not failed:
        return []
    names = [f"{entry['problem_id']} ({entry['verdict']})" for entry in failed[:MAX_NAMES]]
    return [
        f"the data set's own solutions fail for {len(failed)} of the "
        f"{metrics['known_solutions_checked']} problems checked, which perhaps nobody can pass: "
        f"{', '.join(names)}{' …' * (len(failed) > MAX_NAMES)}"
    ]


def _missing_modules(metrics: Mapping[str, Any]) -> list[str]:
    """Return a note on modules that programs did not find: perhaps their authors have them."""
    missing = metrics["missing_modules"]
    if not missing:
        return []
    names = [f"{name} {count}" for name, count in list(missing.items())[:MAX_NAMES]]
    return [
        f"{sum(missing.values())} solutions failed because Python did not find a module: "
        f"{', '.join(names)}{' …' * (len(missing) > MAX_NAMES)}; if they should have it, give "
        "--python an interpreter that has"
    ]


def _same_fault(fault: Mapping[str, Any]) -> list[str]:
    of = f"{fault['language']} solutions" if fault["language"] else "solutions"
    why = _verdict(fault["verdict"]) + (f": {fault['error']}" if fault["error"] else "")
    text = f"all {fault['solutions']} {of} failed in the same way, which may be no fault of theirs:"
    return [*_indented(f"!! {text}", ""), *_indented(why)]


def _wrap(head: str, words: list[str]) -> list[str]:
    rows = [head]
    for word in words:
        if len(rows[-1]) + len(word) + 2 > WIDTH and rows[-1].strip() != head.strip():
            rows.append(" " * len(head))
        rows[-1] += word + "  "
    return [row.rstrip() for row in rows]


# ---- --dry-run: what a run would do, without a sandbox and without reading tests ----

MAX_SHOWN_INVALID = 5


def describe_plan(options: Options) -> str:
    """Return the plan as text. Raises InputError for the same input as the run itself.

    Memory grows only with the number of problems.
    """
    counts: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    plans: dict[str, list[TestRef]] = {}
    invalid: list[str] = []  # the first few
    with GradingSession(options) as session:
        session.open_inputs()
        for solution in (s for file in session.files for s in session.solutions(file)):
            counts["solutions"] += 1
            problem = None if solution.error else session.problems.get(solution.problem_id)
            if problem is None:
                counts["invalid"] += 1
                why = session.problems.why_missing(solution.problem_id)
                if len(invalid) < MAX_SHOWN_INVALID:
                    invalid.append(solution.error or f"line {solution.line}: {why}")
                continue
            if problem.id not in plans:
                plans[problem.id] = _plan(session, problem)
            plan = plans[problem.id]
            if not plan or solution.code is None:
                counts["no code" if plan else "no tests"] += 1
                continue
            counts["cases"] += sum(ref.skip is None for ref in plan)
            counts["bytes"] += sum(ref.input_bytes for ref in plan if ref.skip is None)
            skipped.update(ref.skip for ref in plan if ref.skip is not None)
        solutions = f"{counts['solutions']} in {len(session.files)} files, of {len(plans)} problems"
        mib, unusable = counts["bytes"] / 2**20, ("no code", "no tests", "invalid")
        lines = [
            "",
            "plan (nothing was run)",
            f"  solutions   {solutions}",
            f"  cases       {counts['cases']} to run, {mib:.1f} MiB of input in all",
            f"  skipped     {sum(skipped.values())}",
            *(f"    {reason:<24}{count}" for reason, count in skipped.most_common()),
            *(f"  {name:<12}{counts[name]} solutions" for name in unusable),
            *(line for error in invalid for line in _indented(error, "    ")),
            *(line for note in session.notes() for line in _indented(f"note: {note}", "")),
        ]
    return "\n".join(lines)


def _plan(session: GradingSession, problem: Problem) -> list[TestRef]:
    plan = list(session.plan(problem))
    if problem.interactive and not problem.interactor:
        return [replace(ref, skip="unsupported_interactive") for ref in plan]
    return plan

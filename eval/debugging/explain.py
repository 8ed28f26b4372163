"""Run a case again, compare the result with its record, and print the page that explains it.

OpenedCase ─ compile, run, check ─▶ Rerun ─ compare_with_record ─▶ Comparison

solution and case · verdict in the run and now · limits and usage
input · expected and actual output side by side · stderr · checker output · next commands

A response without a program has a page of its own. Rows have at most `width` columns.
"""

from __future__ import annotations

import hashlib
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec import to_builtins

from gradebox.checkers.check import Check
from gradebox.checkers.long_outputs import first_difference
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import Row, Span, cut, pad, row, wrap_words
from gradebox.eval.debugging.find import Json, Results
from gradebox.eval.debugging.page_parts import (
    VERDICT_STYLES,
    Layout,
    block,
    command_rows,
    debug_command,
    heading,
    side_by_side,
    size,
    title,
)
from gradebox.eval.debugging.reopen import OpenedCase, Overrides, solutions_file
from gradebox.eval.grading.cases.case_run import CaseGrader, checker_of
from gradebox.eval.grading.cases.outcome import CaseOutcome
from gradebox.eval.grading.solution_job import case_grader
from gradebox.eval.grading.solution_run import compile_error
from gradebox.eval.results.record import CaseRecord
from gradebox.eval.solutions.reader import TEXT_KEYS, recorded_solution
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB


@dataclass(frozen=True)
class Rerun:
    """The result of running a case again.

    record       made by the same rules as in a run
    outcome      the run behind it; None when the program does not compile
    compile_log  output of the compiler
    verdicts     counts over all runs of --repeat
    """

    record: CaseRecord
    outcome: CaseOutcome | None
    compile_log: bytes = b""
    verdicts: Counter[str] = field(default_factory=Counter)

    @property
    def output(self) -> bytes:
        """What the program wrote."""
        return (self.outcome.output or b"") if self.outcome is not None else b""


def run_again(case: OpenedCase, repeat: int = 1) -> Rerun:
    """Run a case `repeat` times and return the first run with the counts of all.

    Raises InputError when the sandbox fails or the solution has no code.
    """
    try:
        compiled = case.compile()
        if not compiled.ok:
            return Rerun(compile_error(case.ref), None, compiled.log, Counter({"CE": 1}))
        grader = case_grader(case.settings, case.solution_run, case.resources, compiled)
        runs = [_run(case, grader) for _ in range(repeat)]
    except SandboxError as e:
        raise InputError(f"the sandbox failed: {e}; try again") from None
    record, outcome = runs[0]
    return Rerun(record, outcome, compiled.log, Counter(record.verdict for record, _ in runs))


def _run(case: OpenedCase, grader: CaseGrader) -> tuple[CaseRecord, CaseOutcome]:
    outcome = case.settings.retry.call(lambda: grader.attempt(case.test), case.name)
    return grader.record(case.ref, case.test, outcome), outcome


class Comparison(NamedTuple):
    """Whether the verdict differs from the recorded one, and lines that explain it."""

    differs: bool
    lines: list[str]


def compare_with_record(case: OpenedCase, rerun: Rerun) -> Comparison:
    """Compare verdict and output with the record, and name what changed since the run."""
    then, now = case.recorded, rerun.record
    lines: list[str] = []
    ran_then = then.get("verdict") not in ("SK", "ER")
    differs = ran_then and (then.get("verdict"), then.get("reason")) != (now.verdict, now.reason)
    if len(rerun.verdicts) > 1:
        counts = ", ".join(f"{v} {n}" for v, n in rerun.verdicts.most_common())
        lines.append(f"FLAKY: {rerun.verdicts.total()} runs gave {counts}")
    if differs and case.unchanged:
        lines.append(
            "DIFFERS from the record although program, test, checker, limits and sandbox are "
            "unchanged. The case is flaky: random, or near its time or memory limit. "
            "--repeat 10 runs it more often."
        )
    elif differs:
        lines.append("DIFFERS from the record")
    elif ran_then:
        lines.append("as recorded")
    else:
        lines.append(f"not judged in the run ({then.get('reason')})")
    if case.unchanged is False:
        lines.append(f"changed since the run: {_changes(case)}")
    if _output_differs(then, now):
        lines.append("the output differs from the recorded one: the program is not deterministic")
    return Comparison(differs, lines)


def _output_differs(then: Json, now: CaseRecord) -> bool:
    """Return whether two runs that ended normally wrote different outputs."""
    hashes = then.get("output_sha256"), now.output_sha256
    return then.get("exit_code") == 0 == now.exit_code and all(hashes) and len({*hashes}) > 1


def _changes(case: OpenedCase) -> str:
    """Return what differs from the run, as far as the record shows it."""
    recorded = case.record["sandbox"]
    changes = [
        f"sandbox {name} (was {recorded.get(name)}, is {now})"
        for name, now in case.solution_run.sandbox.items()
        if recorded.get(name) != now
    ]
    input_sha256 = hashlib.sha256(case.test.input).hexdigest()
    pairs: tuple[tuple[str, Any, Any], ...] = (
        ("the time limit", case.record["time_limit_s"], case.bounds.cpu_s),
        ("the memory limit", case.record["memory_limit_bytes"], case.bounds.memory_bytes),
        ("the test's input", case.recorded["input_sha256"] or None, input_sha256),
    )
    changes += [what for what, then, now in pairs if then is not None and then != now]
    return "; ".join(changes) or "the program, the tests, the checker or the flags"


LABEL_WIDTH, COLUMN_WIDTH, LIMIT_WIDTH = 11, 27, 8


def explain_page(
    case: OpenedCase, rerun: Rerun, width: int, *, full: bool, trials: Mapping[str, Check] = {}
) -> Iterator[Row]:
    """Yield the rows of the page.

    full    whole texts and outputs
    trials  of `try_checker`
    """
    yield from title(case.record, case.name, width)
    yield from _figures(case, rerun, width)
    yield from _explanation(case, rerun, width)
    if rerun.outcome is None:
        yield from block("compiler", rerun.compile_log, width, full=full)
        return
    digest = hashlib.sha256(case.test.input).hexdigest()
    by_file = ", as input.txt" if case.by_file else ""
    yield from block(f"input{by_file}, sha256 {digest[:12]}…", case.test.input, width, full=full)
    if rerun.record.transcript is not None:
        yield from block("transcript", rerun.record.transcript.encode(), width, full=full)
    if not case.interactive or case.test.expected:
        yield from _outputs(case, rerun, width, full=full)
    yield from block("stderr", rerun.outcome.execution.stderr, width, full=full, tail=True)
    yield from _checker(case, rerun, width, full=full)
    for name, check in trials.items():
        yield row("")
        yield from _check_rows(f"checker on {name}", check, width, full=full)
    for text in conclusions(trials):
        yield row("")
        for line in wrap_words(text, width, "  "):
            yield row(Span(line, "warn"))


def _number(value: Any, form: str, scale: int = 1) -> str:
    return form.format(value / scale) if isinstance(value, (int, float)) else ""


def _exit(case: Json) -> str:
    number = case["signal"]
    if number is not None:
        known = number in signal.valid_signals()
        return f"{signal.Signals(number).name} (signal {number})" if known else f"signal {number}"
    return "" if case["exit_code"] is None else f"exit status {case['exit_code']}"


def _output_size(case: Json) -> str:
    return "" if case.get("exit_code") is None else size(case.get("output_bytes"))


def _figures(case: OpenedCase, rerun: Rerun, width: int) -> Iterator[Row]:
    """Yield verdict, score and usage, in the run and now, beside the limits."""
    runs: tuple[Json, Json] = case.recorded, to_builtins(rerun.record)
    bounds = case.bounds
    column = min(COLUMN_WIDTH, (width - LABEL_WIDTH - LIMIT_WIDTH) // 2)

    def line(label: str, then: str, now: str, limit: str = "") -> Row:
        return row(
            cut(pad(label, LABEL_WIDTH) + pad(then, column) + pad(now, column) + limit, width)
        )

    yield row("")
    yield row(*(Span(span.text, "dim") for span in line("", "then", "now", "limit")))
    yield row(
        pad("verdict", LABEL_WIDTH),
        *(
            Span(
                pad(f"{run.get('verdict')} {run.get('reason')}", column),
                VERDICT_STYLES.get(str(run.get("verdict")), "bad"),
            )
            for run in runs
        ),
    )
    scored = any(run.get("score") not in (0, 1, None) for run in runs)
    memory = f"{bounds.memory_bytes / MIB:g} MB"
    figures = (
        ("score", [_number(r.get("score"), "{:g}") if scored else "" for r in runs], "1"),
        ("CPU time", [_number(r.get("cpu_s"), "{:.3f} s") for r in runs], f"{bounds.cpu_s:g} s"),
        ("wall time", [_number(r.get("wall_s"), "{:.3f} s") for r in runs], ""),
        ("memory", [_number(r.get("memory_bytes"), "{:.1f} MB", MIB) for r in runs], memory),
        ("ended", [_exit(run) for run in runs], ""),
        ("output", ["" if case.interactive else _output_size(run) for run in runs], ""),
        ("repeated", ["alone" if run.get("contended") else "" for run in runs], ""),
    )
    for label, (then, now), limit in figures:
        if then or now:
            yield line(label, then, now, limit)


def _explanation(case: OpenedCase, rerun: Rerun, width: int) -> Iterator[Row]:
    """Yield the reasons of the verdicts, and the comparison with the record."""
    then, now = str(case.recorded.get("error") or ""), rerun.record.error
    yield row("")
    reasons = [("why", now)] if then == now else [("why then", then), ("why now", now)]
    for label, text in reasons:
        if text:
            for line in wrap_words(f"{label}: {text}", width, "  "):
                yield row(line)
    for text in compare_with_record(case, rerun).lines:
        style = "warn" if text.startswith(("DIFFERS", "FLAKY")) else "dim"
        for line in wrap_words(text, width, "  "):
            yield row(Span(line, style))


def _outputs(case: OpenedCase, rerun: Rerun, width: int, *, full: bool) -> Iterator[Row]:
    mode = case.settings.compare
    if case.judge_name and not first_difference(rerun.output, case.test.expected, mode):
        mode = "exact"  # the judge may see what the comparison overlooks
    judge = f"judged by {case.judge_name}" if case.judge_name else f"compared by {mode}"
    layout = Layout(width, mode, full)
    yield row("")
    yield heading(f"expected and output, {judge}; > first difference", width)
    yield from side_by_side(case.test.expected, rerun.output, layout)
    then = case.recorded_whole_output()
    if then is not None and then != rerun.output:
        yield row("")
        yield heading("expected and output as recorded", width)
        yield from side_by_side(case.test.expected, then, layout)


def _checker(case: OpenedCase, rerun: Rerun, width: int, *, full: bool) -> Iterator[Row]:
    """Yield the checker's result and output, and its recorded output if that differs."""
    if not case.judge_name or rerun.outcome is None:
        return
    check = rerun.outcome.check
    yield row("")
    if check is None:
        yield heading(f"checker {case.judge_name}: not run", width)
        yield row("  it runs only on complete outputs that are not the expected one, byte for byte")
        return
    yield from _check_rows(f"checker {case.judge_name}", check, width, full=full)
    recorded = case.recorded["checker"] or {}
    for name, text in (("stdout", check.stdout), ("stderr", check.stderr)):
        then = str(recorded.get(name) or "").encode("utf-8", "surrogatepass")
        if then and not text.startswith(then):
            yield from block(f"checker's {name} as recorded", then, width, full=full)


def _check_rows(name: str, check: Check, width: int, *, full: bool) -> Iterator[Row]:
    """Yield a checker's result and its output."""
    result = "accepted in part" if check.accepted and not check.full else check.outcome
    status = "" if check.exit_code is None else f", exit status {check.exit_code}"
    yield heading(f"{name}: {result}{status}", width)
    for line in wrap_words(check.message or "(no message)", width - 2):
        yield row("  " + line)
    if check.stdout:
        yield from block("checker's stdout", check.stdout, width, full=full)
    if check.stderr:
        yield from block("checker's stderr", check.stderr, width, full=full, tail=True)


EXPECTED, EMPTY = "the expected output", "an empty output"


def try_checker(case: OpenedCase) -> dict[str, Check]:
    """Return the checker's results on the expected output and on an empty one.

    Raises InputError when there is no checker, and when the sandbox fails.
    """
    judge, test, problem = case.resources.checker, case.test, case.resources.problem
    if judge is None:
        kind = "an interactor instead of a" if case.interactive else "no"
        raise InputError(f"problem {problem.id} has {kind} checker; leave --checker out")
    judge = checker_of(problem, judge, test) or judge
    try:
        return {
            name: judge.check(test.input, output, test.expected)
            for name, output in ((EXPECTED, test.expected), (EMPTY, b""))
        }
    except SandboxError as e:
        raise InputError(f"the sandbox failed: {e}; try again") from None


def conclusions(trials: Mapping[str, Check]) -> Iterator[str]:
    """Yield what follows from the results of `try_checker`."""
    if trials and not trials[EXPECTED].full:
        yield (
            "the checker does not accept the expected output itself: the checker or the test is "
            "at fault, not the solution"
        )
    elif trials and trials[EMPTY].full:
        yield "the checker accepts an empty output: it may accept anything"


def next_steps(results: str, case: OpenedCase, width: int) -> Iterator[Row]:
    """Yield the commands that investigate further."""
    steps = [("--export DIR", "write files that run without gradebox")]
    if case.judge_name and not case.interactive:
        steps.insert(0, ("--checker", "also ask the checker about other outputs"))
    yield row("")
    yield heading("next: this command with one of", width)
    for flag, what in steps:
        yield row(f"    {flag:<14}{what}")
    yield from command_rows(debug_command(results, case.record, case.name), width)


def response_page(
    results: Results, record: Json, overrides: Overrides, width: int, *, full: bool
) -> Iterator[Row]:
    """Yield the page of a response without a program.

    Raises InputError when its line is no longer there.
    """
    _, response = recorded_solution(solutions_file(results, overrides), record)
    yield from title(record, "none", width)
    yield row("")
    why = (
        "no program was found in the response: it has no code fence with the requested language, "
        f"and no field but `code` and {', '.join(TEXT_KEYS)} is read"
    )
    for text in wrap_words(why, width):
        yield row(text)
    yield from block("response", response.encode(), width, full=full)

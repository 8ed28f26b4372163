"""Debug one case of an earlier run: `python eval/debug_case.py RESULTS …`."""

from __future__ import annotations

import argparse
from dataclasses import fields
from functools import partial
from itertools import chain
from pathlib import Path

from gradebox.eval.cli.command import (
    INSTEAD,
    OVERRIDES,
    REQUIRED,
    FlagRow,
    natural_int,
    parser_of,
    positive_int,
    run_command,
)
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import Terminal, open_terminal, row
from gradebox.eval.debugging.find import (
    FIRST_FAILED,
    Results,
    SolutionQuery,
    check_reason,
    find_case,
    find_record,
    has_no_code,
    matching_cases,
    open_results,
    parse_case,
)
from gradebox.eval.debugging.reopen import OpenedCase, Overrides, check_runnable, open_case
from gradebox.sandbox.common.exit_status import ExitStatus

EPILOG = """\
exit status: 0 shown; 1 the verdict differs from the recorded one; 2 bad input;
130 interrupted

  %(prog)s results/solutions --list failed_checker
  %(prog)s results/solutions --problem 1000/A --sample 2
  %(prog)s results/solutions --problem 1000/A --sample 2 --checker
  %(prog)s results/solutions --list checker_unclear --rejudge
docs/debugging.md is a walkthrough."""

REJUDGE_HELP = "grade the solutions that --list or --problem selects again, update the results"
FLAGS: dict[str, tuple[FlagRow, ...]] = {
    "which case": (
        ("--problem ID", str, None, "the problem, such as 1000/A"),
        ("--sample N", str, None, "its sample: counted from 0, or its own sample_id"),
        ("--case CASE", str, None, f"official:0, generated:17 or {FIRST_FAILED} (the default)"),
    ),
    "what to do (default: explain the case)": (
        ("--list REASON", str, None, "list cases: failed_checker, WA, failed …"),
        ("--checker", bool, False, "also ask the checker about the expected and an empty output"),
        ("--export DIR", Path, None, "write files that run without gradebox"),
        ("--rejudge", bool, False, REJUDGE_HELP),
    ),
    "how": (
        ("--repeat N", positive_int, 1, "run the case N times"),
        ("--full", bool, False, "show whole texts"),
        ("--no-pager", bool, False, "never start a pager"),
        ("--with-checker NAME", str, None, "judge by this checker (as the grader's --checker)"),
    ),
    INSTEAD: (
        *OVERRIDES,
        ("--sandbox", ("auto", "local", "piston"), None, "where programs run"),
        ("--endpoint URL,URL", str, None, "addresses of Piston servers"),
        ("--workers N", natural_int, 0, "for --rejudge; 0: all cores"),
    ),
}


make_parser = parser_of(
    "Run one case of an earlier run again and explain its verdict.",
    ("results RESULTS", str, REQUIRED, "results folder or records file"),
    groups=FLAGS,
    epilog=EPILOG,
)


def _run(args: argparse.Namespace) -> int:
    _check_flags(args)
    results = open_results(args.results)
    terminal = open_terminal(pager=not args.no_pager)
    query = SolutionQuery(args.problem, args.sample)
    if args.rejudge:
        return _rejudge(args, results)
    if args.list is not None:
        from gradebox.eval.debugging.page_parts import case_list

        reason = check_reason(args.list)
        lines = case_list(
            results,
            query,
            reason,
            results_name=args.results,
            width=terminal.width,
            whole=terminal.whole,
        )
        terminal.show(lines)
        return ExitStatus.OK
    if args.problem is None:
        raise InputError("no case is selected; give --problem ID, or see --list failed")
    record = find_record(results, query)
    if has_no_code(record) and not (args.checker or args.export):
        from gradebox.eval.debugging.explain import response_page

        page = response_page(results, record, _overrides(args), terminal.width, full=args.full)
        terminal.show(list(page))
        return ExitStatus.OK
    check_runnable(record, None)
    case = find_case(record, args.case or FIRST_FAILED)
    with open_case(results, record, case, _overrides(args)) as opened:
        return (_export if args.export else _explain)(args, opened, terminal)


def _check_flags(args: argparse.Namespace) -> None:
    """Raise InputError for flags that exclude each other or need another one."""
    actions = [name for name in ("checker", "export", "rejudge") if getattr(args, name)]
    if args.list is not None and not args.rejudge:
        actions.insert(0, "list")
    if len(actions) > 1:
        raise InputError(f"--{actions[0]} and --{actions[1]} exclude each other; give only one")
    if args.rejudge and args.case is not None:
        raise InputError("--rejudge grades whole solutions; leave --case out")
    for name in ("sample", "case"):
        if getattr(args, name) is not None and args.problem is None:
            raise InputError(f"--{name} needs the problem; add --problem ID")
    if args.case not in (None, FIRST_FAILED):
        parse_case(args.case)


def _overrides(args: argparse.Namespace) -> Overrides:
    given = {f.name: getattr(args, f.name) for f in fields(Overrides) if f.name != "checker"}
    given["endpoint"] = tuple(u for u in (args.endpoint or "").split(",") if u) or None
    return Overrides(checker=args.with_checker, **given)


def _explain(args: argparse.Namespace, case: OpenedCase, terminal: Terminal) -> int:
    from gradebox.eval.debugging.explain import (
        compare_with_record,
        explain_page,
        next_steps,
        run_again,
        try_checker,
    )

    trials = try_checker(case) if args.checker else {}
    rerun = run_again(case, args.repeat)
    page = explain_page(case, rerun, terminal.width, full=args.full, trials=trials)
    terminal.show(chain(page, next_steps(args.results, case, terminal.width)))
    return ExitStatus.NEGATIVE if compare_with_record(case, rerun).differs else ExitStatus.OK


def _export(args: argparse.Namespace, case: OpenedCase, terminal: Terminal) -> int:
    from gradebox.eval.common.terminal import shell_word
    from gradebox.eval.debugging.export import export_case

    names = export_case(args.export, case)
    terminal.show([
        row(f"{len(names)} files in {args.export}; run:"),
        row(f"  python3 {shell_word(str(args.export))}/run.py"),
        row("It runs the program and the checker as you, without a sandbox. Read them first."),
    ])  # fmt: skip
    return ExitStatus.OK


def _rejudge(args: argparse.Namespace, results: Results) -> int:
    from gradebox.eval.cli.run import run_grading
    from gradebox.eval.debugging.rejudge import Rejudging, summary_page
    from gradebox.eval.debugging.reopen import run_options

    lines = _selected_lines(args, results)
    if not lines:
        print("no case is selected; nothing is graded again")
        return ExitStatus.OK
    terminal = open_terminal(pager=False)
    rejudging = Rejudging(results, lines)
    result = run_grading(run_options(results, _overrides(args)), rejudging=rejudging)
    terminal.show(summary_page(rejudging.summary, len(lines), terminal.width))
    return ExitStatus.INTERRUPTED if result.interrupted else ExitStatus.OK


def _selected_lines(args: argparse.Namespace, results: Results) -> frozenset[int]:
    """Return the lines of the solutions that have a selected case."""
    query = SolutionQuery(args.problem, args.sample)
    if args.list is None and args.problem is None:
        raise InputError("--rejudge needs a selection of cases; add --list REASON or --problem ID")
    if args.problem is not None and next(query.records(results), None) is None:
        find_record(results, query)  # raises InputError with the problems or samples there are
    if args.list is None:
        return frozenset(r["line"] for r in query.records(results) if r.get("details"))
    found = matching_cases(results, query, check_reason(args.list))
    return frozenset(record["line"] for record, case in found if case is not None)


main = partial(run_command, make_parser, _run, log_to_stderr=False, on_broken_pipe=ExitStatus.OK)

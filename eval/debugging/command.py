"""The command line of debug_case.py: read flags, do the one thing asked for, print."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from eval.debugging.find import (
    FIRST_FAILED,
    Json,
    Results,
    Wanted,
    check_reason,
    find_case,
    find_record,
    open_results,
    parse_case,
)
from eval.debugging.listing import Listing
from eval.debugging.reopen import CaseAtHand, Overrides, at_hand, check_runnable
from eval.debugging.screen import Row, Screen, clean, open_screen, row
from eval.input_error import InputError
from eval.one_line_parser import OneLineParser

BAD_INPUT, INTERRUPTED = 2, 130
EPILOG = """\
exit status: 0 shown; 1 the verdict is not the recorded one; 2 bad input;
130 interrupted

  debug_case.py results/solutions --list failed_checker
  debug_case.py results/solutions --problem 1000/A --sample 2
  debug_case.py results/solutions --problem 1000/A --sample 2 --checker
  debug_case.py results/solutions --list checker_unclear --rejudge
docs/debugging.md goes through it."""


def make_parser() -> argparse.ArgumentParser:
    """Every flag with its default."""
    p = OneLineParser(
        description="Runs one case of an earlier run again and explains it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    p.add_argument("results", metavar="RESULTS", help="results folder or records file")
    which = p.add_argument_group("which case")
    which.add_argument("--problem", metavar="ID", help="the problem, such as 1000/A")
    which.add_argument("--sample", type=int, metavar="N", help="which of its samples, from 0")
    which.add_argument(
        "--case", metavar="CASE", help=f"official:0, generated:17 or {FIRST_FAILED} (the default)"
    )
    what = p.add_argument_group("what to do (without any of these: explain)")
    what.add_argument("--list", metavar="REASON", help="list cases: failed_checker, WA, failed …")
    what.add_argument("--checker", action="store_true", help="run the checker only, and say all")
    what.add_argument("--export", type=Path, metavar="DIR", help="write files that run anywhere")
    what.add_argument("--shell", action="store_true", help="a shell in the sandbox, files in it")
    what.add_argument(
        "--rejudge",
        action="store_true",
        help="grade the cases again that --list or --problem choose, and update the results",
    )
    how = p.add_argument_group("how")
    how.add_argument("--repeat", type=int, default=1, metavar="N", help="run the case N times")
    how.add_argument("--full", action="store_true", help="whole texts, not their beginnings")
    how.add_argument("--no-pager", action="store_true", help="never start a pager")
    how.add_argument(
        "--with-checker", metavar="NAME", help="judge with this one, as --checker of the grader"
    )
    over = p.add_argument_group("instead of the run's flags")
    over.add_argument("--solutions-path", metavar="FILE", help="the solutions file")
    over.add_argument("--dataset", metavar="NAME|PATH")
    over.add_argument("--generated-tests-dir", metavar="DIR")
    over.add_argument("--testlib", metavar="PATH")
    over.add_argument("--sandbox", choices=("auto", "local", "piston"))
    over.add_argument("--endpoint", metavar="URL,URL")
    over.add_argument("--workers", type=int, default=0, metavar="N", help="for --rejudge")
    over.add_argument(
        "--allow-unsafe-sandbox", action="store_true", help="never taken from the run's flags"
    )
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its exit status."""
    try:
        args = make_parser().parse_args(argv)
        return _run(args)
    except InputError as e:
        print(f"error: {clean(str(e))}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(args: argparse.Namespace) -> int:
    _check(args)
    results = open_results(args.results)
    screen = open_screen(pager=not args.no_pager)
    if args.rejudge:
        return _rejudge(args, results)
    if args.list is not None:
        listing = Listing(results, check_reason(args.list), Wanted(args.problem, args.sample))
        screen.show(listing.rows(args.results, screen.width))
        return 0
    if args.problem is None:
        raise InputError("which case? --problem ID says it; --list failed shows those there are")
    record = find_record(results, Wanted(args.problem, args.sample))
    check_runnable(record, None)
    case = find_case(record, args.case or FIRST_FAILED)
    with at_hand(results, record, case, _overrides(args)) as hand:
        for name, do in _ACTIONS:
            if getattr(args, name):
                return do(args, hand, screen)
        return _explain(args, hand, screen)


def _check(args: argparse.Namespace) -> None:
    """Flags that exclude each other, and numbers out of range."""
    asked = [name for name in ("checker", "export", "shell", "rejudge") if getattr(args, name)]
    if args.list is not None and not args.rejudge:
        asked.insert(0, "list")
    if len(asked) > 1:
        raise InputError(f"--{asked[0]} and --{asked[1]} are two things: ask for one at a time")
    if args.sample is not None and args.problem is None:
        raise InputError("--sample without --problem: give the problem, too")
    if args.case is not None:
        if args.problem is None:
            raise InputError("--case without --problem: give the problem, too")
        if args.case != FIRST_FAILED:
            parse_case(args.case)
    if args.repeat < 1:
        raise InputError(f"--repeat {args.repeat} is less than 1: 1 runs the case once")
    if args.workers < 0:
        raise InputError(f"--workers {args.workers} is less than 0: 0 takes one for each core")


def _overrides(args: argparse.Namespace) -> Overrides:
    endpoint = tuple(u for u in (args.endpoint or "").split(",") if u) or None
    return Overrides(
        solutions_path=args.solutions_path,
        dataset=args.dataset,
        generated_tests_dir=args.generated_tests_dir,
        testlib=args.testlib,
        checker=args.with_checker,
        sandbox=args.sandbox,
        endpoint=endpoint,
        allow_unsafe_sandbox=args.allow_unsafe_sandbox,
        workers=args.workers,
    )


def _explain(args: argparse.Namespace, hand: CaseAtHand, screen: Screen) -> int:
    from eval.debugging.explain import compare, run_again
    from eval.debugging.show import explained, next_steps

    again = run_again(hand, args.repeat)
    rows = explained(hand, again, screen, full=args.full)
    screen.show(_chain(rows, next_steps(args.results, hand, screen.width)))
    return 1 if compare(hand, again).differs else 0


def _chain(*parts: Iterable[Row]) -> Iterator[Row]:
    for part in parts:
        yield from part


def _checker(args: argparse.Namespace, hand: CaseAtHand, screen: Screen) -> int:
    from eval.debugging.show_checker import checker_page

    screen.show(checker_page(hand, screen.width, full=args.full))
    return 0


def _export(args: argparse.Namespace, hand: CaseAtHand, screen: Screen) -> int:
    from eval.debugging.bundle import write
    from eval.report_parts.shell_word import shell_word

    names = write(args.export, hand)
    screen.show([
        row(f"{len(names)} files in {args.export}"),
        row(f"  sh {shell_word(str(args.export))}/run.sh"),
        row("It runs the program and the checker as you, without a sandbox: read them first."),
    ])  # fmt: skip
    return 0


def _shell(args: argparse.Namespace, hand: CaseAtHand, screen: Screen) -> int:
    from eval.debugging.bundle import files_of
    from eval.debugging.shell import run_shell

    run_shell(hand.bench.sandbox, files_of(hand))
    return 0


_ACTIONS: tuple[tuple[str, Callable[[argparse.Namespace, CaseAtHand, Screen], int]], ...] = (
    ("checker", _checker),
    ("export", _export),
    ("shell", _shell),
)


def _rejudge(args: argparse.Namespace, results: Results) -> int:
    from eval.debugging.rejudge import rejudge
    from eval.debugging.reopen import options_of, reopened
    from eval.debugging.show_rejudged import Ticker, summary

    chosen = _chosen(args, results)
    if not chosen:
        print("nothing is chosen: no such case")
        return 0
    screen = open_screen(pager=False)
    ticker = Ticker(len(chosen))
    with reopened(options_of(results, _overrides(args))) as materials:
        told = rejudge(results, chosen, materials, ticker)
    screen.show(summary(told, len(chosen), screen.width))
    return INTERRUPTED if told.interrupted else 0


def _chosen(args: argparse.Namespace, results: Results) -> dict[int, frozenset[tuple[str, int]]]:
    """Line of each chosen solution → its chosen cases."""
    wanted = Wanted(args.problem, args.sample)
    if args.list is None and args.problem is None:
        raise InputError("--rejudge what? --list REASON or --problem ID says it")
    if args.problem is not None:  # says so when there is none
        next(iter(wanted.records(results)), None) or find_record(results, wanted)
    chosen: dict[int, set[tuple[str, int]]] = {}
    if args.list is None:
        for record in wanted.records(results):
            cases = [find_case(record, args.case)] if args.case else record.get("details") or ()
            if cases:
                chosen[record["line"]] = {_name(case) for case in cases}
    else:
        for record, case in Listing(results, check_reason(args.list), wanted).found():
            if case is not None:
                chosen.setdefault(record["line"], set()).add(_name(case))
    return {line: frozenset(cases) for line, cases in chosen.items()}


def _name(case: Json) -> tuple[str, int]:
    return case["case_type"], case["test_case_i"]

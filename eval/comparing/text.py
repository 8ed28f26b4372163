"""A comparison as text of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradebox.eval.common.terminal import cut, escape, pad
from gradebox.eval.comparing.comparability import Difference
from gradebox.eval.comparing.compared_run import ComparedRun

WIDTH = 80


def warning_lines(differences: Sequence[Difference]) -> Iterator[str]:
    """Yield the wrapped lines of each difference, marked as a refusal or a warning."""
    for difference in differences:
        mark = "REFUSED" if difference.refuses else "warning"
        yield from textwrap.wrap(
            f"{mark}: {escape(difference.text)}", WIDTH, subsequent_indent="         "
        )


def comparison_lines(
    a: ComparedRun, b: ComparedRun, result: Mapping[str, Any], *, shown_changes: int | None
) -> Iterator[str]:
    """Yield the lines about both runs, their paired difference and the changed problems.

    result         of `statistics.paired`
    shown_changes  the most changed problems to list; None lists all
    """
    for letter, run in (("A", a), ("B", b)):
        counted = sum(share.n for share in run.shares.values())
        yield f"{letter}  {cut(run.name, WIDTH - 3)}"
        yield f"   {counted:,} graded solutions of {len(run.shares):,} problems"
    yield ""
    yield f"pass@1 on the {result['problems']:,} problems of both runs"
    yield f"   A          {result['pass_at_1_a']:8.2%}"
    yield f"   B          {result['pass_at_1_b']:8.2%}"
    yield f"   B - A      {100 * result['difference']:+8.2f} points{_error(result)}"
    yield ""
    same = result["problems"] - result["won"] - result["lost"]
    yield f"B is better on {result['won']:,}, worse on {result['lost']:,}, the same on {same:,}"
    yield f"exact sign test: p = {result['sign_test_p']:.3g}, the chance of a split this uneven"
    yield from _changes(result["changed"], shown_changes)


def _error(result: Mapping[str, Any]) -> str:
    if result["standard_error"] is None:
        return ", no standard error: it needs two problems or contests"
    text = f", standard error {100 * result['standard_error']:.2f}"
    interval = result["interval"]
    if interval:
        low, high = 100 * interval["low"], 100 * interval["high"]
        text += f"\n   {interval['level']:.0%} interval {low:+.2f} … {high:+.2f} points"
        text += f" ({interval['method']})"
    return text


def _changes(changed: Sequence[Mapping[str, Any]], limit: int | None) -> Iterator[str]:
    if not changed:
        return
    shown = changed if limit is None else changed[:limit]
    yield ""
    yield f"{'problem':40}{'A':>12}{'B':>12}"
    for change in shown:
        (passed_a, of_a), (passed_b, of_b) = change["a"], change["b"]
        outcome = "won" if passed_b * of_a > passed_a * of_b else "lost"
        counts = f"{f'{passed_a}/{of_a}':>12}{f'{passed_b}/{of_b}':>12}"
        yield f"{pad(change['problem_id'], 39)} {counts}   {outcome}"
    if len(shown) < len(changed):
        yield f"… and {len(changed) - len(shown):,} more; --all lists them"

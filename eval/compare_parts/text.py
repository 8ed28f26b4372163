"""A comparison as text that fits 80 columns. Strings from the runs are printed harmlessly."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval.compare_parts.circumstances import Difference
from eval.compare_parts.side import Side

WIDTH = 80


def plain(text: str, width: int | None = None) -> str:
    """`text` with everything invisible escaped (controls, bidi marks), cut to `width` columns."""
    safe = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
    return safe if width is None or len(safe) <= width else safe[: width - 1] + "…"


def warning_lines(found: Sequence[Difference]) -> Iterator[str]:
    """Each difference, wrapped, marked by how much it matters."""
    for difference in found:
        mark = "REFUSED" if difference.refuses else "warning"
        yield from textwrap.wrap(
            f"{mark}: {plain(difference.text)}", WIDTH, subsequent_indent="         "
        )


def comparison_lines(
    a: Side, b: Side, result: Mapping[str, Any], *, shown_changes: int | None
) -> Iterator[str]:
    """The table of both runs, the paired difference and the problems that changed."""
    for letter, side in (("A", a), ("B", b)):
        counted = sum(share.n for share in side.shares.values())
        yield f"{letter}  {plain(side.name, WIDTH - 3)}"
        yield f"   {counted:,} graded solutions of {len(side.shares):,} problems"
    yield ""
    yield f"pass@1 of the {result['problems']:,} problems both have"
    yield f"   A          {result['pass_at_1_a']:8.2%}"
    yield f"   B          {result['pass_at_1_b']:8.2%}"
    yield f"   B - A      {_points(result['difference'])}{_error(result)}"
    yield ""
    same = result["problems"] - result["won"] - result["lost"]
    yield f"B is better on {result['won']:,}, worse on {result['lost']:,}, the same on {same:,}"
    yield f"a split this uneven by chance: p = {result['sign_test_p']:.3g} (exact sign test)"
    yield from _changes(result["changed"], shown_changes)


def _points(value: float) -> str:
    return f"{100 * value:+8.2f} points"


def _error(result: Mapping[str, Any]) -> str:
    if result["standard_error"] is None:
        return ", no error: it takes two problems or contests"
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
        (right_a, of_a), (right_b, of_b) = change["a"], change["b"]
        better = right_b * of_a > right_a * of_b
        problem = plain(change["problem_id"], 39)
        yield (
            f"{problem:40}{f'{right_a}/{of_a}':>12}{f'{right_b}/{of_b}':>12}"
            f"   {'won' if better else 'lost'}"
        )
    if len(shown) < len(changed):
        yield f"… and {len(changed) - len(shown):,} more; --all shows them"

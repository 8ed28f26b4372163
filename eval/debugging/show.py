"""How an explained case looks: rows for `screen`, at most as wide as it is.

who and which case · verdict then and now · limits and use
input · expected and output side by side · stderr · the checker's words · what to do next
"""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Iterable, Iterator
from typing import Any

from eval.debugging.checking import checker_name, outcome
from eval.debugging.difference import Layout, side_by_side
from eval.debugging.explain import Again, compare, stored_output
from eval.debugging.find import Json
from eval.debugging.reopen import CaseAtHand
from eval.debugging.screen import (
    Row,
    Screen,
    Span,
    cut,
    decoded,
    folded,
    padded,
    row,
    width_of,
    wrapped,
)
from eval.report_parts.shell_word import option, shell_word
from sandbox.model import MIB

HEAD_LINES, TAIL_LINES = 12, 16
LABEL, COLUMN, LIMIT = 11, 27, 8
VERDICT_STYLES = {"AC": "good", "CU": "warn", "ER": "warn", "SK": "dim"}


def explained(hand: CaseAtHand, again: Again, screen: Screen, *, full: bool) -> Iterator[Row]:
    """The whole page."""
    width = screen.width
    yield from title(hand.record, hand.name, width)
    yield from _table(hand, again, width)
    yield from _findings(hand, again, width)
    if again.seen is None:
        yield from block("compiler", again.compile_log, width, full=full)
        return
    yield from block(_about_input(hand), hand.test.input, width, full=full)
    if again.now.transcript is not None:
        yield from block("transcript", again.now.transcript.encode(), width, full=full)
    if hand.kit.interactor is None or hand.test.expected:
        yield from _outputs(hand, again, width, full=full)
    yield from block("stderr", again.seen.execution.stderr, width, full=full, tail=True)
    yield from _checker(hand, again, width, full=full)


def title(record: Json, case: str, width: int) -> Iterator[Row]:
    """One or two lines that say which solution and case this is."""
    who = (
        f"{record.get('problem_id')}  sample {record.get('sample_i')}  {record.get('solution_id')}"
        f"  (line {record.get('line')}, {record.get('language')})  case {case}"
    )
    for line in folded(who, width, "  "):
        yield row(Span(line, "head"))


def heading(text: str, width: int) -> Row:
    """A section's first line."""
    return row(Span(cut(f"-- {text} ", width), "head"))


def block(
    name: str, data: bytes, width: int, *, full: bool = False, tail: bool = False
) -> Iterator[Row]:
    """A text under its name: its first lines, or its last; all of them with `full`."""
    yield row("")
    if not data:
        yield heading(f"{name}: empty", width)
        return
    yield heading(f"{name}, {size(len(data))}", width)
    if full:
        for line in data.removesuffix(b"\n").split(b"\n"):
            for part in wrapped(decoded(line), width - 2):
                yield row("  " + part)
        return
    keep = TAIL_LINES if tail else HEAD_LINES
    lines, more = _last_lines(data, keep) if tail else _first_lines(data, keep)
    left_out = row(Span(f"  … {more}, --full shows all", "dim")) if more else None
    if left_out and tail:
        yield left_out
    for line in lines:
        yield row("  " + cut(decoded(line[: 8 * width]), width - 2))
    if left_out and not tail:
        yield left_out


def _first_lines(data: bytes, keep: int) -> tuple[list[bytes], str]:
    head = data.split(b"\n", keep)
    rest = head.pop() if len(head) > keep else b""
    if head and not head[-1]:
        head.pop()
    return head, f"{_count(rest)} lines more" if rest else ""


def _last_lines(data: bytes, keep: int) -> tuple[list[bytes], str]:
    tail = data.removesuffix(b"\n").rsplit(b"\n", keep)
    rest = tail.pop(0) if len(tail) > keep else None
    return tail, f"{_count(rest)} lines before" if rest is not None else ""


def _count(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n"))


def size(count: Any) -> str:
    """`1 byte`, `2048 bytes`, `12.0 MB`; "?" for what is no number."""
    if not isinstance(count, int):
        return "?"
    if count >= MIB:
        return f"{count / MIB:.1f} MB"
    return f"{count} byte" + "s" * (count != 1)


def _seconds(value: Any) -> str:
    return f"{value:.3f} s" if isinstance(value, (int, float)) else ""


def _megabytes(value: Any) -> str:
    return f"{value / MIB:.1f} MB" if isinstance(value, (int, float)) else ""


def _end(case: Json) -> str:
    number = case.get("signal")
    if isinstance(number, int):
        try:
            return f"{signal.Signals(number).name} (signal {number})"
        except ValueError:
            return f"signal {number}"
    return "" if case.get("exit_code") is None else f"exit status {case['exit_code']}"


def _score(case: Json) -> str:
    score = case.get("score")
    return f"{score:g}" if isinstance(score, (int, float)) else "none"


def _table(hand: CaseAtHand, again: Again, width: int) -> Iterator[Row]:
    """Verdict, score and use, then and now, beside the limits."""
    then, now, bounds = hand.then, vars(again.now), hand.bounds
    column = min(COLUMN, (width - LABEL - LIMIT) // 2)
    yield row("")
    yield row(Span(" " * LABEL + padded("then", column) + padded("now", column) + "limit", "dim"))
    cells = [(case.get("verdict"), f"{case.get('reason')}") for case in (then, now)]
    yield row(
        Span(padded("verdict", LABEL)),
        *(
            Span(padded(f"{verdict} {reason}", column), VERDICT_STYLES.get(str(verdict), "bad"))
            for verdict, reason in cells
        ),
    )
    talks = hand.kit.interactor is not None
    scored = any(case.get("score") not in (0, 1, None) for case in (then, now))
    rows: tuple[tuple[str, ...], ...] = (
        ("score", _score(then), _score(now), "1") if scored else ("", "", "", ""),
        ("CPU time", _seconds(then.get("cpu_s")), _seconds(now["cpu_s"]), f"{bounds.cpu_s:g} s"),
        ("wall time", _seconds(then.get("wall_s")), _seconds(now["wall_s"]), ""),
        (
            "memory",
            _megabytes(then.get("memory_bytes")),
            _megabytes(now["memory_bytes"]),
            f"{bounds.memory_bytes / MIB:g} MB",
        ),
        ("ended", _end(then), _end(now), ""),
        ("output", *("" if talks else _output_size(case) for case in (then, now)), ""),
        ("run again", *("alone" if c.get("contended") else "" for c in (then, now)), ""),
    )
    for label, *values, limit in rows:  # one column each
        if any(values):
            text = padded(label, LABEL) + "".join(padded(v, column) for v in values)
            yield row(cut(text + limit, width))


def _output_size(case: Json) -> str:
    return "" if case.get("exit_code") is None else size(case.get("output_bytes"))


def _findings(hand: CaseAtHand, again: Again, width: int) -> Iterator[Row]:
    """Why, and whether it is as it was."""
    then, now = str(hand.then.get("error") or ""), again.now.error
    yield row("")
    if then and then != now:
        yield from _said("why then", then, width)
    if now:
        yield from _said("why" if then == now else "why now", now, width)
    found = compare(hand, again)
    for line in found.lines:
        loud = line.startswith(("DIFFERS", "FLAKY"))
        for part in folded(line, width, "  "):
            yield row(Span(part, "warn" if loud else "dim"))


def _said(label: str, text: str, width: int) -> Iterator[Row]:
    for line in folded(f"{label}: {text}", width, "  "):
        yield row(line)


def _about_input(hand: CaseAtHand) -> str:
    digest = hashlib.sha256(hand.test.input).hexdigest()
    by_file = ", as input.txt" if hand.subject.problem.input_mode == "file" else ""
    return f"input{by_file}, sha256 {digest[:12]}…"


def _outputs(hand: CaseAtHand, again: Again, width: int, *, full: bool) -> Iterator[Row]:
    yield row("")
    judge = checker_name(hand)
    who = f"judged by {judge}" if judge else f"compared by {hand.bench.compare}"
    yield heading(f"expected and output, {who}; > first difference", width)
    layout = Layout(width, hand.bench.compare, full)
    yield from side_by_side(hand.test.expected, again.output, layout)
    then = stored_output(hand.then)
    if then is not None and then != again.output and hand.then.get("exit_code") == 0:
        yield row("")
        yield heading("expected and output as recorded", width)
        yield from side_by_side(hand.test.expected, then, layout)


def _checker(hand: CaseAtHand, again: Again, width: int, *, full: bool) -> Iterator[Row]:
    """The checker's own words, now and (where they were others) then."""
    name, seen = checker_name(hand), again.seen
    if not name or seen is None:
        return
    if seen.check is None:
        yield row("")
        yield heading(f"checker {name}: not asked", width)
        yield row("  it is asked about outputs that differ from the expected one")
        return
    check = seen.check
    ended = "" if check.exit_code is None else f", exit status {check.exit_code}"
    yield row("")
    yield heading(f"checker {name}: {outcome(check)}{ended}", width)
    for line in folded(check.message or "(it gave no reason)", width - 2):
        yield row("  " + line)
    for what, text in (("checker's stdout", check.stdout), ("checker's stderr", check.stderr)):
        if text:
            yield from block(what, text, width, full=full, tail=what.endswith("stderr"))
    recorded = hand.then.get("checker")
    if isinstance(recorded, dict):
        for what, text in (("stdout", check.stdout), ("stderr", check.stderr)):
            then = str(recorded.get(what) or "").encode("utf-8", "surrogatepass")
            if then and not text.startswith(then):
                yield from block(f"checker's {what} as recorded", then, width, full=full)


def command_rows(words: Iterable[str], width: int, indent: str = "  ") -> Iterator[Row]:
    """A command to copy: words as the shell reads them, lines joined by a backslash."""
    line = indent
    for word in words:
        if line.strip() and width_of(line) + 1 + width_of(word) > width - 2:
            yield row(line + " \\")
            line = indent + "    "
        line += word if not line.strip() else " " + word
    yield row(line)


def debug_command(results: str, record: Json, case: str) -> list[str]:
    """The words of the command that shows a case; each is quoted for the shell."""
    return [
        "python eval/debug_case.py",
        shell_word(results),
        option("--problem", str(record.get("problem_id"))),
        option("--sample", str(record.get("sample_i"))),
        option("--case", case),
    ]


def next_steps(results: str, hand: CaseAtHand, width: int) -> Iterator[Row]:
    """Commands that go on from here."""
    steps = [("--export DIR", "files and a script to run it yourself")]
    if hand.bench.sandbox.describe().backend == "box":
        steps.append(("--shell", "a shell in the sandbox, with the files"))
    if checker_name(hand) and hand.kit.interactor is None:
        steps.insert(0, ("--checker", "what the checker says of other outputs"))
    yield row("")
    yield heading("next: this command with one of", width)
    for flag, what in steps:
        yield row(f"    {flag:<14}{what}")
    yield from command_rows(debug_command(results, hand.record, hand.name), width)

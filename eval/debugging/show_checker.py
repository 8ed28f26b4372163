"""How the checker's answers look, one after another."""

from __future__ import annotations

from collections.abc import Iterator

from eval.debugging.checking import Asked, ask, checker_name, conclusions, outcome
from eval.debugging.reopen import CaseAtHand
from eval.debugging.screen import Row, Span, folded, row
from eval.debugging.show import block, heading, size, title

STYLES = {"accepted": "good", "accepted in part": "bad", "rejected": "bad", "unclear": "warn"}


def checker_page(hand: CaseAtHand, width: int, *, full: bool) -> Iterator[Row]:
    """What the checker says of the output, of the expected one, and of an empty one."""
    asked = list(ask(hand))
    yield from title(hand.record, hand.name, width)
    yield row(f"checker {checker_name(hand)}")
    yield row("")
    for line in conclusions(asked):
        for part in folded(line, width, "  "):
            yield row(Span(part, "warn"))
    for one in asked:
        yield from _answer(one, width, full=full)
    yield from block("input", hand.test.input, width, full=full)
    yield from block("expected output", hand.test.expected, width, full=full)


def _answer(asked: Asked, width: int, *, full: bool) -> Iterator[Row]:
    check = asked.check
    yield row("")
    yield heading(f"{asked.what}, {size(len(asked.output))}", width)
    score = "" if check.score is None else f", score {check.score:g}"
    status = "" if check.exit_code is None else f", exit status {check.exit_code}"
    yield row(
        Span("  " + outcome(check), STYLES[outcome(check)]), f" ({check.verdict}){score}{status}"
    )
    for line in folded(check.message, width - 2):
        yield row("  " + line)
    texts = (("output", asked.output), ("stdout", check.stdout), ("stderr", check.stderr))
    for name, text in texts:
        if text and not (name == "output" and asked.what == "the expected output"):
            label = name if name == "output" else f"checker's {name}"
            yield from block(label, text, width, full=full, tail=name == "stderr")

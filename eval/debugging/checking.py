"""The checker alone: asked about the case's output, and about what it must accept and reject.

the program's output       what the verdict rests on
the expected output        a checker that rejects it is wrong, or the test is
an empty output            one that accepts it accepts anything
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checkers import compare
from checkers.model import Check
from eval.debugging.explain import compiled_of, grader_of, stored_output
from eval.debugging.reopen import CaseAtHand
from eval.input_error import InputError
from sandbox.errors import SandboxError


@dataclass(frozen=True)
class Asked:
    """What the checker said of one output. `equal`: the comparison alone accepts it."""

    what: str
    output: bytes
    check: Check
    equal: bool


def checker_name(hand: CaseAtHand) -> str:
    """Name of what judges beside the comparison, "" when nothing does."""
    judge = hand.kit.interactor or hand.kit.checker
    return judge.name if judge is not None else ""


def ask(hand: CaseAtHand) -> Iterator[Asked]:
    """Asks the checker about the three outputs, the program's first.

    Raises InputError where there is no checker, and where the sandbox fails.
    """
    checker = hand.kit.checker
    if checker is None:
        if hand.kit.interactor is not None:
            raise InputError(
                f"problem {hand.kit.problem.id} has an interactor, which judges while it talks: "
                "leave --checker out"
            )
        raise InputError(
            f"problem {hand.kit.problem.id} has no checker: leave --checker out, "
            "or name one with --with-checker"
        )
    test = hand.test
    try:
        what, output = _output(hand)
        for title, text in (
            (what, output),
            ("the expected output", test.expected),
            ("an empty output", b""),
        ):
            check = checker.check(test.input, text, test.expected)
            equal = compare.equal(text, test.expected, hand.bench.compare)
            yield Asked(title, text, check, equal)
    except SandboxError as e:
        raise InputError(f"the sandbox failed: {e}; try again") from None


def _output(hand: CaseAtHand) -> tuple[str, bytes]:
    """The recorded output where it is whole, else what the program writes now."""
    stored = stored_output(hand.then)
    if stored is not None and hand.then.get("exit_code") == 0:
        return "the recorded output", stored
    compiled = compiled_of(hand)
    try:
        if not compiled.ok:
            raise InputError("the program does not compile, so there is no output to check")
        seen = hand.bench.retry.call(lambda: grader_of(hand, compiled).attempt(hand.test), "run")
    finally:
        compiled.close()
    if seen.output is None:
        raise InputError("the program wrote no output to check")
    return "the program's output (run again)", seen.output


def outcome(check: Check) -> str:
    """What a checker said, partial credit told apart."""
    return "accepted in part" if check.accepted and not check.full else check.outcome


def conclusions(asked: list[Asked]) -> list[str]:
    """What the three answers say together, for people."""
    case, gold, empty = asked
    found: list[str] = []
    if case.equal:
        found.append(
            "the output equals the expected one: it is accepted without asking the checker"
        )
    if not gold.check.full:
        found.append(
            f"the checker does not accept the expected output itself ({outcome(gold.check)}): the "
            "checker or the test is at fault, not the solution"
        )
    elif case.check.outcome == "unclear":
        found.append("the checker failed on this output only: it can't read what stands there")
    elif case.check.outcome == "rejected":
        found.append("the checker accepts the expected output and rejects this one")
    elif not case.check.full:
        found.append("the checker accepts the expected output, and this one in part only: WA")
    if empty.check.full and not empty.equal:
        found.append("the checker accepts an empty output: it may accept anything")
    return found

"""Equational theories: does equation 1 imply equation 2? A model says TRUE or FALSE.

problems × models ─▶ prompt with both equations ─▶ OpenRouter ─▶ verdict ─▶ one line each
{"model", "problem_id", "expected_answer", "correct", "reason", "finish_reason",
 "tokens_in", "tokens_out", "actual_provider", "response_text"}
{"model", "problem_id", "error", "message"}
{"summary": {"total_calls", "parseable", "correct", …}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.answers.items import read_items, text_field
from eval.input_error import InputError
from eval.sampling.model import Outcome, Reply, Request

WORDS = {"true": True, "false": False}


@dataclass(frozen=True)
class Problem:
    """One implication and whether it holds."""

    id: str
    equation1: str
    equation2: str
    answer: bool


@dataclass
class Tally:
    """Counts of one model's calls. A call that failed has no answer and is not a wrong one.

    parseable  answers with a verdict, the unparseable ones have none
    truncated  answers cut by the token limit, whether or not a verdict was in them
    """

    calls: int = 0
    failed: int = 0
    parseable: int = 0
    correct: int = 0
    truncated: int = 0

    def add(self, line: Mapping[str, Any]) -> None:
        """Counts one output line."""
        self.calls += 1
        if "error" in line:
            self.failed += 1
            return
        self.parseable += line["correct"] is not None
        self.correct += line["correct"] is True
        self.truncated += line["finish_reason"] == "length"

    @property
    def unparseable(self) -> int:
        return self.calls - self.failed - self.parseable

    @property
    def accuracy(self) -> float | None:
        """Right verdicts among the calls that were answered; None when none was."""
        answered = self.calls - self.failed
        return self.correct / answered if answered else None


@dataclass
class Tallies:
    """The counts of a run by model, and the summary line made of them."""

    by_model: dict[str, Tally] = field(default_factory=dict)

    def add(self, line: Mapping[str, Any]) -> None:
        self.by_model.setdefault(line["model"], Tally()).add(line)

    @property
    def all_failed(self) -> bool:
        return all(t.failed == t.calls for t in self.by_model.values())

    @property
    def failed(self) -> int:
        return sum(t.failed for t in self.by_model.values())

    def summary(self) -> dict[str, Any]:
        """The documented three counts first, then what explains them."""
        all_of = self.by_model.values()
        accuracies = [t.accuracy for t in all_of]
        known = [a for a in accuracies if a is not None]
        whole = bool(known) and len(known) == len(accuracies)
        return {
            "summary": {
                "total_calls": sum(t.calls for t in all_of),
                "parseable": sum(t.parseable for t in all_of),
                "correct": sum(t.correct for t in all_of),
                "failed_calls": self.failed,
                "unparseable": sum(t.unparseable for t in all_of),
                "truncated": sum(t.truncated for t in all_of),
                # Equal weights: a model that lost calls counts no less than another.
                "mean_accuracy": sum(known) / len(known) if whole else None,
                "models": {
                    name: {
                        "calls": t.calls,
                        "failed": t.failed,
                        "parseable": t.parseable,
                        "unparseable": t.unparseable,
                        "truncated": t.truncated,
                        "correct": t.correct,
                        "accuracy": t.accuracy,
                    }
                    for name, t in self.by_model.items()
                },
            }
        }


def read_problems(path: Path, limit: int | None = None) -> list[Problem]:
    """The problems of a JSONL file: id, equation1, equation2, answer (a truth value)."""
    needed = ["equation1", "equation2", ("answer", "expected_answer")]
    problems = []
    for name, line in read_items(path, needed, limit):
        where = f"{path} problem {name}"
        problems.append(
            Problem(
                id=name,
                equation1=text_field(where, line, "equation1"),
                equation2=text_field(where, line, "equation2"),
                answer=_truth(where, line),
            )
        )
    return problems


def _truth(where: str, line: Mapping[str, Any]) -> bool:
    value = line["answer"] if line.get("answer") is not None else line["expected_answer"]
    if isinstance(value, str):
        value = WORDS.get(value.strip().lower(), value)
    if not isinstance(value, bool):
        raise InputError(f"{where}: answer is {value!r}; it must be true or false")
    return value


def read_template(path: Path) -> str:
    """A prompt file; InputError unless both equations have a place in it."""
    from checkers.verdict import render_prompt

    try:
        template = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--prompt-file {path}: {error}") from None
    for name, marks in (("equation1", ("\x01", "")), ("equation2", ("", "\x01"))):
        if "\x01" not in render_prompt(template, *marks):
            raise InputError(
                f"--prompt-file {path}: no {{{{{name}}}}} in it; put it where the equation goes"
            )
    return template


def requests(problems: Sequence[Problem], template: str) -> Iterator[Request]:
    """One chat a problem."""
    from checkers.verdict import render_prompt

    for problem in problems:
        prompt = render_prompt(template, problem.equation1, problem.equation2)
        yield Request(item=problem.id, messages=({"role": "user", "content": prompt},))


def output_line(
    alias: str, problem: Problem, outcome: Outcome, hide_response: bool = False
) -> dict[str, Any]:
    """What is printed for one call."""
    line: dict[str, Any] = {"model": alias, "problem_id": problem.id}
    if outcome.failure is not None:
        return line | {"error": outcome.failure.error, "message": outcome.failure.message}
    assert outcome.reply is not None
    correct, reason = judged(outcome.reply, problem.answer)
    line |= {
        "expected_answer": problem.answer,
        "correct": correct,
        "reason": reason,
        "finish_reason": outcome.reply.finish_reason,
        "tokens_in": outcome.reply.tokens_in,
        "tokens_out": outcome.reply.tokens_out,
        "actual_provider": outcome.reply.provider,
    }
    return line if hide_response else line | {"response_text": outcome.reply.text}


def judged(reply: Reply, expected: bool) -> tuple[bool | None, str]:
    """Right, wrong or None without a verdict; and why."""
    from checkers.verdict import extract_verdict

    verdict, why = extract_verdict(reply.text)
    if verdict is None:
        return None, why
    if verdict is expected:
        return True, f"Answered {_word(verdict)}"
    return False, f"Answered {_word(verdict)}, expected {_word(expected)}"


def _word(value: bool) -> str:
    return "TRUE" if value else "FALSE"


class InOrder:
    """Hands lines on in the order of the problems, however the calls end."""

    def __init__(self, ids: Sequence[str], emit: Callable[[dict[str, Any]], None]) -> None:
        self._ids = list(ids)
        self._emit = emit
        self._next = 0
        self._waiting: dict[str, dict[str, Any]] = {}

    def add(self, line: dict[str, Any]) -> None:
        self._waiting[line["problem_id"]] = line
        while self._next < len(self._ids) and self._ids[self._next] in self._waiting:
            self._emit(self._waiting.pop(self._ids[self._next]))
            self._next += 1

    def flush(self) -> None:
        """Hands on what still waits behind a call that never ended."""
        for name in self._ids[self._next :]:
            if name in self._waiting:
                self._emit(self._waiting.pop(name))

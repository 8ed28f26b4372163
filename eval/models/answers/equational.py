"""Equational theories: does equation 1 imply equation 2? A model answers TRUE or FALSE.

implications × models ─▶ prompt with both equations ─▶ OpenRouter ─▶ verdict ─▶ a line per call
{"model", "problem_id", "expected_answer", "correct", "reason", "finish_reason",
 "tokens_in", "tokens_out", "actual_provider", "response_text"}
{"model", "problem_id", "error", "message"}
{"summary": {"total_calls", "parseable", "correct", …}}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradebox.checkers.true_false import judge_response, render_prompt
from gradebox.eval.common.errors import InputError
from gradebox.eval.models.exchange import Request
from gradebox.eval.models.response_file import (
    ResponseFile,
    read_prompt_file,
    read_questions,
    text_field,
)

TRUTH_VALUES = {"true": True, "false": False}


@dataclass(frozen=True)
class Implication:
    """Two equations, and whether the first implies the second."""

    id: str
    equation1: str
    equation2: str
    answer: bool


@dataclass
class RunCounts:
    """The counts of a run.

    by_model  for each model, of its calls: `calls`, `failed` (which are no wrong answers),
              `parseable` (answers with a verdict), `correct`, and `truncated` (answers cut by the
              token limit, with or without a verdict)
    """

    by_model: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, line: Mapping[str, Any]) -> None:
        """Count an output line."""
        counts = self.by_model.setdefault(line["model"], Counter())
        counts["calls"] += 1
        if "error" in line:
            counts["failed"] += 1
            return
        counts["parseable"] += line["correct"] is not None
        counts["correct"] += line["correct"] is True
        counts["truncated"] += line["finish_reason"] == "length"

    @property
    def failed(self) -> int:
        return sum(counts["failed"] for counts in self.by_model.values())

    def summary(self) -> dict[str, Any]:
        """Return the summary line; an `accuracy` is None without answers."""
        models = {name: _model_summary(counts) for name, counts in self.by_model.items()}
        total = sum(self.by_model.values(), Counter[str]())
        accuracies = [model["accuracy"] for model in models.values()]
        complete = bool(accuracies) and None not in accuracies
        return {
            "summary": {
                "total_calls": total["calls"],
                "parseable": total["parseable"],
                "correct": total["correct"],
                "failed_calls": total["failed"],
                "unparseable": total["calls"] - total["failed"] - total["parseable"],
                "truncated": total["truncated"],
                # Equal weights: failed calls do not make a model count less.
                "mean_accuracy": sum(accuracies) / len(accuracies) if complete else None,
                "models": models,
            }
        }


def _model_summary(counts: Counter[str]) -> dict[str, Any]:
    answered = counts["calls"] - counts["failed"]
    return {
        **{name: counts[name] for name in ("calls", "failed", "parseable", "truncated", "correct")},
        "unparseable": answered - counts["parseable"],
        "accuracy": counts["correct"] / answered if answered else None,
    }


def read_implications(path: Path, limit: int | None = None) -> list[Implication]:
    """Return the implications of a JSONL file with id, equation1, equation2 and answer.

    Raises InputError for a missing or wrong field.
    """
    found = []
    required = ["equation1", "equation2", ("answer", "expected_answer")]
    for name, line in read_questions(path, required, limit):
        where = f"{path} problem {name}"
        value = line["answer"] if line.get("answer") is not None else line["expected_answer"]
        if isinstance(value, str):
            value = TRUTH_VALUES.get(value.strip().lower(), value)
        if not isinstance(value, bool):
            raise InputError(f"{where}: answer is {value!r}; it must be true or false")
        first, second = (text_field(where, line, f"equation{number}") for number in (1, 2))
        found.append(Implication(name, first, second, value))
    return found


def read_template(path: Path) -> str:
    """Return a prompt template; raise InputError unless it has placeholders for both equations."""
    template = read_prompt_file(path)
    for name in ("equation1", "equation2"):
        if f"{{{{{name}}}}}" not in template and f"{{{{ {name} }}}}" not in template:
            raise InputError(
                f"--prompt-file {path} has no {{{{{name}}}}}; put it where the equation belongs"
            )
    return template


def implication_requests(implications: Sequence[Implication], template: str) -> list[Request]:
    """Return a chat request for each implication."""
    return [
        Request.of(i.id, 0, render_prompt(template, i.equation1, i.equation2), chat=True, seed=None)
        for i in implications
    ]


def output_lines(
    alias: str, implications: Sequence[Implication], file: ResponseFile, hide_response: bool
) -> Iterator[dict[str, Any]]:
    """Yield the line that is printed for each call that has ended, in the order of the problems."""
    failures = file.failures()
    for implication in implications:
        key = (implication.id, 0)
        line: dict[str, Any] = {"model": alias, "problem_id": implication.id}
        if key in failures:
            yield line | {name: failures[key][name] for name in ("error", "message")}
        for record in file.records([key]):
            correct, reason = judge_response(str(record["response"]), implication.answer)
            line |= {"expected_answer": implication.answer, "correct": correct, "reason": reason}
            line |= {
                name: record.get(name) for name in ("finish_reason", "tokens_in", "tokens_out")
            }
            line["actual_provider"] = record.get("provider")
            yield line if hide_response else line | {"response_text": record["response"]}

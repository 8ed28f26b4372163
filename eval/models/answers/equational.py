"""Equational theories: does equation 1 imply equation 2? A model answers TRUE or FALSE.

implications × models ─▶ prompt with both equations ─▶ OpenRouter ─▶ verdict ─▶ a line per call
{"model", "problem_id", "expected_answer", "correct", "reason", "finish_reason",
 "tokens_in", "tokens_out", "actual_provider", "response_text"}
{"model", "problem_id", "error", "message"}
{"summary": {"total_calls", "parseable", "correct", …}}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradebox.checkers.true_false import judge_response, render_prompt
from gradebox.eval.common.errors import InputError
from gradebox.eval.models.exchange import ModelReply, Request, RequestOutcome
from gradebox.eval.models.response_file import ResponseFile, read_questions, text_field
from gradebox.eval.models.sampler import Sampler, SamplerOptions
from gradebox.eval.models.servers import Server
from gradebox.sandbox.input_file import check_input_file

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
    required = ["equation1", "equation2", ("answer", "expected_answer")]
    return [
        Implication(
            id=name,
            equation1=text_field(f"{path} problem {name}", line, "equation1"),
            equation2=text_field(f"{path} problem {name}", line, "equation2"),
            answer=_parse_answer(f"{path} problem {name}", line),
        )
        for name, line in read_questions(path, required, limit)
    ]


def _parse_answer(where: str, line: Mapping[str, Any]) -> bool:
    value = line["answer"] if line.get("answer") is not None else line["expected_answer"]
    if isinstance(value, str):
        value = TRUTH_VALUES.get(value.strip().lower(), value)
    if not isinstance(value, bool):
        raise InputError(f"{where}: answer is {value!r}; it must be true or false")
    return value


def read_template(path: Path) -> str:
    """Return a prompt template; raise InputError unless it has placeholders for both equations."""
    try:
        check_input_file(path, once=True)
        template = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--prompt-file {path}: {error}") from None
    for name in ("equation1", "equation2"):
        if f"{{{{{name}}}}}" not in template and f"{{{{ {name} }}}}" not in template:
            raise InputError(
                f"--prompt-file {path} has no {{{{{name}}}}}; put it where the equation belongs"
            )
    return template


def implication_requests(implications: Sequence[Implication], template: str) -> Iterator[Request]:
    """Yield a chat request for each implication."""
    for implication in implications:
        prompt = render_prompt(template, implication.equation1, implication.equation2)
        yield Request(item=implication.id, messages=({"role": "user", "content": prompt},))


def ask_missing(
    path: Path,
    requests: Iterable[Request],
    server: Server,
    options: SamplerOptions,
    on_outcome: Callable[[RequestOutcome], None],
) -> None:
    """Pass on the responses in a file, then ask for the missing ones and keep them there.

    Raises InputError for a response to another prompt, model or parameter.
    """
    with ResponseFile(path, parameters=server.parameters) as file:
        by_key = {request.resume_key: request for request in requests}
        missing = [request for request in by_key.values() if file.lacks(request)]
        for record in file.records(by_key):
            request = by_key[str(record["problem_id"]), int(record["sample_id"])]
            on_outcome(RequestOutcome(request, _kept_reply(record), None, attempts=0, wall_s=0.0))

        def keep(outcome: RequestOutcome) -> None:
            file.add(outcome)
            on_outcome(outcome)

        Sampler(server, options).run(missing, keep)


def _kept_reply(record: Mapping[str, Any]) -> ModelReply:
    return ModelReply(
        str(record["response"]),
        finish_reason=record.get("finish_reason"),
        tokens_in=record.get("tokens_in"),
        tokens_out=record.get("tokens_out"),
        provider=record.get("provider"),
    )


def output_line(
    alias: str, implication: Implication, outcome: RequestOutcome, hide_response: bool = False
) -> dict[str, Any]:
    """Return the line that is printed for a call."""
    line: dict[str, Any] = {"model": alias, "problem_id": implication.id}
    if outcome.failure is not None:
        return line | {"error": outcome.failure.kind, "message": str(outcome.failure)}
    assert outcome.reply is not None
    correct, reason = judge_response(outcome.reply.text, implication.answer)
    line |= {
        "expected_answer": implication.answer,
        "correct": correct,
        "reason": reason,
        "finish_reason": outcome.reply.finish_reason,
        "tokens_in": outcome.reply.tokens_in,
        "tokens_out": outcome.reply.tokens_out,
        "actual_provider": outcome.reply.provider,
    }
    return line if hide_response else line | {"response_text": outcome.reply.text}


class OrderedOutput:
    """Pass lines on in the order of the problems, whatever the order of the calls' ends."""

    def __init__(self, ids: Sequence[str], emit: Callable[[dict[str, Any]], None]) -> None:
        self._ids = list(ids)
        self._emit = emit
        self._next = 0
        self._waiting: dict[str, dict[str, Any]] = {}

    def add(self, line: dict[str, Any]) -> None:
        """Take a line; pass on every line whose predecessors are complete."""
        self._waiting[line["problem_id"]] = line
        while self._next < len(self._ids) and self._ids[self._next] in self._waiting:
            self._emit(self._waiting.pop(self._ids[self._next]))
            self._next += 1

    def flush(self) -> None:
        """Pass on the lines that wait for calls that did not end."""
        for name in self._ids[self._next :]:
            if name in self._waiting:
                self._emit(self._waiting.pop(name))

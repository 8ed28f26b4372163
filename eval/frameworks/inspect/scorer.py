"""`gradebox_scorer`: programs in completions, graded without a sandbox of inspect's; samples.

    completion + problem (by the sample's id, or its metadata) ─ Grader or Client ─▶ record ─▶ Score

Samples are scored at once, as inspect asks, by one grader, whose programs share the cores. What was
not measured is unscored: a fault of the machine, a row without tests. It is never a 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    Target,
    accuracy,
    mean,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState, generate

from gradebox.eval.api.calls import shared_grader
from gradebox.eval.api.client import Client
from gradebox.eval.api.rewards.trl import Grades
from gradebox.eval.api.rewards.values import COMPILE_ERROR, reward_of
from gradebox.eval.common.errors import InputError
from gradebox.eval.models.answers.code_prompts import prompts

PROBLEM, LANGUAGE = "problem", "language"
MOST_THREADS = 256  # each waits for a batch of one sample


def _scorer(
    dataset: str | None,
    servers: str | Sequence[str] | None,
    token: str | None,
    patience_s: float,
    share: bool,
    flags: Mapping[str, Any],
) -> Scorer:
    limiter: anyio.CapacityLimiter | None = None
    client = None
    if servers is not None:
        client = Client(servers, token=token, concurrency=16, patience_s=patience_s, **flags)

    async def score(state: TaskState, target: Target) -> Score:
        nonlocal limiter
        limiter = limiter or anyio.CapacityLimiter(MOST_THREADS)
        grader = cast(Grades, client or shared_grader(dataset, **flags))
        grade = partial(_grade, grader, _solution(state), _problem(state, dataset, servers))
        record = await anyio.to_thread.run_sync(grade, abandon_on_cancel=True, limiter=limiter)
        return score_of(record, state.output.completion, share=share)

    return score


@scorer(metrics=[accuracy(), stderr()])
def gradebox_scorer(
    dataset: str | None = None,
    *,
    servers: str | list[str] | None = None,
    token: str | None = None,
    patience_s: float = 600.0,
    **flags: Any,
) -> Scorer:
    """Score a program by all tests of its problem: CORRECT or INCORRECT.

    dataset     a data set, whose problems the samples' ids name; a sample may instead hold its
                problem's row in its metadata as "problem", and its language as "language"
    servers     addresses of `gradebox serve`, which grade instead of this machine; samples without
                a row name problems of the servers' --dataset
    patience_s  how long servers that fail are asked again
    flags       flags of a grader (docs/python-interface.md), such as judge="reference"
    """
    flags = {"stop_on_first_failure": True, **flags}
    return _scorer(dataset, servers, token, patience_s, False, flags)


@scorer(metrics=[mean(), stderr()])
def gradebox_share(
    dataset: str | None = None,
    *,
    servers: str | list[str] | None = None,
    token: str | None = None,
    patience_s: float = 600.0,
    **flags: Any,
) -> Scorer:
    """Score a program by the share of tests that it passed, 0 to 1; else as `gradebox_scorer`."""
    return _scorer(dataset, servers, token, patience_s, True, flags)


def _grade(
    grader: Grades, solution: Mapping[str, Any], problem: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    (record,) = grader.grade([solution], None if problem is None else [problem])
    return record


def _solution(state: TaskState) -> dict[str, Any]:
    solution = {"completion": state.output.completion}
    if PROBLEM not in state.metadata:
        solution["problem_id"] = str(state.sample_id)
    if state.metadata.get(LANGUAGE):
        solution["language"] = str(state.metadata[LANGUAGE])
    return solution


def _problem(state: TaskState, dataset: str | None, servers: object) -> Mapping[str, Any] | None:
    row = state.metadata.get(PROBLEM)
    if row is None and dataset is None and servers is None:
        raise InputError(
            f"sample {state.sample_id} has no problem: give gradebox_scorer(dataset=…), or the "
            f"row as metadata {PROBLEM!r}"
        )
    if row is not None and not isinstance(row, Mapping):
        raise InputError(f"metadata {PROBLEM!r} of sample {state.sample_id} must be a row")
    return row


def score_of(record: Mapping[str, Any], completion: str, *, share: bool = False) -> Score:
    """Return the score of a record; unscored when the program was not measured."""
    reward = reward_of(record, "partial")
    if share is False and record["status"] == "failed" and reward is None:
        reward = 0.0  # a test failed, whatever became of the others
    cases = [case for case in record["details"] if case["verdict"] != "SK"]
    metadata = {
        "verdict": record["verdict"],
        "status": record["status"],
        "passed": sum(case["verdict"] == "AC" for case in cases),
        "tests": len(record["details"]),
        "cpu_s": max((case["cpu_s"] or 0.0 for case in cases), default=None),
    }
    explanation = _explanation(record, cases)
    if reward is None:
        return Score.unscored(
            reason=str(record["status"]),
            answer=completion,
            explanation=explanation,
            metadata=metadata,
        )
    value: str | float = CORRECT if record["status"] == "passed" else INCORRECT
    if share:
        value = 0.0 if reward <= COMPILE_ERROR else reward
    return Score(value=value, answer=completion, explanation=explanation, metadata=metadata)


def _explanation(record: Mapping[str, Any], cases: Sequence[Mapping[str, Any]]) -> str:
    """Return the verdict of the first test that was not passed, and why."""
    if record["status"] == "passed":
        return f"passed all {len(cases)} tests"
    failed = next((case for case in cases if case["verdict"] != "AC"), None)
    if failed is None or record["verdict"] == "CE":
        return f"{record['verdict'] or record['status']}: {record['error']}"
    where = f"{failed['case_type']} test {failed['test_case_i']}"
    return f"{failed['verdict']} in {where}: {failed['error']}"


# ---- data sets as samples, and a task of them ----


def problems(
    dataset: str,
    *,
    split: str = "test",
    language: str = "python",
    prompt_file: str | None = None,
    limit: int | None = None,
) -> MemoryDataset:
    """Return the problems of a data set as samples, for `gradebox_scorer` of the same data set.

    dataset      as for --dataset: a .jsonl or .parquet file, a folder, or a name on the hub
    language     of programs, for rows that leave it open
    prompt_file  a template as of `gradebox sample`; None: its own

    Raises InputError when the data set can't be read.
    """
    found = prompts(dataset, split, language, prompt_file)
    samples = [
        Sample(id=name, input=prompt, metadata={"language": of_row})
        for name, of_row, prompt in islice(found, limit)
    ]
    return MemoryDataset(samples, name=Path(dataset).stem, location=dataset)


@task
def programs(
    dataset: str = "openai/openai_humaneval",
    language: str = "python",
    servers: str | None = None,
    judge: str = "strict",
) -> Task:
    """Ask for a program for each problem of a data set, and grade it by all tests."""
    settings: dict[str, Any] = {"judge": judge}
    return Task(
        dataset=problems(dataset, language=language),
        solver=generate(),
        scorer=gradebox_scorer(dataset, servers=servers, **settings),
    )

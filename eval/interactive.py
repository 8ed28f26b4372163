"""Problems that talk: the solution runs against the problem's interactor, both in boxes.

The problem's `interactor` is `testlib:FILE.cpp` or `kattis:FILE`, beside a local dataset: a
dataset from elsewhere must not pick files of this machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from checkers.errors import CheckerError
from checkers.interactors import Interacted, Interactor, judge_interaction, open_interactor
from eval.grade_case import Attempt, Bench, Seen, seen_of
from eval.input_error import UnusableProblem
from eval.model import Problem, TestCase
from eval.records import stored_text
from eval.time_policy import run_limits
from eval.verdict import Bounds, judge, whole_output
from sandbox.model import Compiled
from sandbox.protocol import Sandbox


def interactor_of(
    problem: Problem, sandbox: Sandbox, dataset: str, testlib: str | None
) -> Interactor | None:
    """The problem's interactor, None when it has none that can be used here.

    Raises UnusableProblem for one that lies outside the dataset's folder or can't be read.
    """
    folder = _local_folder(dataset)
    if problem.interactor is None or folder is None or "interact" not in sandbox.capabilities:
        return None
    kind, _, rest = problem.interactor.partition(":")
    name, _, flags = rest.strip().partition(" ")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder):
        raise UnusableProblem(
            f"problem {problem.id} is unusable: interactor {name!r} lies outside {folder}; "
            "move it there"
        )
    try:
        return open_interactor(sandbox, f"{kind}:{path} {flags}".strip(), testlib=testlib)
    except CheckerError as e:
        raise UnusableProblem(f"problem {problem.id} is unusable: {e}") from None


def _local_folder(dataset: str) -> Path | None:
    path = Path(dataset)
    if path.is_dir():
        return path.resolve()
    return path.resolve().parent if path.is_file() else None


def interactive_attempt(
    bench: Bench, bounds: Bounds, compiled: Compiled, interactor: Interactor
) -> Attempt:
    """How one case of an interactive problem is run and judged.

    There is no second run alone: what the two say may differ from run to run.
    """

    def attempt(test: TestCase) -> Seen:
        met = judge_interaction(
            bench.sandbox, compiled, interactor, test.input, test.expected, run_limits(bounds)
        )
        transcript = _shown(met.transcript, bench.stored_bytes)
        # An accepted solution still has to keep its limits; one that was rejected may have
        # been ended by that, which is not held against it twice.
        accepted = met.check.accepted
        x = met.execution if accepted else met.execution_for_verdict
        if not whole_output(x, bounds):
            return Seen(x, x.stdout, judge(x, bounds, None), None, transcript=transcript)
        seen = seen_of(x, bounds, x.stdout, met.check, transcript=transcript)
        return _with_evidence(seen, met)

    return attempt


def _with_evidence(seen: Seen, met: Interacted) -> Seen:
    """The same judgement beside the run as it really was."""
    return Seen(
        met.execution,
        seen.output,
        seen.judgement,
        seen.output_passed,
        seen.check,
        seen.contended,
        seen.transcript,
    )


def _shown(transcript: Iterable[tuple[str, bytes]], limit: int) -> str:
    """Who said what, a line each: `solution: …`, `interactor: …`."""
    names = {"first": "solution", "second": "interactor"}
    lines, left = [], limit
    for who, data in transcript:
        if left <= 0:
            break
        lines.append(f"{names[who]}: {stored_text(data, left)}")
        left -= len(data)
    return "\n".join(line.rstrip("\n") for line in lines)

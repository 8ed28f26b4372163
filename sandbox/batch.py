"""The rules of a batch of runs, the same in every backend (`BatchSandbox.run_many`)."""

from __future__ import annotations

from collections.abc import Iterable, Sized

from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import MIB, Execution

MOST_BYTES = MIB  # of the inputs of one request; a single one may be larger


def check_counts(limits: Sized, stdins: Sized) -> None:
    """Raise BadRequest unless there is at least one run, and limits for each."""
    if len(limits) != len(stdins) or not len(stdins):
        raise BadRequest(
            f"{len(limits)} limits for {len(stdins)} inputs: one for each, at least one"
        )


def count_within(sizes: Iterable[int], most: int = MOST_BYTES) -> int:
    """Return how many inputs of these sizes one request has: `most` bytes, but at least one."""
    total = count = 0
    for size in sizes:
        total += size
        if count and total > most:
            break
        count += 1
    return count


def goes_on_after(execution: Execution) -> bool:
    """Return whether the runs after this one are run: it did not crash and met no limit."""
    return execution.exit_code == 0 and not execution.limits_hit and not execution.killed_for

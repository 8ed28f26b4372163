"""What a run has to do, and which part of it one of n nodes takes.

    models × (benchmark, task) ─▶ units ─(index % n == i)─▶ this node's

With as many models as nodes or more, a whole model is the unit, so that each is loaded by one
node. Every unit belongs to exactly one node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.benchmarks.model import Benchmark, Task
from eval.benchmarks.models import Target
from eval.input_error import InputError


@dataclass(frozen=True)
class Unit:
    """One benchmark of one model."""

    target: Target
    benchmark: Benchmark
    task: Task


@dataclass(frozen=True)
class Shard:
    """Part `index` (from 0) of `count`."""

    index: int = 0
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Reads i/n; InputError unless 0 ≤ i < n."""
        index, slash, count = text.partition("/")
        if not (slash and index.isdecimal() and count.isdecimal() and int(count) >= 1):
            raise InputError(f"--shard {text!r}: write it as i/n, such as 0/4")
        if int(index) >= int(count):
            raise InputError(
                f"--shard {text!r}: parts are counted from 0, the last of {count} is "
                f"{int(count) - 1}/{count}"
            )
        return cls(int(index), int(count))


def units_of(
    targets: Sequence[Target], pairs: Sequence[tuple[Benchmark, Task]], shard: Shard
) -> list[Unit]:
    """This node's units, those of one model together."""
    if len(targets) >= shard.count:
        mine = [t for i, t in enumerate(targets) if i % shard.count == shard.index]
        return [Unit(t, b, task) for t in mine for b, task in pairs]
    whole = [Unit(t, b, task) for t in targets for b, task in pairs]
    return [u for i, u in enumerate(whole) if i % shard.count == shard.index]

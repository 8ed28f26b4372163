"""Which runs go into one request: those that have the same limits, up to a size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter

from gradebox.sandbox.batch import MOST_BYTES
from gradebox.sandbox.model import Limits

MOST_RUNS = 256

_common = attrgetter(*(one.name for one in fields(Limits) if one.name != "output_bytes"))


@dataclass(frozen=True)
class RunBatch:
    """Runs for one request: inputs, and the output limit of each.

    limits  the other limits, of all of them
    """

    limits: Limits
    stdins: Sequence[bytes]
    outputs: Sequence[int]


def batches(limits: Sequence[Limits], stdins: Sequence[bytes]) -> Iterator[RunBatch]:
    """Split runs into as few batches as possible, in their order."""
    first = 0
    while first < len(stdins):
        common, size, end = _common(limits[first]), len(stdins[first]), first + 1
        while end < len(stdins) and end - first < MOST_RUNS:
            size += len(stdins[end])
            same = limits[end] is limits[first] or _common(limits[end]) == common
            if size > MOST_BYTES or not same:
                break
            end += 1
        outputs = [one.output_bytes for one in limits[first:end]]
        yield RunBatch(limits[first], stdins[first:end], outputs)
        first = end

"""Which runs share a request."""

from dataclasses import replace

import pytest

from gradebox.sandbox.box.built_program import BuiltProgram
from gradebox.sandbox.box.run_request import MOST_RUNS, batches
from gradebox.sandbox.model import Limits
from gradebox.sandbox.protocol import MOST_BYTES

PROGRAM = BuiltProgram(("program",), "digest")
SLOW = Limits(cpu_s=3)
HALF = b"x" * (MOST_BYTES // 2)


def outputs(*sizes: int) -> list[Limits]:
    return [Limits(output_bytes=size) for size in sizes]


@pytest.mark.parametrize(
    ("limits", "stdins", "sizes"),
    [
        (outputs(1), [b"a"], [1]),
        (outputs(1, 2, 3), [b"a", b"", b"c"], [3]),
        ([Limits(), SLOW, SLOW, Limits()], [b"a"] * 4, [1, 2, 1]),
        ([Limits()] * 5, [HALF] * 5, [2, 2, 1]),
        ([Limits()] * 3, [HALF * 3, b"a", b"b"], [1, 2]),
        ([Limits()] * (MOST_RUNS + 1), [b""] * (MOST_RUNS + 1), [MOST_RUNS, 1]),
    ],
)
def test_runs_are_split_where_they_must(limits, stdins, sizes):
    made = list(batches(PROGRAM, limits, stdins))
    assert [len(batch.stdins) for batch in made] == sizes
    assert [stdin for batch in made for stdin in batch.stdins] == stdins
    each = [
        replace(batch.limits, output_bytes=output) for batch in made for output in batch.outputs
    ]
    assert each == limits


@pytest.mark.parametrize(
    "name", [name for name in Limits.__annotations__ if name != "output_bytes"]
)
def test_every_limit_but_that_of_the_output_is_common(name):
    other = replace(Limits(), **{name: getattr(Limits(), name) * 2})
    assert len(list(batches(PROGRAM, [Limits(), other], [b"", b""]))) == 2

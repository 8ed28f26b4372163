"""A program that starts by fork shows what it shows when its interpreter is started for it.

Excepted, and described in docs/sandbox.md: addresses, /proc, clocks, counters of the garbage
collector.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.box.python.both_ways import BothWays, both_ways
from tests.sandbox.box.python.programs import TABLES

pytestmark = [
    pytest.mark.slow(8),
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("python both ways"),
]

LEVELS = ("full", "delegated", "userns")
# What these show depends on the box; the others are run at the strongest level only.
OF_LEVELS = ("surroundings",)
AT_ONE = pytest.mark.levels()
EXAMPLES = Path(__file__).parents[4] / "examples" / "solutions.jsonl"


@pytest.fixture(scope="module", params=LEVELS)
def start(request: pytest.FixtureRequest) -> Iterator[BothWays]:
    with both_ways(request.param) as both:
        yield both


def bytes_of(source: str | bytes) -> bytes:
    return source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    "table", [pytest.param(x, marks=() if x in OF_LEVELS else AT_ONE) for x in TABLES]
)
def test_programs(start, table):
    different = {}
    for label, row in TABLES[table].items():
        source, options = row if isinstance(row, tuple) else (row, {})
        forked, plain = start.run(bytes_of(source), **options)
        if forked != plain:
            different[label] = forked, plain
    assert different == {}


@AT_ONE
def test_examples(start):
    rows = [json.loads(line) for line in EXAMPLES.read_text().splitlines()]
    sources = [row["code"] for row in rows if "code" in row and row.get("language") == "python"]
    assert sources
    for source in sources:
        forked, plain = start.run(source.encode())
        assert forked == plain


RANDOM = {
    "generator": "import random\nprint(random.random())",
    "another import before": "import heapq, json\nimport random\nprint(random.random())",
    "secret of processes": "import multiprocessing\n"
    "print(multiprocessing.current_process().authkey.hex())",
    "uuid": "import uuid\nprint(uuid.uuid4())",
}


@pytest.mark.parametrize("label", RANDOM)
def test_what_is_random_is_different_in_each_run(start, label):
    outputs = {start.run(RANDOM[label].encode())[0]["stdout"] for _ in range(3)}
    assert len(outputs) == 3


def test_no_run_sees_how_many_there_were(start):
    """The ids of a box's processes in /proc were a channel from one run to the next."""
    if start.level == "userns":
        grow = b"print(1)"
    else:
        grow = b"import os\nfor i in range(5):\n    if not os.fork(): os._exit(0)\n"
    shows = b"import os, heapq\nprint(os.readlink('/proc/self'))"
    seen = []
    for source in (shows, grow, shows, b"import stringprep, " + shows[7:], shows):
        seen += [run["stdout"] for run in start.run(source) if source != grow]
    assert len(set(seen)) == 1

"""Programs may open their standard streams again by name (/dev/stdin), at every level."""

from collections.abc import Iterator

import pytest

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import Compiled, Limits, Program
from tests.sandbox.levels import box_at, built

pytestmark = [pytest.mark.slow, pytest.mark.levels("userns")]  # each test starts real programs

LIMITS = Limits(cpu_s=5, wall_s=20)
REOPENS = b"""
#include <cstdio>
int main() {
    int n = 0;
    if (!freopen("/dev/stdin", "r", stdin)) return 1;
    if (!freopen("/dev/stdout", "w", stdout)) return 2;
    if (!freopen("/dev/stderr", "w", stderr)) return 3;
    if (scanf("%d", &n) != 1) return 4;
    printf("%d\\n", n + 1);
    fprintf(stderr, "said %d\\n", n);
}
"""
ASKS = b"print(41, flush=True)\nprint('it said', input())\n"


@pytest.fixture(scope="module", params=("full", "delegated", "userns"))
def box(request: pytest.FixtureRequest) -> Iterator[EmbeddedSandbox]:
    with box_at(request.param) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def reopens(box: EmbeddedSandbox) -> Compiled:
    return built(box, REOPENS)


@pytest.mark.parametrize("stdin", [b"41\n", b"41\n" + bytes(100_000)], ids=["small", "large"])
def test_streams_of_a_run(box, reopens, stdin):
    for _ in range(4):  # later runs are started early
        result = box.run(reopens, LIMITS, stdin=stdin)
        assert (result.exit_code, result.stdout, result.stderr) == (0, b"42\n", b"said 41\n")


def test_streams_of_an_interaction(box, reopens):
    asks = box.compile(Program("python", {"main.py": ASKS}))
    result = box.interact(asks, reopens, LIMITS, LIMITS)
    assert (result.second.exit_code, result.second.stderr) == (0, b"said 41\n")
    assert (
        b"".join(data for who, data in result.transcript if who == "first") == b"41\nit said 42\n"
    )

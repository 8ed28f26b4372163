"""The three streams of a run, opened again by their names: programs do it by /dev/stdin and the
like, whichever user the box runs them as.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox.box import EmbeddedSandbox
from sandbox.model import Compiled, Limits, Program
from tests.sandbox.levels import box_at, built

pytestmark = pytest.mark.slow  # each test starts real programs

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
def test_of_files(box: EmbeddedSandbox, reopens: Compiled, stdin: bytes) -> None:
    for _ in range(4):  # the later ones stood ready
        seen = box.run(reopens, LIMITS, stdin=stdin)
        assert (seen.exit_code, seen.stdout, seen.stderr) == (0, b"42\n", b"said 41\n")


def test_of_pipes(box: EmbeddedSandbox, reopens: Compiled) -> None:
    asks = box.compile(Program("python", {"main.py": ASKS}))
    seen = box.interact(asks, reopens, LIMITS, LIMITS)
    assert (seen.second.exit_code, seen.second.stderr) == (0, b"said 41\n")
    assert b"".join(data for who, data in seen.transcript if who == "first") == b"41\nit said 42\n"

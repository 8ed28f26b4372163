"""A compiler is stopped while its core is another grader's, and loses nothing by it."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox import Program
from gradebox.sandbox.box import EmbeddedSandbox, core_locks, cores
from gradebox.sandbox.box.cores import Cores
from gradebox.sandbox.common.cpus import Core, allowed_cpus
from gradebox.sandbox.model import Compiled
from tests.sandbox.levels import box_at

pytestmark = pytest.mark.slow(seconds=3)
# About a second of the compiler's CPU time.
SOURCE = b"""
constexpr int f(int n) {
    int x = n;
    for (int i = 0; i < 6000; i++) x = (x * 31 + i) % 10007;
    return x;
}
template <int n> struct S { static constexpr int value = f(n) + S<n - 1>::value % 7; };
template <> struct S<0> { static constexpr int value = 1; };
int main() { return S<60>::value < 0; }
"""


@pytest.fixture(params=["full", "landlock"])
def box(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EmbeddedSandbox]:
    """A sandbox with one core, which it shares with other graders of the test only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_locks, "_folders", lambda: iter([tmp_path]))
        patch.setattr(cores, "physical_cores", lambda *_: [Core(min(allowed_cpus()), 0)])
        with box_at(request.param, python_start="exec") as opened:
            yield opened


class Compilation(threading.Thread):
    """Compiles a program in the background."""

    def __init__(self, box: EmbeddedSandbox) -> None:
        super().__init__(daemon=True)
        self._do = lambda: box.compile(Program("c++17", {"main.cpp": SOURCE}))
        self.made: Compiled | None = None
        self.start()

    def run(self) -> None:
        self.made = self._do()


def wait_until_begun(box: EmbeddedSandbox) -> None:
    end = time.monotonic() + 60
    while box._cores._free and time.monotonic() < end:
        time.sleep(0.005)


def test_a_compiler_is_stopped_while_another_grader_runs(box):
    box.compile(Program("c++17", {"main.cpp": b"int main() {}"}))  # the probe
    other = Cores(1)
    began = time.monotonic()
    work = Compilation(box)
    wait_until_begun(box)
    for run_s in (0.02, 1):  # not more: it works for a moment before it makes way
        with other.one():
            work.join(run_s)
    assert work.is_alive()
    other.close()
    work.join()
    assert work.made is not None and work.made.ok and work.made.execution is not None
    assert work.made.execution.wall_s < time.monotonic() - began - 0.9

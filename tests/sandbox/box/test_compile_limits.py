"""A compiler is stopped for the CPU time of its children, also without a control group."""

from dataclasses import replace

import pytest

from gradebox.sandbox.box.toolchains.compiler import LIMITS
from gradebox.sandbox.model import Program
from tests.sandbox.levels import box_at

pytestmark = pytest.mark.slow  # each test starts a real compiler

MINUTES = "constexpr int f(int n) {\n  int s = 0;\n" + (
    "  for (int i = 0; i < 1000; i++)\n    for (int j = 0; j < 1000; j++) s += (i ^ j ^ n) & 1;\n"
    "  return s;\n}\n"
    + "".join(f"static_assert(f({n}) > 0);\n" for n in range(1000))
    + "int main() {}\n"
)


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_constants_that_take_minutes_are_stopped(level):
    with box_at(level) as sandbox:
        made = sandbox.compile(
            Program("c++17", {"main.cpp": MINUTES.encode()}), replace(LIMITS, cpu_s=0.6, wall_s=150)
        )
    assert not made.ok
    assert made.execution is not None and made.execution.killed_for in (None, "cpu")
    assert (b"cpu limit" if level == "full" else b"CPU time limit") in made.log

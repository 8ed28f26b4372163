"""The embedded sandbox for tests of checkers and interactors, and what was asked of it."""

from collections.abc import Iterator
from typing import Any

import pytest

from gradebox.sandbox.model import Compiled, Execution, Interaction, Program
from gradebox.sandbox.protocol import Sandbox
from tests.sandbox.backends import open_backend


class WatchedBox:
    """A sandbox that keeps the arguments of its runs and counts its compilations."""

    def __init__(self, box: Sandbox) -> None:
        self.box, self.capabilities = box, box.capabilities
        self.runs: list[dict[str, Any]] = []
        self.compiles = 0

    def compile(self, program: Program) -> Compiled:
        self.compiles += 1
        return self.box.compile(program)

    def run(self, *what: Any, **case: Any) -> Execution:
        self.runs.append(case)
        return self.box.run(*what, **case)

    def interact(self, *what: Any, **case: Any) -> Interaction:
        self.runs.append(case)
        return self.box.interact(*what, **case)


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_backend("box", slots=1) as box:  # skips where no box works
        yield box


@pytest.fixture
def sandbox(box: Sandbox) -> WatchedBox:
    return WatchedBox(box)

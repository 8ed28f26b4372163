"""An embedded box at a level, for tests that go through several."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.box import EmbeddedSandbox
from sandbox.errors import SandboxError
from sandbox.model import Compiled, Program


def box_at(level: str, **options: Any) -> EmbeddedSandbox:
    """A box of one slot, to be closed; the test is skipped where the level can't be had."""
    try:
        return EmbeddedSandbox(1, level=level, **options)
    except SandboxError as error:
        pytest.skip(f"level {level}: {error}")


def built(box: EmbeddedSandbox, source: bytes) -> Compiled:
    """A C++ program, compiled in that box; what g++ said is the failure's text."""
    made = box.compile(Program("c++17", {"main.cpp": source}))
    assert made.ok, made.log.decode()
    return made

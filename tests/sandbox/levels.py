"""Boxes at a given isolation level, for tests that cover several levels."""

from __future__ import annotations

from typing import Any

import pytest

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Compiled, Program


def box_at(level: str, **options: Any) -> EmbeddedSandbox:
    """Return a sandbox with one slot; skip the test where the level is not available."""
    try:
        return EmbeddedSandbox(1, level=level, **options)
    except SandboxError as error:
        pytest.skip(f"level {level}: {error}")


def built(box: EmbeddedSandbox, source: bytes) -> Compiled:
    """Return a C++ program, compiled in that sandbox."""
    made = box.compile(Program("c++17", {"main.cpp": source}))
    assert made.ok, made.log.decode()
    return made

"""Idle boxes, with boxes that are not started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from gradebox.sandbox.box.runner import BoxPool


def test_boxes_in_use_when_the_pool_is_invalidated_are_not_kept() -> None:
    def box(kind: str) -> Any:
        return SimpleNamespace(core=None, last_digest="", needs_recycling=False, close=lambda: None)

    pool = BoxPool()
    pool.factory = SimpleNamespace(box=box)  # type: ignore[assignment]
    in_use = pool.take()
    pool.invalidate()
    pool.give_back(in_use)
    new = pool.take()
    assert new is not in_use
    pool.give_back(new)
    assert pool.take() is new

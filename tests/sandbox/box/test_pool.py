"""Idle boxes, with boxes that are not started."""

from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from gradebox.sandbox.box.runner import BoxPool
from gradebox.sandbox.errors import SandboxError


def pool_of_boxes() -> BoxPool:
    def box(kind: str) -> Any:
        return Mock(core=None, last_digest="", needs_recycling=False)

    pool = BoxPool()
    pool.factory = SimpleNamespace(box=box)  # type: ignore[assignment]
    return pool


def test_boxes_in_use_when_the_pool_is_invalidated_are_not_kept() -> None:
    pool = pool_of_boxes()
    in_use = pool.take()
    pool.invalidate()
    pool.give_back(in_use)
    new = pool.take()
    assert new is not in_use
    pool.give_back(new)
    assert pool.take() is new


def test_boxes_in_use_when_the_pool_is_aborted_are_killed_once() -> None:
    pool = pool_of_boxes()
    with ExitStack() as one, ExitStack() as others:
        boxes: list[Any] = [one.enter_context(pool.box())]
        boxes += [others.enter_context(pool.box()) for _ in range(2)]
        one.close()
        pool.abort()
        assert [box.kill.call_count for box in boxes] == [0, 1, 1]
    assert [box.close.call_count for box in boxes] == [1, 1, 1]
    pool.abort()
    assert [box.kill.call_count for box in boxes] == [0, 1, 1]
    with pytest.raises(SandboxError, match="the sandbox is closed"):
        pool.take()

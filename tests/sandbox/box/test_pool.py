"""Which idle box does a run, with boxes that are not started."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gradebox.sandbox.box.runner import BoxPool
from gradebox.sandbox.common.cpus import Core


def idle_box(name: str, node: int | None, digest: str) -> Any:
    core = None if node is None else Core(4 * node, 4 * node, node)
    return SimpleNamespace(
        name=name, core=core, last_digest=digest, needs_recycling=False, age=0, close=lambda: None
    )


@pytest.fixture
def pool() -> BoxPool:
    pool = BoxPool()
    new: Any = SimpleNamespace(box=lambda kind: idle_box("new", None, ""))
    pool.factory = new
    for row in (
        ("a", 0, "sum"),
        ("b", 1, "max"),
        ("c", 1, "sum"),
        ("d", 0, "max"),
        ("e", None, ""),
    ):
        pool.give_back(idle_box(*row))
    return pool


@pytest.mark.parametrize(
    ("digest", "node", "taken"),
    [
        ("sum", 0, "adceb"),
        ("sum", 1, "cbaed"),
        ("max", 1, "bcdea"),
        ("other", 0, "daecb"),
        ("sum", 7, "caedb"),
    ],
)
def test_node_comes_before_files_and_recent_use(
    pool: BoxPool, digest: str, node: int, taken: str
) -> None:
    boxes: list[Any] = [pool.take("program", digest, node) for _ in range(6)]
    assert [box.name for box in boxes] == [*taken, "new"]


def test_boxes_in_use_when_the_pool_is_invalidated_are_not_kept(pool: BoxPool) -> None:
    in_use: Any = pool.take()
    pool.invalidate()
    pool.give_back(in_use)
    new: Any = pool.take()
    assert new.name == "new"
    pool.give_back(new)
    assert pool.take() is new

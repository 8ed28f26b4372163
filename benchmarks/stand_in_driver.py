"""A driver process with the stand-in as its sandbox: scaling.py starts it for the real one."""

from __future__ import annotations

from typing import Any

from benchmarks.stand_in import StandIn
from gradebox.eval.grading.drivers import driver
from gradebox.sandbox.children.channel import Channel

MAIN = "benchmarks.stand_in_driver:main"


def main(channel: Channel) -> None:
    def open_stand_in(kind: str, *, slots: int, **_: Any) -> StandIn:
        return StandIn(slots)

    driver.open_sandbox = open_stand_in  # type: ignore[assignment]
    driver.run_driver(channel)

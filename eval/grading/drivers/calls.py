"""Calls between the parent and a driver: the name of a method and its arguments. None is answered.

    parent ─▶ driver   open_session, open_run, add_problem, work, widen, stop_run, end_run,
                       forget, close_session: methods of `Driver`
    driver ─▶ parent   ready, started, graded, counted, run_ended, logged, warned: methods of
                       `DriverPool` that begin with `on_` and take the driver first

A session is what grades with one set of options; several may share drivers (the graders of a
server). A run is one `Executor.run`; several may be open at once (the batches of a `Grader`).
Both ends run this code for the same user, and programs never have the channel: calls are pickles.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradebox.sandbox.children.channel import Channel
from gradebox.sandbox.model import Description


@dataclass(frozen=True)
class DriverSetup:
    """What a driver opens.

    sandbox      arguments of the sandbox's constructor
    slots        programs at once, of all drivers together
    workers      solutions' cases that this driver runs at once
    hidden       paths that programs must not see
    description  of the parent's sandbox, which records state
    log_level    of messages that are passed on
    """

    sandbox: Mapping[str, Any]
    slots: int
    workers: int
    hidden: tuple[str, ...]
    description: Description
    log_level: int


class Calls:
    """One end of a channel. Any thread may call; one thread takes the other end's calls."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    def call(self, method: str, *arguments: Any, fd: int | None = None) -> None:
        """Call a method of the other end. Raises OSError when that end is gone.

        fd  an open descriptor that belongs to the call
        """
        self.channel.send(pickle.dumps((method, arguments), 5), fd)

    def take(self) -> tuple[str, tuple[Any, ...]] | None:
        """Wait for a call; return the method's name and its arguments, None at the end."""
        try:
            method, arguments = pickle.loads(self.channel.receive())
        except (EOFError, OSError):
            return None
        return method, arguments

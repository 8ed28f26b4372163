"""A session and the drivers that grade for it: its own, or those that several sessions share."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from gradebox.eval.common.paths import working_folder
from gradebox.eval.grading.drivers.calls import DriverSetup
from gradebox.eval.grading.drivers.pool import DriverPool
from gradebox.eval.grading.executors.setup import setup_of
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.session import GradingSession, box_options
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.protocol import Sandbox

_numbers = count(1)


def open_drivers(options: Options, sandbox: Sandbox, hidden: Iterable[str | Path]) -> DriverPool:
    """Start `options.drivers` drivers with `options.workers` in all. Raises InputError.

    sandbox  that theirs must be equal to
    hidden   paths that programs must not see
    """
    folder = working_folder()  # drivers inherit a removed one
    share, more = divmod(options.workers, options.drivers)
    level = logging.getLogger().getEffectiveLevel()
    paths = tuple(str(Path(folder or "", path)) for path in hidden)
    box = {**box_options(options), "measured": getattr(sandbox, "measured", None)}
    description = sandbox.describe()
    setups = [
        DriverSetup(box, options.workers, share + (index < more), paths, description, level)
        for index in range(options.drivers)
    ]
    return DriverPool(setups, folder)


class DriverSession(Closeable):
    """A session that drivers know, until it is closed."""

    def __init__(self, session: GradingSession) -> None:
        self.pool = session.drivers or session.keep(
            "own drivers",
            lambda: open_drivers(session.options, session.sandbox, session.private_paths()),
        )
        values = setup_of(session.options, "box", "").options
        self.opening = next(_numbers), values

    def close(self) -> None:
        """Let the drivers forget the session and its problems."""
        self.pool.forget(self.opening[0])

"""What a user types after an interrupt. With --fresh it depends on when the interrupt came:

    command starts ─────── all that earlier runs wrote is discarded ─────── programs run
       the same command    the same command without --fresh: it continues, and nothing starts over

All of it is discarded at once: with several solutions files, the second one's earlier records
would otherwise be there for a run without --fresh.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

_discarded = threading.Event()


def command_starts() -> None:
    """Note that nothing is discarded yet."""
    _discarded.clear()


def is_discarded() -> None:
    """Note that nothing of earlier runs is left."""
    _discarded.set()


def how_to_continue(argv: Sequence[str]) -> str:
    """Return what to type to continue a command with these arguments."""
    leave_out = "--fresh" in argv and _discarded.is_set()
    return f"start the same command again{' without --fresh' * leave_out} to continue"

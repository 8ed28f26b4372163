"""The exit statuses of every command."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """What a command's end means; docs/exit-statuses.md lists what to do about each."""

    OK = 0
    NEGATIVE = 1  # the command worked and its answer is no: no isolation, another verdict
    BAD_INPUT = 2
    INFRASTRUCTURE = 3
    INTERRUPTED = 130

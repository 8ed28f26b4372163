"""Paths of files that are installed with gradebox, and of the working folder."""

import contextlib
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "models" / "data"


def working_folder() -> str | None:
    """Return this process's folder; None for one that was removed."""
    with contextlib.suppress(OSError):
        return str(Path.cwd())
    return None

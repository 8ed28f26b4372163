"""Run a command as a user would, and keep what it prints as text."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def run_command(words: Sequence[object], **options: Any) -> subprocess.CompletedProcess[str]:
    """Return how a command ended and what it printed; in the repository's root by default.

    options  of subprocess.run
    """
    usual = {"cwd": ROOT, "capture_output": True, "text": True, "check": False}
    return subprocess.run([str(word) for word in words], **(usual | options))

"""Grades solutions against official and generated tests and problems' checkers: see --help.

`run_piston_test` can be imported from here: one case on a Piston server.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # A script's folder comes first on sys.path; its modules would shadow libraries'.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from eval.cli import main


def __getattr__(name: str) -> Any:
    """Loads run_piston_test when it is asked for: --help needs no HTTP client."""
    if name == "run_piston_test":
        from eval.piston_test import run_piston_test

        return run_piston_test
    raise AttributeError(name)


if __name__ == "__main__":
    sys.exit(main())

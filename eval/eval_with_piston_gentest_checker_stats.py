"""Grades solutions against official and generated tests and problems' checkers: see --help."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # A script's folder comes first on sys.path; its modules would shadow libraries'.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from eval.cli import main

if __name__ == "__main__":
    sys.exit(main())

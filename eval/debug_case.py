"""Explain one case of a run: `python eval/debug_case.py RESULTS --problem 1000/A`."""

import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # eval/ would hide libraries

from gradebox.eval.cli.commands.debug import main

if __name__ == "__main__":
    sys.exit(main())

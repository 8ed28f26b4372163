"""`python -m gradebox COMMAND`, and `python PATH/gradebox COMMAND` without an installation."""

import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from gradebox.eval.cli.console import main

if __name__ == "__main__":
    sys.exit(main())

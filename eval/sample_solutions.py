"""Sample solutions from a model server: `python eval/sample_solutions.py --server-url URL`."""

import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # eval/ would hide libraries

from gradebox.eval.cli.commands.sample_solutions import main

if __name__ == "__main__":
    sys.exit(main())

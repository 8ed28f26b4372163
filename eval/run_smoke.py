"""Ask models whether one equation implies another: `python eval/run_smoke.py --limit 2`."""

import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # eval/ would hide libraries

from gradebox.eval.cli.commands.run_smoke import main

if __name__ == "__main__":
    sys.exit(main())

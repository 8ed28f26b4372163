"""Grade solutions against the tests of their problems: see --help.

`run_piston_test` can be imported from here. It runs one case on a Piston server.
"""

import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__" and not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # eval/ would hide libraries

from gradebox.eval.cli.grade import main


def __getattr__(name: str) -> Any:
    """Load `run_piston_test` on first use, because --help needs no HTTP client."""
    if name == "run_piston_test":
        from gradebox.eval.api.piston_case import run_piston_test

        return run_piston_test
    raise AttributeError(name)


if __name__ == "__main__":
    sys.exit(main())

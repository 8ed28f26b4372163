"""One case of an earlier run, explained: `python eval/debug_case.py RESULTS --problem 1000/A`.

Runs it again in the sandbox and shows verdict then and now, limits, input, outputs and the
checker's words; also lists cases by reason, exports one, opens a shell with its files, and
grades chosen ones again. See --help and docs/debugging.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # A script's folder comes first on sys.path; its modules would shadow libraries'.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from eval.debugging.command import main

if __name__ == "__main__":
    sys.exit(main())

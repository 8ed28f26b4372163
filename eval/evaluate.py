"""Grade a model server on math problems: `python eval/evaluate.py --server-url URL`."""

import os
import sys

if __name__ == "__main__":
    if not __package__:
        sys.path[0] = os.path.realpath(__file__ + "/../../src")  # eval/ would hide libraries
    from gradebox import _early_signals

    _early_signals.handle()

from gradebox.eval.cli.commands.evaluate import main

if __name__ == "__main__":
    sys.exit(main())

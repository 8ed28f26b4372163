"""Sample solutions from a model server: `python eval/sample_solutions.py --server-url URL`."""

import os
import sys

if __name__ == "__main__":
    if not __package__:
        sys.path[0] = os.path.realpath(__file__ + "/../../src")  # eval/ would hide libraries
    from gradebox._early_signals import run

    sys.exit(run("gradebox.eval.cli.commands.sample_solutions"))

"""Run benchmarks from a configuration file: `python eval/run_benchmarks.py --help`."""

import os
import sys

if __name__ == "__main__":
    if not __package__:
        sys.path[0] = os.path.realpath(__file__ + "/../../src")  # eval/ would hide libraries
    from gradebox._early_signals import run

    sys.exit(run("gradebox.eval.cli.commands.run_benchmarks"))

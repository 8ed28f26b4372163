"""Grade solutions against the tests of their problems: see --help.

`run_piston_test` can be imported from here. It runs one case on a Piston server.
"""

import os
import sys


def __getattr__(name: str) -> object:
    """Load `run_piston_test` on first use, because --help needs no HTTP client."""
    if name == "run_piston_test":
        from gradebox.eval.api.calls import run_piston_test

        return run_piston_test
    raise AttributeError(name)


if __name__ == "__main__":
    if not __package__:
        sys.path[0] = os.path.realpath(__file__ + "/../../src")  # eval/ would hide libraries
    from gradebox._early_signals import run

    sys.exit(run("gradebox.eval.cli.grade"))

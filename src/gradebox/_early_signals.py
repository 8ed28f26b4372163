"""What Ctrl-C and SIGTERM do while a command is being loaded: one line, and exit status 130.

A command loads modules for up to a second before it sets handlers of its own
(eval/common/signals.py). Python's own handler would print the traceback of an import. Commands
call `handle` first of all; the library does not, because signals belong to the program around it.
"""

from __future__ import annotations

import os
from _signal import SIGINT, SIGTERM, signal  # type: ignore[import-not-found]  # signal also loads enum

INTERRUPTED = 130  # ExitStatus is defined in a package that loads too much to be here in time


def handle() -> None:
    """End this process at once, in words, on every signal that comes before other handlers."""
    for number in (SIGINT, SIGTERM):
        signal(number, _leave)


def main() -> int:
    """Run the console script `gradebox`."""
    handle()
    from gradebox.eval.cli.console import main

    return main()


def run(module: str) -> int:
    """Run a command script of `eval/`, which is the `main` of a module."""
    handle()
    from importlib import import_module

    status: int = import_module(module).main()
    return status


def _leave(number: int, frame: object) -> None:
    os.write(2, b"interrupted; start the same command again to continue\n")
    os._exit(INTERRUPTED)

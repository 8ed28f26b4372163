"""`OneLineParser`: argparse whose errors are one line and name the flag that was meant."""

from __future__ import annotations

import argparse
import difflib
import itertools
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from eval.input_error import InputError


class OneLineParser(argparse.ArgumentParser):
    """Raises InputError where argparse would print its usage and exit.

    A mistyped flag is often told as another one that is missing (`--solution-path`), so
    each unknown flag of the line with a near neighbour is named, whatever the error was.
    """

    _words: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._words = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}{self._meant()}; see --help")

    def _meant(self) -> str:
        known = [flag for flag in self._option_string_actions if flag.startswith("--")]
        hints = []
        for word in itertools.takewhile(lambda word: word != "--", self._words):
            flag = word.partition("=")[0]
            if flag.startswith("--") and flag not in known:
                near = difflib.get_close_matches(flag, known, n=1, cutoff=0.75)
                hints += [f"; {flag}: did you mean {name}" for name in near]
        return "".join(dict.fromkeys(hints))

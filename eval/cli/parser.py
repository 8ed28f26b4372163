"""`CommandParser`, the argument parser of every command, and the types of its arguments."""

from __future__ import annotations

import argparse
import difflib
import itertools
import math
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from gradebox.eval.common.errors import InputError

MAX_LINE = 80  # a longer line of a description or an epilog is wrapped


class _Help(argparse.RawDescriptionHelpFormatter):
    """Name only required arguments in the usage line, and show the defaults of the others."""

    def add_usage(
        self, usage: str | None, actions: Iterable[argparse.Action], groups: Any, prefix: Any = None
    ) -> None:
        self._prog += " [flags]"
        required = [a for a in actions if a.required or not a.option_strings]
        super().add_usage(usage, required, [], prefix)

    def _get_default_metavar_for_optional(self, action: argparse.Action) -> str:
        return _METAVARS.get(action.type) or action.dest.split("_")[-1].upper()

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(
            line if len(line) <= MAX_LINE else textwrap.fill(line, width)
            for line in text.splitlines()
        )

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        default, text = action.default, action.help or ""
        if default in (None, "", (), [], argparse.SUPPRESS) or default is False:
            return action.help
        if isinstance(default, Path) and default.is_relative_to(Path.cwd()):
            default = default.relative_to(Path.cwd())
        listed = isinstance(default, (tuple, list))
        between = " " if action.nargs else ","
        shown = between.join(map(str, default)) if listed else str(default)
        return f"{text} (default: {shown})".lstrip().replace("%", "%%")


class CommandParser(argparse.ArgumentParser):
    """An argument parser that raises InputError where argparse would print and exit.

    argparse often reports a mistyped flag as a missing one, so the message names each unknown
    flag that is close to a known one, whatever the error was.
    """

    _words: Sequence[str] = ()

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=_Help, allow_abbrev=False, **settings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._words = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}{self._suggestions()}; see --help")

    def _suggestions(self) -> str:
        known = [flag for flag in self._option_string_actions if flag.startswith("--")]
        hints = []
        for word in itertools.takewhile(lambda word: word != "--", self._words):
            flag = word.partition("=")[0]
            if flag.startswith("--") and flag not in known:
                near = difflib.get_close_matches(flag, known, n=1, cutoff=0.75)
                hints += [f"; {flag}: did you mean {name}" for name in near]
        return "".join(dict.fromkeys(hints))


def positive_int(text: str) -> int:
    """Parse a whole number of at least 1."""
    return int(_number(text, least=1, whole=True))


def natural_int(text: str) -> int:
    """Parse a whole number of at least 0."""
    return int(_number(text, least=0, whole=True))


def not_negative(text: str) -> float:
    """Parse a finite number of at least 0."""
    return _number(text, least=0, whole=False)


def _number(text: str, *, least: int, whole: bool) -> float:
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = math.nan
    if not least <= value < math.inf:
        kind = "whole number" if whole else "number"
        raise argparse.ArgumentTypeError(f"{text!r}: give a {kind} of at least {least}")
    return value


_METAVARS: dict[Any, str] = {
    int: "N", positive_int: "N", natural_int: "N", float: "X", not_negative: "X",
}  # fmt: skip

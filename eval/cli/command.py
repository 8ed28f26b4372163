"""Run a command: parse its arguments, turn its errors into one line on stderr and an exit status.

`CommandParser` is the argument parser of every command; the types of its arguments are here too.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import itertools
import logging
import math
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.signals import (
    command_starts,
    how_to_continue,
    signals_as_keyboard_interrupt,
)
from gradebox.eval.common.streams import print_line, repair_streams, silence
from gradebox.sandbox.common.exit_status import ExitStatus
from gradebox.sandbox.errors import SandboxError

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


REQUIRED = object()
Kind = Callable[[str], Any] | tuple[str, ...]
FlagRow = tuple[str, Kind, Any, str]


def add_flags(to: Any, *rows: FlagRow) -> None:
    """Add a flag to a parser, or to a group of one, for each row (words, kind, default, help).

    words    its names and perhaps a name for its value: `--models-file --model-file FILE`. After
             the value's name, + means one or more values, * any number, & that it may be repeated
    kind     reads a value, or lists the possible ones; bool for a flag without a value
    default  `REQUIRED` for a flag that must be given
    """
    for words, kind, default, text in rows:
        names = [word for word in words.split() if word.startswith("-")]
        metavar = words.split()[-1] if len(names) < len(words.split()) else ""
        settings: dict[str, Any] = {"help": text}
        if kind is bool:
            settings["action"] = "store_true"
        else:
            settings |= {"required": True} if default is REQUIRED else {"default": default}
            settings |= {"choices": kind} if isinstance(kind, tuple) else {"type": kind}
            settings |= _HOW_MANY.get(metavar[-1:], {})
        if metavar.rstrip("+*&"):
            settings["metavar"] = metavar.rstrip("+*&")
        to.add_argument(*names, **settings)


_HOW_MANY = {"+": {"nargs": "+"}, "*": {"nargs": "*"}, "&": {"action": "append"}}


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


# Module that only some commands need → the extra that installs it.
EXTRAS = {"aiohttp": "view", "httpx": "sampling", "tenacity": "sampling", "sympy": "math"}
OUT_OF_MEMORY = (
    "this process ran out of memory: give fewer --workers or smaller files, or raise its limit, "
    "then start the same command again to continue"
)


def run_command(
    make_parser: Callable[[], argparse.ArgumentParser],
    action: Callable[[argparse.Namespace], int],
    argv: Sequence[str] | None = None,
    *,
    log_to_stderr: bool = True,
    on_broken_pipe: ExitStatus = ExitStatus.INTERRUPTED,
) -> int:
    """Parse the arguments, call `action` with them and return the exit status.

    argv           the arguments; None: those of the process
    log_to_stderr  print warnings, and information from gradebox, on stderr
    on_broken_pipe status when the reader of the output has gone
    """
    repair_streams()
    command_starts()
    with (
        signals_as_keyboard_interrupt(),
        _warnings_as_lines(),
        _stderr_logging() if log_to_stderr else contextlib.nullcontext(),
    ):
        try:
            return action(make_parser().parse_args(argv))
        except InputError as error:
            return _failed(error, ExitStatus.BAD_INPUT)
        except ModuleNotFoundError as error:
            extra = EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            why = f"{error.name} is not installed; pip install 'gradebox[{extra}]'"
            return _failed(why, ExitStatus.BAD_INPUT)
        except KeyboardInterrupt:
            typed = sys.argv if argv is None else argv
            print_line(f"interrupted; {how_to_continue(typed)}", sys.stderr)
            return ExitStatus.INTERRUPTED
        except MemoryError:
            return _failed(OUT_OF_MEMORY, ExitStatus.INFRASTRUCTURE)
        except BrokenPipeError:
            silence(sys.stdout)
            return on_broken_pipe
        except Exception as error:
            if not _is_infrastructure(error):
                raise
            return _failed(error, ExitStatus.INFRASTRUCTURE)


def _is_infrastructure(error: Exception) -> bool:
    from gradebox.eval.models.exchange import ServerLost

    return isinstance(error, (ServerLost, SandboxError))


def _failed(error: object, status: ExitStatus) -> ExitStatus:
    from gradebox.eval.common.terminal import escape

    print_line(f"error: {escape(' '.join(str(error).splitlines()))}", sys.stderr)
    return status


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print a warning as one line; Python's form adds the place and the source line of the code."""

    def line_of(message: Warning | str, *place: object, **more: object) -> str:
        return f"warning: {' '.join(str(message).split())}\n"

    old = warnings.formatwarning
    warnings.formatwarning = line_of
    try:
        yield
    finally:
        warnings.formatwarning = old


@contextlib.contextmanager
def _stderr_logging() -> Iterator[None]:
    """Log to stderr: warnings of every library, and information from gradebox."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    root, own = logging.getLogger(), logging.getLogger("gradebox")
    level = own.level
    root.addHandler(handler)
    own.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        own.setLevel(level)

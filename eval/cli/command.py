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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.signals import (
    how_to_continue,
    signals_as_keyboard_interrupt,
)
from gradebox.eval.common.streams import print_line, repair_streams, silence
from gradebox.sandbox.common.exit_status import ExitStatus
from gradebox.sandbox.errors import SandboxError

if TYPE_CHECKING:
    from gradebox.eval.models.sampler import SamplerOptions

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
             the value's name, + means one or more values, * any number, ? one or none, & that it
             may be repeated. `results RESULTS` is an argument without a flag
    kind     reads a value, or lists the possible ones; bool for a flag without a value
    default  `REQUIRED` for a flag that must be given
    """
    for words, kind, default, text in rows:
        *names, metavar = words.split()
        if metavar.startswith("-"):
            names, metavar = [*names, metavar], ""
        settings: dict[str, Any] = {"help": text}
        if kind is bool:
            settings["action"] = "store_true"
        else:
            if names[0].startswith("-") and default is REQUIRED:
                settings["required"] = True
            elif default is not REQUIRED:
                settings["default"] = default
            settings |= {"choices": kind} if isinstance(kind, tuple) else {"type": kind}
            settings |= _HOW_MANY.get(metavar[-1:], {})
        if metavar.rstrip("+*?&"):
            settings["metavar"] = metavar.rstrip("+*?&")
        to.add_argument(*names, **settings)


_HOW_MANY: dict[str, dict[str, str]] = {
    **{mark: {"nargs": mark} for mark in "+*?"},
    "&": {"action": "append"},
}


def parser_of(
    description: str,
    *rows: FlagRow,
    groups: Mapping[str, Sequence[FlagRow]] = {},  # never changed
    **settings: Any,
) -> Callable[[], CommandParser]:
    """Return a function that makes the parser of a command.

    rows      its arguments; see `add_flags`
    groups    more of them, under titles
    settings  prog and epilog
    """

    def make() -> CommandParser:
        parser = CommandParser(description=description, **settings)
        add_flags(parser, *rows)
        for title, more in groups.items():
            add_flags(parser.add_argument_group(title), *more)
        return parser

    return make


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
EXTRAS = {
    "aiohttp": "view", "httpx": "sampling", "tenacity": "sampling", "sympy": "math",
    "shtab": "completion",
}  # fmt: skip
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
            from gradebox.eval.common.terminal import shell_word

            extra = EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            pip = f"{shell_word(sys.executable or 'python')} -m pip"
            why = f"{error.name} is not installed; {pip} install 'gradebox[{extra}]'"
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
    from gradebox.eval.models.exchange import CallError

    return isinstance(error, (CallError, SandboxError))


def _failed(error: object, status: ExitStatus) -> ExitStatus:
    from gradebox.eval.common.terminal import escape

    print_line(f"error: {escape(' '.join(str(error).splitlines()))}", sys.stderr)
    return status


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print a warning as one line; Python's form adds the place and the source line of the code.

    Those about the syntax of Python in rows, which Python shows from 3.12 on, are left out.
    """

    def line_of(message: Warning | str, *place: object, **more: object) -> str:
        return f"warning: {' '.join(str(message).split())}\n"

    old = warnings.formatwarning
    warnings.formatwarning = line_of
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
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


# ---- flags of commands that run something of an earlier run again ----

INSTEAD = "instead of the run's flags"
OVERRIDES: tuple[FlagRow, ...] = (
    ("--solutions-path FILE", str, None, "the solutions file"),
    ("--dataset NAME|PATH", str, None, "the problems"),
    ("--generated-tests-dir DIR", str, None, "the generated tests"),
    ("--testlib PATH", str, None, "path of testlib.h"),
    ("--allow-unsafe-sandbox", bool, False, "never taken from the run's flags"),
)


def names_of(rows: Iterable[FlagRow]) -> list[str]:
    """Return the names that the values of flags have among the arguments."""
    return [words.split()[0].removeprefix("--").replace("-", "_") for words, *_ in rows]


# ---- flags of commands that send requests to a model server ----

CALL_TIMEOUT_HELP = "seconds for a call with its retries; 0: no limit"
FRESH: FlagRow = ("--fresh", bool, False, "discard earlier answers and ask everything again")


def sampling_flags(
    *, max_tokens: int, concurrency: int, call_timeout_s: float
) -> tuple[FlagRow, ...]:
    """Return the flags of commands that ask OpenAI-compatible servers, with these defaults."""
    return (
        ("--temperature", not_negative, 0.0, "sampling temperature"),
        ("--top-p", not_negative, 1.0, "probability mass of nucleus sampling"),
        ("--max-tokens", positive_int, max_tokens, "output tokens of a reply"),
        ("--seed", int, None, "seed of the first sample; each further sample adds 1"),
        ("--concurrency", positive_int, concurrency, "calls at once"),
        ("--call-timeout", not_negative, call_timeout_s, CALL_TIMEOUT_HELP),
        ("--max-retries", natural_int, None, "calls after the first one"),
        ("--api-key-env NAME", str, "OPENAI_API_KEY", "environment variable with the server's key"),
        FRESH,
    )


def sampling_fields(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of every request that the flags set."""
    return {
        "temperature": args.temperature,
        "top_p": args.top_p,
        "max_tokens": args.max_tokens,
    }


def sampler_options(
    args: argparse.Namespace, *, http_timeout_s: float | None = None, interval_s: float = 0.0
) -> SamplerOptions:
    """Return the sampler's options that the flags set, where a command has them."""
    from gradebox.eval.models.exchange import RetryPolicy
    from gradebox.eval.models.sampler import SamplerOptions

    first_s, retries = getattr(args, "retry_delay", 1.0), getattr(args, "max_retries", None)
    return SamplerOptions(
        concurrency=args.concurrency,
        interval_s=interval_s,
        http_timeout_s=http_timeout_s or args.call_timeout or 3600.0,
        call_timeout_s=args.call_timeout or None,
        retry=RetryPolicy(first_s=first_s, max_retries=retries),
    )


def status_of_failed(failed: int, reasons: object) -> ExitStatus:
    """Print how many requests failed, if any, and where the reasons are; return the exit status."""
    if not failed:
        return ExitStatus.OK
    print(
        f"{failed} requests failed and are in no figure (reasons in {reasons}); run the same "
        "command again to retry them"
    )
    return ExitStatus.INFRASTRUCTURE

"""Run a command: turn its errors into one line on stderr and an exit status."""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.signals import (
    command_starts,
    how_to_continue,
    signals_as_keyboard_interrupt,
)
from gradebox.eval.common.streams import print_line, repair_streams, silence
from gradebox.sandbox.common.exit_status import ExitStatus
from gradebox.sandbox.errors import SandboxError

# Module that only some commands need → the extra that installs it.
EXTRAS = {"httpx": "sampling", "tenacity": "sampling", "sympy": "math"}
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
    from gradebox.eval.models.errors import ServerLost

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

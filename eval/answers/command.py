"""What every answer command shares: exit statuses, one-line errors, logging, Ctrl-C."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "eval" / "data"

# Modules that are installed for some commands only → the extra that brings them.
EXTRAS = {"httpx": "sampling", "tenacity": "sampling", "sympy": "math", "math_verify": "math"}

EXIT_OK = 0
EXIT_INPUT = 2
EXIT_INFRASTRUCTURE = 3
EXIT_INTERRUPTED = 130


def run_command(action: Callable[[], int]) -> int:
    """Runs `action` and turns its errors into one line on stderr and an exit status.

    2 bad input, 3 the server or the sandbox failed, 130 interrupted by Ctrl-C or SIGTERM.
    """
    from eval.input_error import InputError
    from eval.sampling.errors import ServerLost
    from sandbox.errors import SandboxError

    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger("gradebox").setLevel(logging.INFO)
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return action()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_INPUT
    except (ServerLost, SandboxError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_INFRASTRUCTURE
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        print(
            f"error: {error.name} is not installed; pip install 'gradebox[{extra}]'",
            file=sys.stderr,
        )
        return EXIT_INPUT
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; nothing is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def positive_int(text: str) -> int:
    """argparse type: a whole number of at least 1."""
    return int(_at_least(text, int(text) if text.lstrip("-").isdecimal() else None, 1))


def natural_int(text: str) -> int:
    """argparse type: a whole number of at least 0."""
    return int(_at_least(text, int(text) if text.lstrip("-").isdecimal() else None, 0))


def seconds(text: str) -> float:
    """argparse type: seconds, 0 or more."""
    try:
        value: float | None = float(text)
    except ValueError:
        value = None
    return _at_least(text, value, 0)


def _at_least(text: str, value: float | None, least: int) -> float:
    if value is None or not value >= least or value == float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: a number of at least {least} is needed")
    return value


def extra_fields(pairs: Sequence[str]) -> dict[str, Any]:
    """{"key": value} of `key=value` texts; a value that reads as JSON is taken as that."""
    from eval.input_error import InputError

    fields: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"--extra-field {pair!r}: write it as key=value")
        if key in fields:
            raise InputError(f"--extra-field {key!r} is given twice; leave one out")
        try:
            fields[key] = json.loads(value)
        except (ValueError, RecursionError):
            fields[key] = value
    return fields


def write_json(path: Path, value: Any, *, indent: int | None = 2) -> None:
    """Writes a file whole: a reader sees the old one or the new one, never a part."""
    from eval.input_error import InputError

    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(value, indent=indent) + "\n", "ascii")
        part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; name another place") from None

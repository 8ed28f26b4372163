"""`InputError`, which a command prints as one line on stderr before it exits with status 2."""

from __future__ import annotations

MAX_SHOWN = 80


class InputError(Exception):
    """Bad input or usage. The message is one line: the value, the limit, the remedy."""


class WrongType(InputError, TypeError):
    """A flag of a Python caller, or of a file, has a value of the wrong type."""


class UnusableProblem(InputError):
    """The data of one problem is faulty: its solutions cannot be graded, all others can."""


def shown(value: object, limit: int = MAX_SHOWN) -> str:
    """Quote an untrusted value for a message: one printable line of at most `limit` characters.

    Only the start of a long text is quoted, so a line of 100 MB costs nothing.
    """
    if isinstance(value, (str, bytes)):
        return repr(value[:limit]) + ("…" if len(value) > limit else "")
    if isinstance(value, (list, tuple, dict)):
        return f"a {type(value).__name__} of {len(value)} elements"
    text = repr(value)
    return text[:limit] + ("…" if len(text) > limit else "")


class DriversUnavailable(InputError):
    """The driver processes of this machine cannot be used."""

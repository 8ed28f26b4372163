"""`InputError`: what a command turns into one line on stderr and exit status 2."""

from __future__ import annotations

MAX_SHOWN = 80


class InputError(Exception):
    """Bad input or usage. One line: the value, the limit, the remedy."""


class WrongType(InputError, TypeError):
    """A flag of a Python caller, or of a file, that has another type than it must."""


class UnusableProblem(InputError):
    """One problem's own data is at fault: its solutions can't be graded, all others can."""


def shown(value: object, limit: int = MAX_SHOWN) -> str:
    """A hostile value as it may stand in a message: one printable line, cut to `limit`.

    Only the head of a long text is quoted, so that a line of 100 MB costs nothing.
    """
    if isinstance(value, (str, bytes)):
        return repr(value[:limit]) + ("…" if len(value) > limit else "")
    if isinstance(value, (list, tuple, dict)):
        return f"a {type(value).__name__} of {len(value)} elements"
    text = repr(value)
    return text[:limit] + ("…" if len(text) > limit else "")

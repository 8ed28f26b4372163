"""Modules that a user names in a flag: their mistakes are bad input, told in one line."""

from __future__ import annotations

import importlib
from types import ModuleType

from eval.input_error import InputError

# What the top level of a module raises when its writer has slipped.
SLIPS = (
    ImportError,
    SyntaxError,
    AttributeError,
    NameError,
    TypeError,
    ValueError,
    LookupError,
    OSError,
)


def import_own(module: str, flag: str, remedy: str) -> ModuleType:
    """The module; InputError with the flag, what it raised and the remedy."""
    try:
        return importlib.import_module(module)
    except SLIPS as error:
        raise InputError(f"{flag}: {type(error).__name__}: {error}; {remedy}") from None

"""Import modules that users name in flags."""

from __future__ import annotations

import importlib
from types import ModuleType

from gradebox.eval.common.errors import InputError

# Exceptions from mistakes at the top level of a user's module.
_USER_ERRORS = (
    ImportError,
    SyntaxError,
    AttributeError,
    NameError,
    TypeError,
    ValueError,
    LookupError,
    OSError,
)


def load_user_module(module: str, flag: str, remedy: str) -> ModuleType:
    """Import a module; raise InputError with the flag, its error and the remedy."""
    try:
        return importlib.import_module(module)
    except _USER_ERRORS as error:
        raise InputError(f"{flag}: {type(error).__name__}: {error}; {remedy}") from None

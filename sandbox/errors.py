"""Whose fault it is: the machine's (SandboxError) or the caller's (BadRequest)."""

from __future__ import annotations


class SandboxError(Exception):
    """The machine failed, not the program: retried by callers, and never a verdict.

    `lasting` tells that trying again gives the same.
    """

    lasting: bool = False


class SandboxUnavailable(SandboxError):
    """No sandbox can be had here at all; the message names the remedy."""


class BadRequest(ValueError):
    """The caller asked for something impossible: a limit of 0, a file name with a slash.

    Raised before anything runs; trying again gives the same.
    """


class UnknownLanguage(BadRequest):
    """No row of the language table has this name; the message lists those that do."""


class MissingToolchain(SandboxUnavailable):
    """The language is known, its compiler or interpreter is not on this machine."""

    lasting = True

"""The errors of the sandbox: the machine's fault (SandboxError) or the caller's (BadRequest)."""

from __future__ import annotations


class SandboxError(Exception):
    """The machine failed, not the program. Callers try again; it is never a verdict.

    lasting  another attempt would fail in the same way
    """

    lasting: bool = False


class SandboxUnavailable(SandboxError):
    """No sandbox works on this machine; the message names the remedy."""


class BadRequest(ValueError):
    """The request is impossible: a limit of 0, a file name with a slash. Nothing was run."""


class UnknownLanguage(BadRequest):
    """The language table has no such name; the message lists the known ones."""


class MissingToolchain(SandboxUnavailable):
    """The compiler or interpreter of a known language is not installed, or does not work."""

    lasting = True


class LimitsUnavailable(SandboxUnavailable):
    """A limit of the grader's own process may have failed a program; the message names it."""

    lasting = True

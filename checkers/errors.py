"""What can be wrong with the choice of a checker: always the caller's, never the solution's."""

from __future__ import annotations


class CheckerError(ValueError):
    """The checker can't be used as asked; the message names the value and the remedy."""


class UnknownChecker(CheckerError):
    """No built-in has this name or option; the message lists the nearest."""

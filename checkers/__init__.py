"""How an output or an answer is judged."""

from checkers.model import Check, accept, reject, unclear

__all__ = ["Check", "accept", "reject", "unclear"]

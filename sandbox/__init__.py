"""Where untrusted programs run: one interface, two backends (`box`, `piston`)."""

from sandbox.errors import (
    BadRequest,
    MissingToolchain,
    SandboxError,
    SandboxUnavailable,
    UnknownLanguage,
)
from sandbox.model import Compiled, Description, Execution, Interaction, Limits, Program
from sandbox.protocol import Sandbox

__all__ = [
    "BadRequest",
    "Compiled",
    "Description",
    "Execution",
    "Interaction",
    "Limits",
    "MissingToolchain",
    "Program",
    "Sandbox",
    "SandboxError",
    "SandboxUnavailable",
    "UnknownLanguage",
]

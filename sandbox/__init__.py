"""Running untrusted programs: one interface with two backends (`box`, `piston`)."""

from gradebox.sandbox.errors import (
    BadRequest,
    MissingToolchain,
    SandboxError,
    SandboxUnavailable,
    UnknownLanguage,
)
from gradebox.sandbox.model import Compiled, Description, Execution, Interaction, Limits, Program
from gradebox.sandbox.protocol import Sandbox

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

if __name__ == "sandbox":  # imported from a checkout's root
    from gradebox._aliases import alias

    alias("sandbox")

"""Running untrusted programs: one interface with two backends (`box`, `piston`)."""

if __name__ == "sandbox":  # imported from a checkout's root
    import sys

    sys.path.insert(0, __file__.removesuffix("sandbox/__init__.py") + "src")

    from gradebox._aliases import alias

    alias("sandbox")

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

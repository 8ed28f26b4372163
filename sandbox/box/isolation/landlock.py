"""What this kernel's Landlock can guard."""

from __future__ import annotations

import ctypes
import os

from gradebox.sandbox.errors import SandboxUnavailable

CREATE_RULESET, VERSION = 444, 1
TRUNCATES = 3  # the first version that guards files against being emptied (Linux 6.2)


def version() -> int:
    """Return the version of Landlock's interface, 1 or higher.

    Raises SandboxUnavailable where the kernel has no Landlock, or it is forbidden.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    number = int(libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION))
    if number < 1:
        raise SandboxUnavailable(f"Landlock: {os.strerror(ctypes.get_errno())}")
    return number

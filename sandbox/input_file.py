"""Which paths can be read as an input file: opening a named pipe waits for a writer without end."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

# What `< file`, `| command` and `<(command)` give: open already, and readable once.
_DESCRIPTOR = re.compile(r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+")
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_input_file(path: Path, *, once: bool = False) -> None:
    """Raise OSError for a path that is no regular file, with the kind and the remedy in words.

    once  the file is opened once and read to its end, so that a descriptor of this process will do

    A folder passes: those who open it have words for it.
    """
    mode = path.stat().st_mode
    kind = _KINDS.get(stat.S_IFMT(mode))
    if kind and not (once and _DESCRIPTOR.fullmatch(os.fspath(path))):
        raise OSError(
            errno.EINVAL, f"it is {kind}, not a regular file: write its contents to a file first"
        )

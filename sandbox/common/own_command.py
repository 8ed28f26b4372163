"""The command line that starts gradebox's commands in this installation, for messages.

gradebox debug                        the script is the one on PATH
.venv/bin/gradebox debug              it is elsewhere
python3 /srv/repo/src/gradebox debug  there is no script: a checkout that is not installed
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

PACKAGE = Path(str(sys.modules[__name__.partition(".")[0]].__file__)).absolute().parent
NAME = "gradebox"


def command(name: str) -> str:
    """Return what to type for a command such as "debug", from the current folder."""
    return f"{_start()} {name}"


def _start() -> str:
    words = [word for word in sys.orig_argv[1:2] if Path(word).name == NAME]
    scripts = [Path(word).absolute() for word in words]
    installed = Path(sysconfig.get_path("purelib")) == PACKAGE.parent
    if installed or Path(sys.prefix).parent == PACKAGE.parents[1]:  # a checkout's .venv
        scripts.append(Path(sysconfig.get_path("scripts")) / NAME)
    for script in scripts:
        if script.is_file() and os.access(script, os.X_OK):
            return _shortest(script, (NAME,))
    return f"{_shortest(Path(sys.executable), ('python3', 'python'))} {_word(PACKAGE)}"


def _shortest(file: Path, names: tuple[str, ...]) -> str:
    """Return a name that PATH resolves to the file, else the file's path."""
    for name in names:
        found = shutil.which(name)
        if found and Path(found).absolute() == file:
            return name
    word = _word(file)
    return word if "/" in word else f"./{word}"


def _word(path: Path) -> str:
    try:
        path = path.relative_to(Path.cwd())
    except (ValueError, FileNotFoundError):
        return shlex.quote(str(path))
    return shlex.quote(str(path))

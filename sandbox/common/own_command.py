"""The command line that starts gradebox's commands in this installation, for messages.

gradebox debug                        the script beside this interpreter, if PATH leads to it
/srv/repo/.venv/bin/gradebox debug    it does not
python3 /srv/repo/src/gradebox debug  there is no script: a checkout that is not installed
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

PACKAGE = Path(str(sys.modules[__name__.partition(".")[0]].__file__)).absolute().parent
NAME = "gradebox"


def command(name: str) -> str:
    """Return what to type for a command such as "debug", in any folder."""
    script = Path(sys.executable).with_name(NAME)
    if not script.is_file():
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(PACKAGE))} {name}"
    on_path = shutil.which(NAME) == str(script)
    return f"{NAME if on_path else shlex.quote(str(script))} {name}"

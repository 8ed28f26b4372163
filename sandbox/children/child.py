"""The parent's side of a child process: start it, end it, and learn how it ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradebox.sandbox.children.channel import Channel, blocking_pair
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.common.own_command import PACKAGE

BOOT = Path(__file__).with_name("boot.py")
END_S = 0.5


class Child(Closeable):
    """A started child. Raises OSError when the process cannot be started.

    main         "module:function", called in the child with its channel and `args`
    folder       its working folder; None: this process's
    environment  all variables it has; None: this process's, without Python's own
    own_errors   its stderr is kept for `end`; False: it is this process's

    channel      to the child; the child's end is noticed by receiving from it
    """

    def __init__(
        self,
        main: str,
        *args: Any,
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
        own_errors: bool = True,
    ) -> None:
        given = {
            "package": str(PACKAGE / "__init__.py"),
            "path": _path(),
            "main": main,
            "args": args,
        }
        # -I ignores PYTHON… variables, of which a given environment has only what is meant.
        flags = ["-S", "-I" if environment is None else "-s"]
        flags += ["-B"] if sys.dont_write_bytecode else []
        if own_errors and environment is None:
            # Python 3.13 colours a traceback where FORCE_COLOR is set, as in many CI systems.
            environment = os.environ | {"NO_COLOR": "1"}
        ours, theirs = blocking_pair()
        self.channel = Channel(ours)
        self._errors = tempfile.TemporaryFile() if own_errors else None  # noqa: SIM115
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, *flags, str(BOOT), str(theirs.fileno()), json.dumps(given)],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._errors,
                    cwd=folder,
                    env=environment,
                    start_new_session=True,  # a terminal's Ctrl-C is the parent's
                )
        except BaseException:
            self._release()
            raise
        self.pid = self._process.pid
        _children.add(self)

    @property
    def status(self) -> int | None:
        """The exit status after `end`, negative for a signal; None before."""
        return self._process.returncode

    def kill(self) -> None:
        """End the process, which is noticed by receiving from it."""
        self._process.kill()

    def end(self, wait_s: float = END_S) -> str:
        """Close the channel, and end the process unless it ends by itself in time.

        Return how it ended, with the last line of its stderr: "exit status 1: ImportError: …".
        """
        self.channel.close()
        try:
            status = self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        if status == -9:
            how += ", which the kernel sends when memory is short"
        line = self._last_error()
        self._release()
        return f"{how}: {line}" if line else how

    def close(self) -> None:
        """See `end`."""
        self.end()

    def _last_error(self) -> str:
        if self._errors is None or self._errors.closed:
            return ""
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _release(self) -> None:
        self.channel.close()
        if self._errors is not None:
            self._errors.close()


def _path() -> list[str]:
    return [folder for folder in sys.path if Path(folder).is_absolute()]


_children: weakref.WeakSet[Child] = weakref.WeakSet()


def _after_fork() -> None:
    for child in list(_children):  # a copy of its channel would keep it alive after the parent
        child.channel.close()


os.register_at_fork(after_in_child=_after_fork)

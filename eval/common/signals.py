"""Ctrl-C and SIGTERM: the first ends a run after the cases that are running, the second at once.

    process starts ─ command starts ─ run begins ────────────── run ends ─ process ends
     os._exit         KeyboardInterrupt  `event`, then os._exit  KeyboardInterrupt, ignored once
     (_early_signals.py)                                         interrupted

The exit status is 130 in every phase.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType, TracebackType
from typing import Any, NoReturn, Protocol

from gradebox.sandbox.common.exit_status import ExitStatus


def how_to_continue(argv: Sequence[str]) -> str:
    """Return what to type to continue a command with these arguments."""
    again = "start the same command again"
    if "--fresh" in argv:
        return f"{again}, without --fresh to keep what this one did"
    return f"{again} to continue"


SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stoppable(Protocol):
    def stop(self) -> None: ...


class Stopper:
    """A context in which SIGINT and SIGTERM set `event`.

    Before `arm` is called nothing is running, and the signals raise KeyboardInterrupt. Outside
    the main thread, where Python cannot set signal handlers, only the event is of use.
    """

    def __init__(self) -> None:
        self.event = threading.Event()
        self._target: Stoppable | None = None
        self._armed = False
        self._old: dict[signal.Signals, Any] = {}

    def arm(self) -> None:
        """Let signals set `event` from now on."""
        self._armed = True

    @contextlib.contextmanager
    def stopping(self, target: Stoppable) -> Iterator[None]:
        """Call `target.stop` on the first signal within this context."""
        self._target = target
        if self.event.is_set():
            target.stop()
        try:
            yield
        finally:
            self._target = None

    def stop(self) -> None:
        """Act as the first signal does."""
        self.event.set()
        if self._target is not None:
            self._target.stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._armed:
            raise KeyboardInterrupt
        if self.event.is_set():
            # Exiting here loses nothing: records are written whole, and the sandbox's
            # processes end with this one.
            os.write(2, f"\nstopped at once; {how_to_continue(sys.argv)}\n".encode())
            os._exit(ExitStatus.INTERRUPTED)
        self.stop()
        os.write(2, b"\nstopping after the running cases; a second signal stops at once\n")

    def __enter__(self) -> Stopper:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._old[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._old.clear()


@contextlib.contextmanager
def signals_as_keyboard_interrupt() -> Iterator[None]:
    """Let signals raise KeyboardInterrupt in this context; no effect outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = {number: signal.signal(number, _interrupt) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def ignore_signals() -> None:
    """Ignore SIGINT and SIGTERM in a process that is about to exit as interrupted.

    Python restores the default actions while it exits, but leaves ignored signals ignored.
    """
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt

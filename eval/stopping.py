"""Ctrl-C and SIGTERM: the first ends the run after the cases under way, the second at once.

    command starts ─ run begins ────────── run ends ─ process ends
     KeyboardInterrupt  `event`, then _exit  KeyboardInterrupt, ignored once interrupted

Whenever one comes, the exit status is 130.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, NoReturn, Protocol

SIGNALS = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED_STATUS = 130


class Stoppable(Protocol):
    def stop(self) -> None: ...


class Stopper:
    """Turns signals into `event` being set while it is entered.

    Until `arm` was called nothing is under way and they raise KeyboardInterrupt.
    Outside the main thread, where Python gives no signals, it only carries the event.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.event = threading.Event()
        self._say = say
        self._target: Stoppable | None = None
        self._armed = False
        self._old: dict[signal.Signals, Any] = {}

    def arm(self) -> None:
        """From now on signals set `event`."""
        self._armed = True

    @contextlib.contextmanager
    def stopping(self, target: Stoppable) -> Iterator[None]:
        """While entered, `target` is stopped by a signal."""
        self._target = target
        if self.event.is_set():
            target.stop()
        try:
            yield
        finally:
            self._target = None

    def stop(self) -> None:
        """What the first signal does."""
        self.event.set()
        if self._target is not None:
            self._target.stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._armed:
            raise KeyboardInterrupt
        if self.event.is_set():
            # Nothing is lost by going now: records are whole, and the sandbox's processes
            # end with this one.
            os.write(2, b"\nstopped at once; start the same command again to go on\n")
            os._exit(INTERRUPTED_STATUS)
        self.stop()
        os.write(2, b"\nstopping after the cases that run; once more stops at once\n")

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
def sigterm_like_ctrl_c() -> Iterator[None]:
    """While entered, SIGTERM raises KeyboardInterrupt; only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


def end_undisturbed() -> None:
    """For a process that is about to end as interrupted: further signals change nothing.

    Python puts the default actions back while it ends; what is ignored stays ignored.
    """
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt

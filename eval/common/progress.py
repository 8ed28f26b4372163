"""Show the progress of something long: a bar on a terminal and in a notebook, else some lines."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from gradebox.eval.common.streams import silence

DRAW_EVERY_S = 0.2
IN_NOTEBOOK_AFTER_S = 1.0  # no bar before: a cell may make many short calls


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook. Nothing is imported for that."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in shell.config


def notebook_bar(**how: Any) -> Any:
    """Return a bar that is a widget where there are widgets, and that disappears at its end.

    None without tqdm: rewards must work where it is not installed, in a notebook too.
    """
    has_widgets = importlib.util.find_spec("ipywidgets") is not None
    try:
        bars = importlib.import_module("tqdm.notebook" if has_widgets else "tqdm")
    except ModuleNotFoundError:
        return None
    return bars.tqdm(**how, leave=False)


class ProgressDisplay:
    """A bar or lines. Call `tick` often and `close` at the end.

    total         number of steps, None when unknown
    unit          what a step is
    done          returns the number of steps that are done
    text          returns what is shown: beside the bar (False), or as a line (True)
    line_every_s  seconds between two lines
    """

    def __init__(
        self,
        total: int | None,
        unit: str,
        done: Callable[[], int],
        text: Callable[[bool], str],
        *,
        stream: TextIO | None = None,
        line_every_s: float = 10.0,
        bar_format: str | None = None,
    ) -> None:
        self._done, self._text = done, text
        self._stream = stream or sys.stderr
        self._line_every_s = line_every_s
        self._bar: Any = None
        self._stack = contextlib.ExitStack()
        how: dict[str, Any] = {
            "total": total,
            "unit": unit,
            "file": self._stream,
            "mininterval": 0.1,
        }
        self._waiting = how if stream is None and in_notebook() else None  # until there is a bar
        if self._stream.isatty() and self._waiting is None:
            from tqdm import tqdm
            from tqdm.contrib.logging import logging_redirect_tqdm

            self._stack.enter_context(logging_redirect_tqdm())  # log lines appear above the bar
            self._bar = tqdm(**how, dynamic_ncols=True, bar_format=bar_format if total else None)
        wait_s = IN_NOTEBOOK_AFTER_S if self._waiting is not None else line_every_s
        self._next_update = time.monotonic() + (0.0 if self._bar is not None else wait_s)

    def tick(self) -> None:
        """Update the display when it is due."""
        now = time.monotonic()
        if now >= self._next_update:
            if self._waiting is not None:
                self._bar, self._waiting = notebook_bar(**self._waiting), None
            self._next_update = now + (self._line_every_s if self._bar is None else DRAW_EVERY_S)
            with self._ignoring_stream_errors():
                self._draw()

    def close(self, *, last_line: bool = True) -> None:
        """Show the final state, as a line if `last_line`. May be called more than once."""
        with self._ignoring_stream_errors():
            if self._bar is not None or (last_line and self._waiting is None):
                self._draw()
            if self._bar is not None:
                self._bar.close()
        self._stack.close()

    @contextlib.contextmanager
    def _ignoring_stream_errors(self) -> Iterator[None]:
        """Stop writing to a stream that fails, such as a closed terminal."""
        try:
            yield
        except (OSError, ValueError):
            silence(self._stream)

    def _draw(self) -> None:
        if self._bar is None:
            print(self._text(True), file=self._stream, flush=True)
            return
        self._bar.n = self._done()
        self._bar.set_postfix_str(self._text(False))

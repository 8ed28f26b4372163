"""The functions that the server loads by name: the judge and the grading service.

The sandbox knows neither checkers nor problems and may not import them, so `--judge` and
`--grading` name functions as `module:function`. No other code imports a module by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import SandboxUnavailable
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.settings import ServerSettings

# (JSON values of the body, whether the client has gone) → (status, JSON values of the answer).
# In the answer, an element of a list may be bytes: JSON already. Raises BadRequest. A GET has no
# body (None) and no place among the requests: it is answered on the event loop, so at once.
Route = Callable[[Any, Cancellation], tuple[int, Any]]


@dataclass(frozen=True)
class Judgement:
    """The outcome of one output; `by` names what decided it."""

    outcome: Literal["accepted", "rejected", "unclear"]
    by: Literal["checker", "diff"]
    message: str = ""


class Judge(Protocol):
    """Judge one output of the Codeforces protocol after the run."""

    def __call__(
        self, sandbox: Sandbox, input: bytes, output: bytes, expected: bytes, checker: str | None
    ) -> Judgement: ...


class Grading(Protocol):
    """The service behind POST /grade and other routes. Many threads call it.

    routes  by method ("GET", "POST") and path; the server admits, reads and decodes the requests
    """

    @property
    def routes(self) -> Mapping[tuple[str, str], Route]: ...

    def close(self) -> None: ...


class OpenGrading(Protocol):
    """Open a service over the server's sandbox, which the service does not close."""

    def __call__(self, sandbox: Sandbox, settings: ServerSettings) -> Grading: ...


def load_function(name: str, flag: str) -> Any:
    """Return the function `module:function` that a flag names. Raises SandboxUnavailable."""
    module_name, _, function = name.partition(":")
    try:
        return getattr(importlib.import_module(module_name), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise SandboxUnavailable(
            f"{flag} {name!r} can't be loaded ({error}); give it as module:function"
        ) from error

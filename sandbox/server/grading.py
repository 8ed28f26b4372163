"""Who grades whole solutions for `POST /grade`: a maker named at the start, not imported.

The sandbox knows nothing of problems, so the server looks the service up by name, as it does
its judge (`sandbox.server.judging`).
"""

from __future__ import annotations

from typing import Any, Protocol, cast

from sandbox.protocol import Sandbox
from sandbox.server.judging import load_named
from sandbox.server.settings import Ceilings


class Grading(Protocol):
    """Grades what a request's body asks for. Called from many threads."""

    def grade(self, body: Any) -> Any:
        """The answer, JSON-able; BadRequest says what is wrong with the body."""
        ...

    def close(self) -> None: ...


class OpenGrading(Protocol):
    """Makes a service over the server's sandbox, which stays the server's."""

    def __call__(self, sandbox: Sandbox, dataset: str | None, ceilings: Ceilings) -> Grading: ...


def load_grading(name: str) -> OpenGrading:
    """The function `module:function`; SandboxUnavailable when there is none."""
    return cast("OpenGrading", load_named(name, "grading service"))

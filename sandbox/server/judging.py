"""Who judges for the Codeforces protocol: a function named at the start, not imported.

The sandbox knows nothing of checkers, so the server looks the judge up by name
(`--judge module:function`, default `eval.codeforces_judge:judge`). This is the one place
of the package where a module is imported by name.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Literal, Protocol, cast

from sandbox.errors import SandboxUnavailable
from sandbox.protocol import Sandbox


@dataclass(frozen=True)
class Judged:
    """What was said of an output; `by` "checker" or "diff"."""

    outcome: Literal["accepted", "rejected", "unclear"]
    by: Literal["checker", "diff"]
    message: str = ""


class Judge(Protocol):
    """Judges one output after the run; a checker runs in a box of its own."""

    def __call__(
        self, sandbox: Sandbox, input: bytes, output: bytes, expected: bytes, checker: str | None
    ) -> Judged: ...


def load_judge(name: str) -> Judge:
    """The function `module:function`; SandboxUnavailable when there is none."""
    return cast("Judge", load_named(name, "judge"))


def load_named(name: str, role: str) -> object:
    """What `module:function` names; SandboxUnavailable, with the role in it, when nothing."""
    module_name, _, function = name.partition(":")
    try:
        found: object = getattr(importlib.import_module(module_name), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise SandboxUnavailable(
            f"the {role} {name!r} can't be loaded ({error}); name one as module:function"
        ) from error
    return found

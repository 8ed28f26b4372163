"""Open the sandbox for a run: the embedded box or Piston servers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from gradebox.sandbox.protocol import Sandbox

Kind = Literal["auto", "local", "piston"]
DEFAULT_ENDPOINT = "http://localhost:2000"


def open_sandbox(
    kind: Kind = "auto",
    *,
    endpoints: Sequence[str] | None = None,
    slots: int | None = None,
    languages: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    hidden: Iterable[str | Path] = (),
) -> Sandbox:
    """Return an open sandbox.

    kind       local: the embedded box.
               piston: the servers at `endpoints`, else at PISTON_ENDPOINTS, else at the default
               address.
               auto: Piston when endpoints are given either way, or when a server with runtimes for
               `languages` answers at the default address; else the embedded box.
    slots      programs at once; None: one a physical core
    options    arguments of the backend's constructor; those of the other backend are ignored
    hidden     data sets, results and other paths of this machine that programs must not read

    Raises SandboxUnavailable when no server answers: given endpoints are never replaced silently.
    """
    options = dict(options or {})
    named = bool(endpoints or os.environ.get("PISTON_ENDPOINTS", "").strip())
    if kind == "piston" or (kind == "auto" and named):
        return _piston(list(endpoints or []), slots, options)
    if kind == "auto" and _default_answers(languages):
        return _piston([DEFAULT_ENDPOINT], slots, options)
    from gradebox.sandbox.box import EmbeddedSandbox

    allowed = {"level", "fresh", "allow_unsafe", "python_start", "measured"}
    chosen = {k: v for k, v in options.items() if k in allowed}
    return EmbeddedSandbox(slots, hidden=hidden, **chosen)


def _piston(endpoints: list[str], slots: int | None, options: dict[str, Any]) -> Sandbox:
    from gradebox.sandbox.piston import PistonSandbox

    known = {"endpoint_concurrency", "package"}
    chosen = {k: v for k, v in options.items() if k in known}
    return PistonSandbox(endpoints or None, slots=slots or 0, **chosen)


def _default_answers(languages: Sequence[str]) -> bool:
    """Return whether a Piston with these runtimes answers at the default address, quickly."""
    import requests

    from gradebox.sandbox.languages import find

    try:
        answer = requests.get(f"{DEFAULT_ENDPOINT}/api/v2/runtimes", timeout=(0.3, 2))
        rows = answer.json() if answer.ok else []
    except (requests.RequestException, ValueError):
        return False
    if not isinstance(rows, list):
        return False
    have: set[str] = set()
    for row in rows:
        if isinstance(row, dict):
            names = [row.get("language"), *(row.get("aliases") or [])]
            have.update(name for name in names if isinstance(name, str))
    return bool(rows) and all(find(name).piston[0] in have for name in languages)

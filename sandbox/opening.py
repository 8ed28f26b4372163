"""Open the sandbox for a run: the embedded box or Piston servers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from gradebox.sandbox import endpoints as addresses
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.protocol import Sandbox

if TYPE_CHECKING:
    from gradebox.sandbox.piston import PistonSandbox

Kind = Literal["auto", "local", "piston"]
log = logging.getLogger(__name__)


def chosen_kind(kind: str | None, endpoints: Sequence[str] | None = None) -> Kind:
    """Return the sandbox to open: Piston where servers are named, the box where none is.

    kind  None: not chosen. What the user chose stays as it is
    """
    if kind is None:
        return "piston" if endpoints or addresses.named_in() else "local"
    return cast("Kind", kind)


def open_sandbox(
    kind: Kind | None = None,
    *,
    endpoints: Sequence[str] | None = None,
    slots: int | None = None,
    languages: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    hidden: Iterable[str | Path] = (),
) -> Sandbox:
    """Return an open sandbox.

    kind       local: the embedded box.
               piston: the servers at `endpoints`, else at PISTON_ENDPOINTS or PISTON_ENDPOINT, else
               at the default address.
               auto: Piston when endpoints are given in one of these ways, or when the server at the
               default address has `languages` and passes its probe; else the embedded box.
               None: piston when endpoints are given in one of these ways, else local.
    slots      programs at once; None: one a physical core
    options    arguments of the backend's constructor; those of the other backend are ignored
    hidden     data sets, results and other paths of this machine that programs must not read

    Raises SandboxUnavailable when no server answers: given endpoints are never replaced silently.
    """
    options = dict(options or {})
    named = endpoints or addresses.named_in()
    kind = chosen_kind(kind, endpoints)
    if kind == "piston" or (kind == "auto" and named):
        return _piston(list(endpoints or []), slots, options)
    if kind == "auto":
        try:
            return _probed_piston(slots, languages, options)
        except SandboxError as error:
            log.info("auto: the server at the default address is not used: %s", error)
    from gradebox.sandbox.box import EmbeddedSandbox

    allowed = {"level", "allow_unsafe", "python_start", "python"}
    chosen = {k: v for k, v in options.items() if k in allowed}
    return EmbeddedSandbox(slots, hidden=hidden, **chosen)


def _piston(endpoints: list[str], slots: int | None, options: dict[str, Any]) -> PistonSandbox:
    from gradebox.sandbox.piston import PistonSandbox

    known = {"endpoint_concurrency", "package"}
    chosen = {k: v for k, v in options.items() if k in known}
    return PistonSandbox(endpoints or None, slots=slots or 0, **chosen)


def _probed_piston(
    slots: int | None, languages: Sequence[str], options: dict[str, Any]
) -> PistonSandbox:
    """Return the server at the default address once it ran the probe's programs."""
    sandbox = _piston([addresses.DEFAULT], slots, options)
    try:
        sandbox.check(languages or ("python",))
    except BaseException:
        sandbox.close()
        raise
    return sandbox

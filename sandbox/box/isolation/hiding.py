"""Private paths (tests, results) that lie inside what programs are shown.

Programs are shown whole folders: the system's, an interpreter's, a toolchain's. A data set may lie
in one of them, such as one that a Python package contains.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from gradebox.sandbox.errors import SandboxUnavailable


def data_caches() -> tuple[str, ...]:
    """Return the folders in which the Hugging Face libraries keep data sets."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or f"{base}/huggingface"
    named = [os.environ.get(name) for name in ("HF_HUB_CACHE", "HF_DATASETS_CACHE")]
    paths = [Path(os.path.expanduser(path)) for path in (home, *named) if path]  # noqa: PTH111
    return tuple(str(path) for path in paths if path.is_dir())


def with_targets(paths: Iterable[str | Path]) -> tuple[str, ...]:
    """Return absolute real paths, with the targets of links in those that are folders."""
    return tuple(dict.fromkeys(os.path.realpath(path) for path in _walk(paths)))


def _walk(paths: Iterable[str | Path]) -> Iterator[str | Path]:
    for path in paths:
        yield path
        for folder, folders, files in os.walk(path):
            yield from filter(os.path.islink, (f"{folder}/{name}" for name in (*folders, *files)))


def shown_at(path: str, binds: Iterable[str]) -> list[tuple[str, str]]:
    """Return each bind that shows a path, and the name under which programs would find it there."""
    real, found = os.path.realpath(path), []
    for bind in binds:
        top = os.path.realpath(bind)
        if real == top or real.startswith(top.rstrip("/") + "/"):
            found.append((bind, bind + real[len(top) :]))
    return found


def check_private(private: Iterable[str], binds: Iterable[str], can_cover: bool) -> None:
    """Make sure that private paths can be hidden.

    A folder that does not exist yet is created: only what exists can be covered.

    Raises SandboxUnavailable for a path that programs would be able to read.
    """
    binds = list(binds)
    for path in private:
        for bind, name in shown_at(path, binds):
            if not can_cover or name == bind:
                raise SandboxUnavailable(
                    f"programs could read {path}, because they are shown {bind} and no part of "
                    "that can be hidden here; move it to another folder"
                )
            if not Path(path).exists():
                Path(path).mkdir(parents=True)

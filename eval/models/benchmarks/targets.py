"""The models to evaluate: the addresses of running servers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.addresses import check_reachable, get_served_model

_DIGITS = re.compile(r"(\d+)")
_UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]")


@dataclass(frozen=True)
class Target:
    """A model.

    name   the server's name of the model
    dirs   its folder below the output folder
    url    address of the server
    """

    name: str
    dirs: tuple[str, ...]
    url: str


def find_targets(urls: Sequence[str], name: str | None, api_key: str) -> list[Target]:
    """Return the models of the --model values.

    Raises InputError for a server that can't be reached, or two models with one output folder.
    """
    found: dict[tuple[str, ...], Target] = {}
    for url in urls:
        check_reachable(url, "--model")
        model = name or get_served_model(url, api_key)
        target = Target(model, safe_dirs(model.split("/")), url)
        other = found.setdefault(target.dirs, target)
        if other is not target:
            raise InputError(
                f"{target.url} and {other.url} would both write into {'/'.join(target.dirs)}; run "
                "one of them with another --output-dir"
            )
    return list(found.values())


def number_sort_key(name: str) -> list[tuple[int, int | str]]:
    """Return a sort key that puts step-2 before step-10."""
    return [(0, int(p)) if p.isdecimal() else (1, p) for p in _DIGITS.split(name) if p]


def safe_dirs(parts: Sequence[str]) -> tuple[str, ...]:
    """Return folder names for a model's name, which a server could choose to leave the folder."""
    dirs = [_UNSAFE.sub("_", part)[:100] for part in parts]
    return tuple("_" if part.strip(".") == "" else part for part in dirs if part) or ("model",)

"""The models to evaluate: addresses of servers, local models, folders of checkpoints.

http://host:8000          a running server
ckpts/step-1000           contains config.json: a model, for which a vLLM server is started
ckpts                     its subfolders contain config.json: all of them, by their numbers
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.addresses import check_reachable, get_served_model

MAX_LOCAL_DIRS = 3  # last parts of a local path that name the model's output folder
_DIGITS = re.compile(r"(\d+)")
_UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]")


@dataclass(frozen=True)
class Target:
    """A model.

    name   the server's name of the model
    dirs   its folder below the output folder
    url    address of a running server
    path   folder of a local model; None for a running server
    """

    name: str
    dirs: tuple[str, ...]
    url: str = ""
    path: Path | None = None


def find_targets(models: Sequence[str], name: str | None, api_key: str) -> list[Target]:
    """Return the models of the --model values; a folder of checkpoints is several.

    Raises InputError for a folder without a model, a server that can't be reached, or two
    models with one output folder.
    """
    targets: list[Target] = []
    for model in models:
        if model.lower().startswith(("http://", "https://")):
            targets.append(_remote_target(model, name, api_key))
        else:
            targets += _local_targets(Path(model))
    by_dirs: dict[tuple[str, ...], Target] = {}
    for target in targets:
        other = by_dirs.setdefault(target.dirs, target)
        if other is not target:
            raise InputError(
                f"{target.path or target.url} and {other.path or other.url} would both write "
                f"into {'/'.join(target.dirs)}; run one of them with another --output-dir"
            )
    return targets


def _remote_target(url: str, name: str | None, api_key: str) -> Target:
    check_reachable(url, "--model")
    name = name or get_served_model(url, api_key)
    return Target(name=name, dirs=safe_dirs(name.split("/")), url=url)


def _local_targets(path: Path) -> list[Target]:
    if not path.exists():
        raise InputError(f"--model {path} is not a folder, nor an address such as http://host:8000")
    folders = [path]
    if not (path / "config.json").is_file():
        found = [config.parent for config in path.glob("*/config.json")] if path.is_dir() else []
        folders = sorted(found, key=lambda folder: number_sort_key(folder.name))
    if not folders:
        raise InputError(
            f"--model {path} has no config.json, neither have its subfolders; give the folder of "
            "a model"
        )
    return [_local_target(folder) for folder in folders]


def _local_target(path: Path) -> Target:
    dirs = safe_dirs(path.resolve().parts[1:][-MAX_LOCAL_DIRS:])
    return Target(name="/".join(dirs), dirs=dirs, path=path)


def number_sort_key(name: str) -> list[tuple[int, int | str]]:
    """Return a sort key that puts step-2 before step-10."""
    return [(0, int(p)) if p.isdecimal() else (1, p) for p in _DIGITS.split(name) if p]


def safe_dirs(parts: Sequence[str]) -> tuple[str, ...]:
    """Return folder names for a model's name, which a server could choose to leave the folder."""
    dirs = [_UNSAFE.sub("_", part)[:100] for part in parts]
    return tuple("_" if part.strip(".") == "" else part for part in dirs if part) or ("model",)

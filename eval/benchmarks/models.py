"""What is evaluated: a server's address, a model on this disk, or a folder of checkpoints.

http://host:8000          a running server
ckpts/step-1000           config.json stands in it: one model, a vLLM server is started
ckpts                     its subfolders have a config.json: swept, in the order of their numbers
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.input_error import InputError

MODEL_DIRS = 3  # how much of a local path names a model's folder of outputs
_DIGITS = re.compile(r"(\d+)")
_UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]")


@dataclass(frozen=True)
class Target:
    """One model. `path` None: it is served at `url` already.

    name   what the server calls it
    dirs   its folder under the outputs
    """

    name: str
    dirs: tuple[str, ...]
    url: str = ""
    path: Path | None = None


def is_address(text: str) -> bool:
    """Whether a --model is a server and not a path."""
    return text.lower().startswith(("http://", "https://"))


def find_targets(models: Sequence[str], name: str | None, secret: str) -> list[Target]:
    """The models asked for, a folder of checkpoints being as many as it has.

    Raises InputError for a path without a model, or two models that would share a folder.
    """
    targets: list[Target] = []
    for model in models:
        targets += [_served(model, name, secret)] if is_address(model) else _local(Path(model))
    owner: dict[tuple[str, ...], Target] = {}
    for target in targets:
        if target.dirs in owner:
            raise InputError(
                f"{target.path or target.url} and {owner[target.dirs].path or target.url} would "
                f"both write into {'/'.join(target.dirs)}; give one another --output-dir"
            )
        owner[target.dirs] = target
    return targets


def _served(url: str, name: str | None, secret: str) -> Target:
    from eval.sampling.discover import served_model
    from eval.sampling.reach import check_reachable

    check_reachable(url, "--model")
    name = name or served_model(url, secret)
    return Target(name=name, dirs=safe_dirs(name.split("/")), url=url)


def _local(path: Path) -> list[Target]:
    if not path.exists():
        raise InputError(f"--model {path}: no such folder, and no address such as http://host:8000")
    if (path / "config.json").is_file():
        return [_target(path)]
    inside = [p.parent for p in path.glob("*/config.json")] if path.is_dir() else []
    if not inside:
        raise InputError(
            f"--model {path}: no config.json in it or in its subfolders; give a model's folder"
        )
    return [_target(p) for p in sorted(inside, key=lambda p: in_order(p.name))]


def _target(path: Path) -> Target:
    dirs = safe_dirs(path.resolve().parts[1:][-MODEL_DIRS:])
    return Target(name="/".join(dirs), dirs=dirs, path=path)


def in_order(name: str) -> list[tuple[int, int | str]]:
    """Sorts step-2 before step-10."""
    return [(0, int(p)) if p.isdecimal() else (1, p) for p in _DIGITS.split(name) if p]


def safe_dirs(parts: Sequence[str]) -> tuple[str, ...]:
    """Folder names of a model's name, which a server may have made up to lead elsewhere."""
    named = [_UNSAFE.sub("_", part)[:100] for part in parts]
    return tuple("_" if part.strip(".") == "" else part for part in named if part) or ("model",)

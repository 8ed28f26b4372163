"""What another process opens its session with: a Ray worker, or a driver on this machine."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gradebox.eval.grading.options import Options


@dataclass(frozen=True)
class Setup:
    """What a worker opens: the options' fields, and the folder that relative paths are in."""

    options: dict[str, Any]
    folder: str


def setup_of(options: Options, backend: str, folder: str | None = None) -> Setup:
    """Return the options to send: the sandbox already chosen, nothing about this process."""
    values = {f.name: getattr(options, f.name) for f in fields(Options)}
    values |= {
        "solutions_path": (),
        "time_limit_scale": dict(options.time_limit_scale),
        "sandbox": "local" if backend == "box" else "piston",
        "executor": "local",
        "ray_address": None,
        "drivers": 1,
    }
    return Setup(values, str(Path.cwd()) if folder is None else folder)

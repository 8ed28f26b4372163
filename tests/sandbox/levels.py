"""Boxes at a given isolation level, for tests that cover several levels."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from gradebox.sandbox.box import EmbeddedSandbox, build
from gradebox.sandbox.box.isolation.host import has_ids
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Compiled, Program


def why_equal(level: object) -> str:
    """Return why a level needs no test: its boxes are those of another one; "" if they are not."""
    if level == "delegated" and has_ids(namespaces=True):
        return "with these rights the boxes of level delegated are those of level full"
    return ""


def skip_equal(level: str) -> None:
    """Skip the test at a level that builds the same boxes here as another one that is tested."""
    if why := why_equal(level):
        pytest.skip(why)


def box_at(level: str, **options: Any) -> EmbeddedSandbox:
    """Return a sandbox; skip the test where the level is not available or equals another one."""
    skip_equal(level)
    try:
        return EmbeddedSandbox(1, level=level, **options)
    except SandboxError as error:
        pytest.skip(f"level {level}: {error}")


def built(box: EmbeddedSandbox, source: bytes) -> Compiled:
    """Return a C++ program, compiled in that sandbox."""
    made = box.compile(Program("c++17", {"main.cpp": source}))
    assert made.ok, made.log.decode()
    return made


def own_cache(folder: Path) -> Path:
    """Return a new cache folder with the parts of the sandbox, which take seconds to compile."""
    cache = folder / "cache"
    cache.mkdir(mode=0o700)
    for part in build.PARTS:
        made = build.binary(part)
        shutil.copy(made, cache / made.name)
    return cache

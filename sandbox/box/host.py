"""What of this machine the boxes are shown: the toolchains found, and what stays hidden."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from sandbox import languages
from sandbox.box.toolchain import Tool, resolve
from sandbox.errors import MissingToolchain


@dataclass(frozen=True)
class Host:
    """What of the host a box shows, and what it must not.

    binds     folders of compilers and interpreters, read-only
    emptied   files shown empty
    covered   folders that stay hidden even inside a bind
    versions  language → what its tool says of itself
    missing   language → why it cannot be used here, and what installs it
    """

    binds: tuple[str, ...]
    emptied: tuple[str, ...]
    covered: tuple[str, ...]
    versions: dict[str, str]
    missing: dict[str, str] = field(default_factory=dict)


def look_around() -> Host:
    """Finds the tools of every language in the table; those not there are left out."""
    rows = list(languages.TABLE.values())
    with ThreadPoolExecutor(max_workers=4) as pool:  # each is asked for its version once
        found = list(pool.map(_resolved, rows))
    tools = {row.name: t for row, t in zip(rows, found, strict=True) if isinstance(t, Tool)}
    missing = {row.name: t for row, t in zip(rows, found, strict=True) if isinstance(t, str)}
    return Host(
        tuple(dict.fromkeys(bind for tool in tools.values() for bind in tool.binds)),
        tuple(dict.fromkeys(f for tool in tools.values() for f in tool.startup_files)),
        hidden_folders(),
        {name: tool.version for name, tool in tools.items()},
        missing,
    )


def _resolved(row: languages.Language) -> Tool | str:
    try:
        return resolve(row)
    except MissingToolchain as error:
        return str(error)


def hidden_folders() -> tuple[str, ...]:
    """Folders that hold tests, checkers and results, wherever they were installed: the whole
    of a checkout, else the packages alone, for beside them lie what programs may import."""
    here = Path(__file__).resolve().parents[2]
    packages = [str(here / name) for name in ("eval", "checkers", "sandbox")]
    ours = [str(here)] if (here / "pyproject.toml").exists() else packages
    return tuple(dict.fromkeys([*ours, str(Path.cwd())]))

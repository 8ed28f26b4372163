"""The parts of this machine that boxes show: the toolchains, without what must stay hidden."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from gradebox.sandbox import languages
from gradebox.sandbox.box.toolchains.find import Tool, resolve
from gradebox.sandbox.errors import MissingToolchain


@dataclass(frozen=True)
class Host:
    """The parts of the host that a box shows, and those that it hides.

    binds     folders of compilers and interpreters, read-only
    emptied   files shown empty
    covered   folders that stay hidden, also within a bind, where the level can hide them
    private   what must be hidden, else a level is not used: folders and files with data
    versions  version line of each language's tool
    missing   why a language cannot be used here, and what installs it
    """

    binds: tuple[str, ...]
    emptied: tuple[str, ...]
    covered: tuple[str, ...]
    versions: dict[str, str]
    missing: dict[str, str] = field(default_factory=dict)
    private: tuple[str, ...] = ()


def inspect_host() -> Host:
    """Find the tools of every language in the table."""
    rows = list(languages.TABLE.values())
    with ThreadPoolExecutor(max_workers=4) as pool:  # queries for versions take long
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
    """Return the folders with tests, checkers and results.

    They are the working folder, unless it was removed, and the checkout. For an installed
    gradebox only its own package folder replaces the checkout, because programs may import the
    packages beside it.
    """
    ours = Path(__file__).resolve().parents[3]  # the checkout, or the installed gradebox/
    with contextlib.suppress(FileNotFoundError):
        return tuple(dict.fromkeys([str(ours), str(Path.cwd())]))
    return (str(ours),)

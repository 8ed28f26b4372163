"""What of this machine the boxes are shown: the toolchains found, and what stays hidden."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sandbox import languages
from sandbox.box.toolchain import resolve
from sandbox.errors import MissingToolchain


@dataclass(frozen=True)
class Host:
    """What of the host a box shows, and what it must not.

    binds     folders of compilers and interpreters, read-only
    emptied   files shown empty
    covered   folders that stay hidden even inside a bind
    versions  language → what its tool says of itself
    """

    binds: tuple[str, ...]
    emptied: tuple[str, ...]
    covered: tuple[str, ...]
    versions: dict[str, str]


def look_around() -> Host:
    """Finds the tools of every language in the table; those not there are left out."""
    binds: list[str] = []
    emptied: list[str] = []
    versions = {}
    for row in languages.TABLE.values():
        try:
            tool = resolve(row)
        except MissingToolchain:
            continue
        versions[row.name] = tool.version
        binds += tool.binds
        emptied += tool.startup_files
    return Host(
        tuple(dict.fromkeys(binds)), tuple(dict.fromkeys(emptied)), hidden_folders(), versions
    )


def hidden_folders() -> tuple[str, ...]:
    """Folders that hold tests, checkers and results, wherever they were installed."""
    here = Path(__file__).resolve().parents[2]
    return tuple({str(here), str(Path.cwd())})

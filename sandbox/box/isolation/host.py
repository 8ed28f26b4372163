"""What this machine offers: toolchains that boxes show, what stays hidden, rights of this process.

Programs are shown whole folders: the system's, an interpreter's, a toolchain's. Private paths
(tests, results) may be in one of them, such as a data set that a Python package contains.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from gradebox.sandbox import languages
from gradebox.sandbox.box.toolchains.find import Tool, resolve
from gradebox.sandbox.errors import MissingToolchain, SandboxUnavailable


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


def inspect_host(python: str = "") -> Host:
    """Find the tools of every language in the table; `python` is the interpreter of its row."""
    rows = list(languages.TABLE.values())
    with ThreadPoolExecutor(max_workers=4) as pool:  # queries for versions take long
        found = list(pool.map(partial(_resolved, python=python), rows))
    tools = {row.name: t for row, t in zip(rows, found, strict=True) if isinstance(t, Tool)}
    missing = {row.name: t for row, t in zip(rows, found, strict=True) if isinstance(t, str)}
    return Host(
        tuple(dict.fromkeys(bind for tool in tools.values() for bind in tool.binds)),
        tuple(dict.fromkeys(f for tool in tools.values() for f in tool.startup_files)),
        hidden_folders(),
        {name: tool.version for name, tool in tools.items()},
        missing,
    )


def _resolved(row: languages.Language, python: str) -> Tool | str:
    try:
        return resolve(row, python=python)
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


# ---- private paths ----


def data_caches() -> tuple[str, ...]:
    """Return the folders in which the Hugging Face libraries keep data sets."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or f"{base}/huggingface"
    named = [os.environ.get(name) for name in ("HF_HUB_CACHE", "HF_DATASETS_CACHE")]
    paths = [Path(os.path.expanduser(path)) for path in (home, *named) if path]  # noqa: PTH111
    # Path.is_dir raises where the home is another user's
    return tuple(str(path) for path in paths if os.path.isdir(path))  # noqa: PTH112


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


# ---- what this process may do: by its capabilities and the ids it has, not by being uid 0 ----

# The root of a container or of `unshare -r` has uid 0, but often none of root's rights.
# Names by their number in Linux.
CAPABILITIES = {
    "CHOWN": 0,
    "DAC_OVERRIDE": 1,
    "FOWNER": 3,
    "KILL": 5,
    "SETGID": 6,
    "SETUID": 7,
    "SYS_ADMIN": 21,
    "SETFCAP": 31,
}
# To run programs as another user, and to empty that user's folder.
OTHER_USER = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")
FIRST_UID = 0x60000000  # above every account; each box takes two uids, derived from a pid
MOST_PIDS = 1 << 22


def missing_capabilities(names: Iterable[str]) -> list[str]:
    """Return those of the capabilities that are not effective in this process, as CAP_ names."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            held = int(line.split()[1], 16)
            return [f"CAP_{name}" for name in names if not held >> CAPABILITIES[name] & 1]
    return [f"CAP_{name}" for name in names]


def _covers(kind: str, first: int, count: int) -> bool:
    """Return whether a user namespace's map ("uid" or "gid") has a range of ids."""
    for line in Path(f"/proc/self/{kind}_map").read_text().splitlines():
        inside, _, length = map(int, line.split())
        if inside <= first and first + count <= inside + length:
            return True
    return False


def why_no_ids(namespaces: bool) -> str:
    """Return why programs cannot get user ids of their own; "" when they can.

    namespaces  whether programs run in namespaces, for which the grader mounts folders
    """
    if os.geteuid() != 0:
        return "needs root"
    lacking = missing_capabilities((*OTHER_USER, "SYS_ADMIN") if namespaces else OTHER_USER)
    if lacking:
        return f"user id 0 without {', '.join(lacking)}"
    if not all(_covers(kind, FIRST_UID, 2 * MOST_PIDS) for kind in ("uid", "gid")):
        return "user id 0 of a user namespace that has no ids for programs"
    return ""


def has_ids(namespaces: bool) -> bool:
    """Return whether each box gets user ids of its own; see `why_no_ids`."""
    return not why_no_ids(namespaces)

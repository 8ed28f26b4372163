"""Where this process's control groups are mounted.

    /proc/self/cgroup      4:memory:/docker/ab12            its group, as named in the hierarchy
    /proc/self/mountinfo   … /docker/ab12 /sys/fs/cgroup/memory … - cgroup …    the part that is
                           mounted (here the group itself), and where

A container often has only its own group mounted, so that the group's path does not exist below the
mount point.
"""

from __future__ import annotations

from pathlib import Path

PROC = Path("/proc/self")


def own_folder(controller: str) -> Path | None:
    """Return the folder of this process's group in a controller's v1 hierarchy, "" for v2.

    None when the process has no such group or it is not in what is mounted.
    """
    group = _own_group(controller)
    if group is None:
        return None
    for line in (PROC / "mountinfo").read_text("utf-8", "surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        mounted, place = left.split()[3:5]
        kind, _, options = right.split(" ", 2)
        if controller:
            wanted = kind == "cgroup" and controller in options.split(",")
        else:
            wanted = kind == "cgroup2"
        below = _below(group, _unescaped(mounted))
        if wanted and below is not None:
            return Path(_unescaped(place)) / below
    return None


def _own_group(controller: str) -> str | None:
    for line in (PROC / "cgroup").read_text("utf-8", "surrogateescape").splitlines():
        _, controllers, path = line.split(":", 2)
        if (controllers == "" and controller == "") or controller in controllers.split(","):
            return path
    return None


def _below(group: str, mounted: str) -> str | None:
    """Return the path of a group below the mounted one, None when it is elsewhere."""
    if group == mounted:
        return ""
    top = mounted.rstrip("/") + "/"
    below = group[len(top) :]  # with ".." it is outside what this process's namespace shows
    return below if group.startswith(top) and not below.startswith("..") else None


def _unescaped(text: str) -> str:
    """Undo the octal escapes of mountinfo."""
    for code in ("040", "011", "012", "134"):  # the backslash last
        text = text.replace(f"\\{code}", chr(int(code, 8)))
    return text

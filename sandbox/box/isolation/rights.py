"""What this process may do: by its capabilities and the ids it has, not by being uid 0.

The root of a container or of `unshare -r` has uid 0, but often none of root's rights.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

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

    namespaces  in namespaces of their own, for which the grader mounts the folders they see
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

"""The results of the last run of each machine, as blocks of docs/sandbox-machines.md.

<!-- machine: Linux 6.1 -->
### Linux 6.1 …
| state | check | expected | seen |
<!-- end -->
"""

import datetime
import platform
import re
from collections.abc import Sequence
from typing import Any

from tests.vm.machine import REPO

PAGE = REPO / "docs/sandbox-machines.md"


def block(machine: str, rows: Sequence[dict[str, Any]], day: str) -> str:
    """Return the block of a machine."""
    about = rows[0] if rows else {"kernel": "did not start", "kvm": False}
    way = "KVM" if about["kvm"] else "emulated (no KVM; times are not the host's)"
    bad = sum(not row["ok"] for row in rows)
    held = f"{len(rows)} checks, all passed" if not bad else f"{len(rows)} checks, {bad} failed"
    lines = [
        f"### {machine}",
        "",
        f"{day}, kernel {about['kernel']}, {way}, on {platform.machine()}: {held}.",
        "",
        "| state of the machine | check | expected | seen |  |",
        "|---|---|---|---|---|",
    ]
    before = ""
    for row in rows:
        state = "" if row["scenario"] == before else row["scenario"]
        before = row["scenario"]
        unit = f" {row['unit']}" if row["unit"] else ""
        words = [state, row["check"], f"{row['expected']}{unit}", f"{row['seen']}{unit}"]
        cells = [word.replace("|", "\\|").strip() or " " for word in words]
        lines.append(f"| {' | '.join(cells)} | {'ok' if row['ok'] else '**failed**'} |")
    return "\n".join(lines)


def keep(machine: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write the block of a machine into the page; replace its last one."""
    day = datetime.date.today().isoformat()
    start, end = f"<!-- machine: {machine} -->", "<!-- end -->"
    text = PAGE.read_text()
    new = f"{start}\n{block(machine, rows, day)}\n{end}"
    found = re.search(re.escape(start) + ".*?" + re.escape(end), text, re.DOTALL)
    if found:
        text = text[: found.start()] + new + text[found.end() :]
    else:
        text = f"{text.rstrip()}\n\n{new}\n"
    PAGE.write_text(text)

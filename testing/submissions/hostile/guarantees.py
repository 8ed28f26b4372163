"""Write the table of guarantees in docs/sandbox.md from the outcomes of the attacks.

python -m testing.submissions.hostile.guarantees           runs all attacks, writes the table
python -m testing.submissions.hostile.guarantees FILE…     from the harness's JSON lines
"""

import json
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from testing.submissions.hostile.table import GROUPS

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = REPOSITORY / "docs" / "sandbox.md"
BEGIN, END = "<!-- guarantees: begin -->", "<!-- guarantees: end -->"
LEVELS = ("full", "delegated", "userns", "landlock", "none")
COMPILERS = "Through the compiler"


def ran(levels: Sequence[str]) -> list[dict[str, Any]]:
    """Return every outcome at these levels, each level in a process of its own."""
    rows: list[dict[str, Any]] = []
    for level in levels:
        done = subprocess.run(
            [sys.executable, "-m", "testing.submissions.hostile.harness", level],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            check=False,
        )
        rows += [json.loads(line) for line in done.stdout.splitlines()]
    return rows


def table(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return the lines of the table: a row for each attack, a column for each level."""
    result: dict[tuple[str, str], dict[str, str]] = {}
    levels: list[str] = []
    for row in rows:
        if "unavailable" in row:
            continue
        if row["level"] not in levels:
            levels.append(row["level"])
        word = f"**{row['came_out']}**" if row["wrong"] else row["came_out"]
        result.setdefault((row["run"], row["tries"]), {})[row["level"]] = word
    levels.sort(key=LEVELS.index)
    groups = {
        name: [(attack.run, attack.tries) for attack in attacks] for name, attacks in GROUPS.items()
    }
    groups[COMPILERS] = [key for key in result if key[0].startswith("compile ")]
    lines = ["| attack | " + " | ".join(levels) + " |", "|---|" + "---|" * len(levels)]
    for name, keys in groups.items():
        lines.append(f"| **{name}** |" + " |" * len(levels))
        for key in keys:
            words = [result.get(key, {}).get(level, "") for level in levels]
            lines.append(f"| {key[1].replace('|', '/')} | " + " | ".join(words) + " |")
    return lines


def write(lines: Sequence[str], page: Path = PAGE) -> None:
    """Write the table between the page's markers."""
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest or not after:
        raise SystemExit(f"{page} lacks {BEGIN} … {END}")
    machine = f"Linux {platform.release().split('-')[0]}, {platform.machine()}"
    body = "\n".join((BEGIN, f"Outcomes on {machine}:", "", *lines, END))
    page.write_text(before + body + after)


def main(files: Sequence[str]) -> int:
    """Run the command. Return 1 when an outcome breaks a guarantee."""
    rows = [json.loads(line) for name in files for line in Path(name).read_text().splitlines()]
    rows = rows or ran(LEVELS)
    write(table(rows))
    wrong = [row for row in rows if row.get("wrong")]
    for row in wrong:
        print(f"{row['level']}: {row['run']}: {row['wrong']}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Judge0's tables, which are in tables.json: languages, statuses, limits, what is refused.

languages  [our name, how Judge0 writes it, its ids]: below 43 the flavor Extra CE, else CE
limits     [default, least, most, the server's ceiling for `most` null, units of Judge0 in it]
refused    [value in answers, why another one is refused]
ended      [status, signal, message] of a program that met a limit, or that a signal ended
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradebox.sandbox.languages import find
from gradebox.sandbox.server.jobs.runtimes import version_of
from gradebox.sandbox.server.settings import Ceilings

TABLES: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
STATUSES = [{"id": int(n), "description": name} for n, name in TABLES["statuses"].items()]
WAITS, RUNS, ACCEPTED, WRONG, LATE, NOT_COMPILED = range(1, 7)
EXITED, OTHER, FAULT = 11, 12, 13
FIELDS = [
    name for part in ("own", "texts", "measured", "limits", "refused") for name in TABLES[part]
]


def limits(ceilings: Ceilings) -> dict[str, tuple[float, float, float]]:
    """Return the default, the least and the most of each limit: seconds, and KiB of memory."""
    found: dict[str, tuple[float, float, float]] = {}
    for name, (usual, least, most, ceiling, units) in TABLES["limits"].items():
        highest = most or type(usual)(getattr(ceilings, ceiling) / units)
        found[name] = min(usual, highest), least, highest
    return found


def languages(toolchains: Mapping[str, str]) -> dict[int, dict[str, Any]]:
    """Return the languages that are installed, by id; `row` is our name."""
    found: dict[int, dict[str, Any]] = {}
    for row, form, ids in TABLES["languages"]:
        if row in toolchains:
            name = form.format(version_of(toolchains[row], row))
            file = find(row).source
            about = {"name": name, "is_archived": False, "source_file": file, "row": row}
            found |= {number: {"id": number, **about} for number in ids}
    return dict(sorted(found.items()))

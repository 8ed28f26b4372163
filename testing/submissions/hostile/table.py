"""The attacks in groups, with the required outcome of each at every level: table.jsonl.

A line has the fields of `Attack` that are not the default, its group, in `limits` those that are
not model.LIMITS, and perhaps a `note`.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from testing.submissions.hostile.model import LIMITS, Attack


def _attack(row: dict[str, Any]) -> Attack:
    fields = {name: value for name, value in row.items() if name not in ("group", "note")}
    if "limits" in fields:
        fields["limits"] = replace(LIMITS, **fields["limits"])
    return Attack(**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})


_TABLE = Path(__file__).with_suffix(".jsonl").read_text("utf-8")
_ROWS = [json.loads(line) for line in _TABLE.splitlines()]
GROUPS = {
    group: tuple(_attack(row) for row in _ROWS if row["group"] == group)
    for group in dict.fromkeys(row["group"] for row in _ROWS)
}
ATTACKS = tuple(attack for group in GROUPS.values() for attack in group)

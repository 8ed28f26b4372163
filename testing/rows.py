"""Tables of tests as data: one JSON value per line, beside the test.

tests/eval/cli/test_flags.py    rows(__file__, "wrong_values") ─▶ test_flags.wrong_values.jsonl
"""

import json
from pathlib import Path
from typing import Any


def rows(test: str, table: str) -> list[Any]:
    """Return the rows of a table of a test's file, in order."""
    path = Path(test).with_suffix(f".{table}.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def named_rows(test: str, table: str) -> dict[str, Any]:
    """Return the rows of a table by their first column, without it."""
    return {name: rest[0] if len(rest) == 1 else rest for name, *rest in rows(test, table)}

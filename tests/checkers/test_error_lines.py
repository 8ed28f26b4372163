"""Which line of a failed program's stderr a record, or a checker's error, shows."""

import json
from pathlib import Path

import pytest

from gradebox.checkers.error_lines import crash_line

ROWS = [json.loads(line) for line in Path(__file__).with_suffix(".lines.jsonl").open()]


@pytest.mark.parametrize(("runtime", "stderr", "line"), ROWS, ids=[row[0] for row in ROWS])
def test_the_line_names_the_error(runtime: str, stderr: str, line: str) -> None:
    assert crash_line(stderr) == line

"""Which line of a failed program's stderr a record, or a checker's error, shows."""

import pytest

from gradebox.checkers.error_lines import crash_line
from testing.rows import rows

ROWS = rows(__file__, "lines")


@pytest.mark.parametrize(("runtime", "stderr", "line"), ROWS, ids=[row[0] for row in ROWS])
def test_the_line_names_the_error(runtime, stderr, line):
    assert crash_line(stderr) == line

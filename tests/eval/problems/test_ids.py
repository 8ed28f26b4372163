"""How the rows of data sets are named and labelled, where it is not by one field."""

from typing import Any

import pytest

from gradebox.eval.problems.formats import FORMATS, Reading
from testing.rows import named_rows

ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = named_rows(__file__, "rows")


@pytest.mark.parametrize("name", ROWS)
def test_the_ids_and_labels_of_a_row(name):
    row, expected = ROWS[name]
    reading = Reading(FORMATS[name])
    assert reading.ids(row, 7) == expected
    assert row.keys() <= {*FORMATS[name].names}, "only these are read to look a row up"

"""How many known solutions a row may have."""

import pytest

from gradebox.eval.common.errors import RowError
from gradebox.eval.problems.row import MAX_GOLD_SOLUTIONS, make_problem


def test_a_row_has_a_bounded_number_of_known_solutions() -> None:
    row = {"id": "1/A", "gold_solutions": [{"code": ""}] * MAX_GOLD_SOLUTIONS}
    assert len(make_problem(row).gold_solutions) == MAX_GOLD_SOLUTIONS
    row["gold_solutions"] = [{"code": ""}] * (MAX_GOLD_SOLUTIONS + 1)
    with pytest.raises(RowError, match=f"has {MAX_GOLD_SOLUTIONS + 1} programs"):
        make_problem(row)

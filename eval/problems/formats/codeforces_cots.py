"""open-r1/codeforces-cots: Codeforces problems with a model's solution; the tests are the samples.

The same rows are lines of a solutions file, which open-r1/codeforces has all tests for.
"""

from __future__ import annotations

from typing import Any

from gradebox.eval.common.errors import shown
from gradebox.eval.problems.formats.row_format import OWN, Content, Judge, Row, RowFormat
from gradebox.eval.problems.row import TESTS_COLUMN, RowError


def _convert(row: Row, _judge: Judge) -> dict[str, Any]:
    examples = row.get("examples")
    if examples is not None and not isinstance(examples, (list, dict)):
        raise RowError(f"examples is {shown(examples)}: it must be a list of tests")
    used = {name: value for name, value in row.items() if name in OWN.uses}
    return {**used, TESTS_COLUMN: examples, "prompt": None, "official_tests_complete": False}


CODEFORCES_COTS = RowFormat(
    name="codeforces-cots",
    needs=(frozenset({"id", "contest_id", "index", "examples", "prompt", "generation"}),),
    content={"examples": Content()},
    names=OWN.names,
    uses=(*(name for name in OWN.uses if name != TESTS_COLUMN), "examples"),
    ids=OWN.ids,
    convert=_convert,
)

"""Names of languages: in the table, in Markdown fences, on Codeforces."""

import pytest

from gradebox.sandbox import UnknownLanguage
from gradebox.sandbox.languages import find
from testing.rows import rows


@pytest.mark.parametrize(
    ("name", "row"),
    rows(__file__, "names"),
)
def test_known_names(name, row):
    assert find(name).name == row


@pytest.mark.parametrize("name", ["", "cobol", "GNU", "(64)", "c++99", "(GCC 7-32)"])
def test_unknown_names_are_refused(name):
    with pytest.raises(UnknownLanguage, match="unknown language"):
        find(name)

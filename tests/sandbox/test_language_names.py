"""Names of languages: in the table, in Markdown fences, on Codeforces."""

from __future__ import annotations

import pytest

from gradebox.sandbox import UnknownLanguage
from gradebox.sandbox.languages import find


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("python3", "python"),
        (" Python 3 ", "python"),
        ("PyPy 3-64", "pypy3"),
        ("GNU C++17", "c++17"),
        ("GNU C++17 (64)", "c++17"),
        ("GNU C++20 (64)", "c++20"),
        ("C++17 (GCC 7-32)", "c++17"),
        ("C++20 (GCC 13-64)", "c++20"),
        ("C++23 (GCC 14-64, msys2)", "c++23"),
        ("gnu++17", "c++17"),
        ("C++ 20", "c++20"),
        ("CPP", "c++17"),
        ("Node.js", "javascript"),
    ],
)
def test_known_names(name: str, row: str) -> None:
    assert find(name).name == row


@pytest.mark.parametrize("name", ["", "cobol", "GNU", "(64)", "c++99", "(GCC 7-32)"])
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(UnknownLanguage, match="unknown language"):
        find(name)

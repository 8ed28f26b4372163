"""The line of a compiler's messages that a record shows as the error."""

from __future__ import annotations

import pytest

from gradebox.eval.grading.solution_run import error_line


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("main.cpp:1:1: error: no\n    1 | x\n", "main.cpp:1:1: error: no"),
        ('  File "main.py", line 1\n    print(1\n         ^\nSyntaxError: no\n', "SyntaxError: no"),
        ("main.cpp: In function ‘f’:\nmain.cpp:5:1: error: no\n", "main.cpp:5:1: error: no"),
        ("\n\n  only this\n", "only this"),
        ("", ""),
    ],
)
def test_the_error_is_the_first_line_that_names_it(log: str, line: str) -> None:
    assert error_line(log) == line

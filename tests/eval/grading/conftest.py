"""A grader with an embedded box, for the tests of a file."""

from collections.abc import Iterator

import pytest

import gradebox
from tests.sandbox.backends import needs_box


@pytest.fixture(scope="module")
def grader() -> Iterator[gradebox.Grader]:
    needs_box()
    with gradebox.Grader(sandbox="local") as made:
        yield made

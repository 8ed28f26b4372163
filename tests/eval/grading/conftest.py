"""A grader with an embedded box, for the tests of a file."""

from collections.abc import Iterator

import pytest

import gradebox
from tests.sandbox.backends import open_backend


@pytest.fixture(scope="module")
def grader() -> Iterator[gradebox.Grader]:
    with open_backend("box"):  # skips where no box works
        pass
    with gradebox.Grader(sandbox="local") as made:
        yield made

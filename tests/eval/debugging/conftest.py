"""One run for all tests that only look at it."""

from __future__ import annotations

import pytest

from tests.eval.debugging.made_run import MadeRun


@pytest.fixture(scope="package")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeRun:
    """A finished run; not to be changed."""
    return MadeRun(tmp_path_factory.mktemp("made"))

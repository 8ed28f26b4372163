"""One run for all tests that do not change it."""

import pytest

from tests.eval.debugging.small_run import SmallRun


@pytest.fixture(scope="package")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """Return a finished run. Tests must not change it."""
    return SmallRun(tmp_path_factory.mktemp("run"))

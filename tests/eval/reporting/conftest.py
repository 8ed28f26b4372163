"""One browser for all tests of a worker; without Chromium the tests are skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.eval.reporting.browser import CHROMIUM, MISSING, Browser, open_browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip(MISSING)
    with open_browser(tmp_path_factory.mktemp("browser")) as browser:
        browser.size(1280, 900)
        browser.dark(False)
        yield browser

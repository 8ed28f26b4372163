"""One browser for the tests of a worker; left out, saying why, where there is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.eval.report.browser import CHROMIUM, MISSING, Browser, open_browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip(MISSING)
    with open_browser(tmp_path_factory.mktemp("browser")) as browser:
        browser.size(1280, 900)
        browser.dark(False)
        yield browser

"""A pytest plugin that pauses threads at random, so that tests which depend on timing fail.

    pytest -p tests.jitter                     (`make test-jitter`)
    JITTER_SEED=7 JITTER_EVERY=300 JITTER_MS=200 pytest -p tests.jitter

About one of JITTER_EVERY returns from a function of this project is followed by a sleep of up to
JITTER_MS milliseconds, in any thread. A busy machine does the same now and then. A test that fails
only here relies on an order of events, or on a speed, that is not guaranteed. Programs that tests
start are not slowed.
"""

import os
import random
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

HERE = str(Path(__file__).resolve().parents[1]) + os.sep
EVERY = int(os.environ.get("JITTER_EVERY", "2000"))
LONGEST_S = int(os.environ.get("JITTER_MS", "120")) / 1000
SEED = int(os.environ.get("JITTER_SEED", "1"))

chance = random.Random(SEED)
ours: dict[str, bool] = {}


def is_ours(file: str) -> bool:
    known = ours.get(file)
    if known is None:
        known = ours[file] = file.startswith(HERE) and f"{os.sep}.venv{os.sep}" not in file
    return known


def pause(frame: FrameType, event: str, argument: Any) -> None:
    if event == "return" and is_ours(frame.f_code.co_filename) and chance.random() * EVERY < 1:
        time.sleep(chance.random() * LONGEST_S)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Any:
    """Pause tests only: shared fixtures are set up once and would only take longer."""
    threading.setprofile(pause)
    sys.setprofile(pause)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

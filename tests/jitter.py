"""A pytest plugin that makes every thread stumble, so that tests which lean on timing fail here.

    pytest -p tests.jitter                     (`make test-jitter`)
    JITTER_SEED=7 JITTER_EVERY=300 JITTER_MS=200 pytest -p tests.jitter

About one of JITTER_EVERY returns from a function of this project is followed by a sleep of up to
JITTER_MS milliseconds, in whichever thread it happens: what a busy machine does to a thread now
and then, done all the time. A test that fails only here asks for an order of events, or a speed,
that nobody promised it. Programs that tests start are not slowed.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

HERE = str(Path(__file__).resolve().parent.parent) + os.sep
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


def stumble(frame: FrameType, event: str, argument: Any) -> None:
    if event == "return" and is_ours(frame.f_code.co_filename) and chance.random() * EVERY < 1:
        time.sleep(chance.random() * LONGEST_S)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Any:
    """Only tests themselves: what they share is set up once and would only take longer."""
    threading.setprofile(stumble)
    sys.setprofile(stumble)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

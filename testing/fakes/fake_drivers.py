"""Grading with driver processes whose sandbox is a fake one.

    with fake_drivers(): run_grading(Options(…, drivers=2))        in a test
    python -m testing.fakes.fake_drivers FOLDER PAUSE_S DRIVERS    a process that tests interrupt

A program's source says what it does: `wrong` prints "wrong", `deadly` ends its driver as the kernel
does when memory is short, `warns` makes the driver warn and log. Any other prints its input. Each
run takes PAUSE_S (GRADEBOX_FAKE_PAUSE_S). This file is also what drivers are started with.
"""

import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from gradebox.eval.grading.drivers import driver
from gradebox.sandbox.children.channel import Channel

MAIN = "testing.fakes.fake_drivers:drive"
PAUSE = "GRADEBOX_FAKE_PAUSE_S"


def fake_sandbox(*_: Any, **__: Any) -> Any:
    """Return the sandbox of the parent and of every driver."""
    from testing.fakes.scripted_sandbox import Call, FakeSandbox

    def answer(call: Call) -> bytes:
        time.sleep(float(os.environ.get(PAUSE, "0")))
        if "deadly" in call.source:
            os.kill(os.getpid(), signal.SIGKILL)
        if "warns" in call.source:
            logging.getLogger("gradebox.test").warning("driver: %s", "all is not well")
        return b"wrong" if "wrong" in call.source else call.stdin

    return FakeSandbox(answer, record=False)


@contextlib.contextmanager
def fake_drivers() -> Iterator[None]:
    """Let sessions opened in this context have the fake sandbox, in their drivers as well."""
    with (
        mock.patch("gradebox.sandbox.opening.open_sandbox", fake_sandbox),
        mock.patch("gradebox.eval.grading.drivers.process.MAIN", MAIN),
    ):
        yield


def main() -> int:
    from gradebox.eval.cli.run import run_grading
    from gradebox.eval.common.errors import InputError
    from gradebox.eval.grading.options import Options

    folder, drivers = Path(sys.argv[1]), int(sys.argv[3])
    os.environ[PAUSE] = sys.argv[2]
    options = Options(
        solutions_path=folder / "sols.jsonl",
        dataset=str(folder / "problems.jsonl"),
        results_dir=folder / "results",
        sandbox="local",
        workers=3,
        drivers=drivers,
    )
    try:
        with fake_drivers():
            result = run_grading(options, say=lambda text: print(text, flush=True))
    except InputError as e:
        print(f"error: {e}")
        return 2
    return result.exit_status


def drive(channel: Channel) -> None:
    """Be a driver process with the fake sandbox."""
    with mock.patch.object(driver, "open_sandbox", fake_sandbox):
        driver.run_driver(channel)


def send_half(channel: Channel) -> None:
    """Be a driver process that stops within a message."""
    os.write(channel.fileno(), (100).to_bytes(4, "big") + b"half")
    time.sleep(60)


if __name__ == "__main__":
    sys.exit(main())

"""Grading with driver processes whose sandbox is a fake one.

    with fake_drivers(): run_grading(Options(…, drivers=2))        in a test
    python -m testing.fakes.fake_drivers FOLDER PAUSE_S DRIVERS    a process that tests interrupt

A program's source says what it does: `wrong` prints "wrong", `deadly` ends its driver as the kernel
does when memory is short, `warns` makes the driver warn and log. Any other prints its input. Each
run takes PAUSE_S (GRADEBOX_FAKE_PAUSE_S). This file is also what drivers are started with.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
BOOT = ROOT / "eval" / "grading" / "drivers" / "boot.py"
PAUSE = "GRADEBOX_FAKE_PAUSE_S"
TOOL = "GRADEBOX_FAKE_TOOL"  # the version of Python that a driver finds


def fake_sandbox(*_: Any, **__: Any) -> Any:
    """Return the sandbox of the parent and of every driver."""
    from testing.fakes.scripted_sandbox import Call, FakeSandbox

    def answer(call: Call) -> bytes:
        time.sleep(float(os.environ.get(PAUSE, "0")))
        if "deadly" in call.source:
            os.kill(os.getpid(), signal.SIGKILL)
        if "warns" in call.source:
            warnings.warn("the cores are lent out", RuntimeWarning, stacklevel=1)
            logging.getLogger("gradebox.test").warning("driver: %s", "all is not well")
        return b"wrong" if "wrong" in call.source else call.stdin

    sandbox = FakeSandbox(answer, record=False)
    if sys.flags.isolated and TOOL in os.environ:  # a driver
        sandbox.toolchains = {"python": os.environ[TOOL]}
    return sandbox


@contextlib.contextmanager
def fake_drivers() -> Iterator[None]:
    """Let sessions opened in this context have the fake sandbox, in their drivers as well."""
    with (
        mock.patch("gradebox.sandbox.opening.open_sandbox", fake_sandbox),
        mock.patch("gradebox.eval.grading.drivers.process.BOOT", Path(__file__)),
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
        workers=4,
        drivers=drivers,
    )
    try:
        with fake_drivers():
            result = run_grading(options, say=lambda text: print(text, flush=True))
    except InputError as e:
        print(f"error: {e}")
        return 2
    return result.exit_status


def drive() -> None:
    """Be a driver process with the fake sandbox."""
    spec = importlib.util.spec_from_file_location("boot", BOOT)
    assert spec is not None and spec.loader is not None
    boot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(boot)
    fd = boot.load()
    sys.path.append(str(ROOT))
    from gradebox.eval.grading.drivers import driver

    with mock.patch.object(driver, "open_sandbox", fake_sandbox):
        driver.run_driver(fd)


if __name__ == "__main__":
    sys.exit(drive() if sys.flags.isolated else main())

"""A driver process with the stand-in as its sandbox: scaling.py starts it for the real one."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    fd = runpy.run_path(str(ROOT / "eval/grading/drivers/boot.py"))["load"]()
    sys.path.append(str(ROOT))

    from benchmarks.stand_in import StandIn
    from gradebox.eval.grading.drivers import driver

    def open_stand_in(kind: str, *, slots: int, **_: Any) -> StandIn:
        return StandIn(slots)

    driver.open_sandbox = open_stand_in  # type: ignore[assignment]
    driver.run_driver(fd)


if __name__ == "__main__":
    main()

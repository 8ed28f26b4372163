"""Grade files with a fake sandbox, in a process that tests interrupt.

    python -m testing.fakes.fake_grading FOLDER SECONDS_PER_CASE

FOLDER has problems.jsonl and sols.jsonl. Every program prints its input after a pause; programs
with `wrong` in their source print "wrong".
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from gradebox.eval.cli.run import run_grading
from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.options import Options
from testing.fakes.scripted_sandbox import Call, FakeSandbox


def main() -> int:
    folder, pause_s = Path(sys.argv[1]), float(sys.argv[2])

    def answer(call: Call) -> bytes:
        time.sleep(pause_s)
        return b"wrong" if "wrong" in call.source else call.stdin

    options = Options(
        solutions_path=folder / "sols.jsonl",
        dataset=str(folder / "problems.jsonl"),
        results_dir=folder / "results",
        workers=3,
    )
    try:
        result = run_grading(
            options, say=lambda text: print(text, flush=True), sandbox=FakeSandbox(answer)
        )
    except InputError as e:
        print(f"error: {e}")
        return 2
    return result.exit_status


if __name__ == "__main__":
    sys.exit(main())

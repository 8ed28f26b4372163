"""Print the folder of the tasks for lm-evaluation-harness: `python -m gradebox.lm_eval`."""

from __future__ import annotations

from pathlib import Path

from gradebox.eval.frameworks import lm_eval as _tasks

FOLDER = Path(_tasks.__file__).resolve().parent

if __name__ == "__main__":
    print(FOLDER)

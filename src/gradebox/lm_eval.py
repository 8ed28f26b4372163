"""Print the folder of the tasks for lm-evaluation-harness: `python -m gradebox.lm_eval`."""

from __future__ import annotations

from gradebox.eval.frameworks.lm_eval import TASKS as FOLDER

__all__ = ["FOLDER"]

if __name__ == "__main__":
    print(FOLDER)

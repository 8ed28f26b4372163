"""The parts of the lm-evaluation-harness tasks that need no harness."""

import subprocess
import sys
from pathlib import Path

import pytest

from gradebox.eval.frameworks import lm_eval


def test_the_folder_of_the_tasks_is_printed():
    done = subprocess.run(
        [sys.executable, "-m", "gradebox.lm_eval"], capture_output=True, text=True, check=True
    )
    folder = Path(done.stdout.rstrip("\n"))
    assert {path.stem for path in folder.glob("*.yaml")} == {
        "humaneval",
        "humaneval_instruct",
        "humaneval_plus",
        "mbpp",
        "mbpp_instruct",
        "mbpp_plus",
        "mbpp_plus_instruct",
    }


@pytest.mark.parametrize(
    ("response", "program"),
    [
        ("def f(): pass\n```\nIt passes.", "def f(): pass\n"),
        ("def f(): pass", "def f(): pass"),
        ("```python\ndef f(): pass\n```", "def f(): pass\n"),
        ("\n```\nx = 1\n```\n```\nx = 2\n```", "x = 1\n"),
        ("", ""),
    ],
)
def test_the_program_of_a_response_in_an_open_fence(response, program):
    assert lm_eval.fenced_program({}, response) == program

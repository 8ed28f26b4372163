"""lighteval, DSPy, smolagents, SkyRL-gym, AReaL and slime with what docs/frameworks.md pastes."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.frameworks.conftest import Client
from tests.frameworks.environments import ROOT, why_missing

pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(300)]
FIRST_LINES = {  # environment → the first line of its paste
    "lighteval": "# lcb_graded.py",
    "dspy": "# metric of DSPy",
    "smolagents": "# tool and check of smolagents",
    "skyrl": "# environment of SkyRL-gym",
    "areal": "# reward of AReaL",
    "slime": "# reward of slime",
}
TESTS = {"inputs": ["2 3\n"], "outputs": ["5\n"]}
PROGRAMS = [
    "print(sum(map(int, input().split())))",
    "import sys\nprint(sum(map(int, sys.stdin.read().split())))",
    "a, b = map(int, input().split())\nprint(a + b)",
    "print(6)",
    "import os\nos._exit(0)",
    "print(",
]
COMPLETIONS = [f"So:\n```python\n{program}\n```" for program in PROGRAMS]
GIVEN = [True] * 3 + [False] * 3


def paste_of(name: str) -> str:
    """Return the block of the documentation."""
    text = Path(ROOT, "docs/frameworks.md").read_text("utf-8")
    start = text.index(FIRST_LINES[name])
    return text[start : text.index("\n```", start)] + "\n"


@pytest.mark.parametrize("name", [name for name in FIRST_LINES if name != "slime"])
def test_right_programs_have_reward_1_and_wrong_ones_less(name):
    why = why_missing(name)
    if why is not None:
        pytest.skip(f"{name}: {why}")
    client = Client(name, "paste")
    found = client.call(name, "", text=paste_of(name), completions=COMPLETIONS, tests=TESTS)
    assert [reward == 1 for reward in found] == GIVEN


def test_slime_awaits_a_reward_of_a_sample():
    pasted: dict[str, Any] = {}
    exec(paste_of("slime"), pasted)  # slime is on no index: called as its `async_rm` does
    label = json.dumps(TESTS)
    samples = [SimpleNamespace(response=f"{c}<|im_end|>", label=label) for c in COMPLETIONS]

    async def rewards() -> list[float]:
        return await asyncio.gather(*(pasted["reward_func"](None, one) for one in samples))

    assert [reward == 1 for reward in asyncio.run(rewards())] == GIVEN

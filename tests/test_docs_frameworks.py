"""The code of docs/frameworks.md runs as it is printed, except for the server's address."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from testing.fakes.scripted_sandbox import Call, FakeSandbox
from tests.eval.api.serving import serving

PAGE = (Path(__file__).parents[1] / "docs" / "frameworks.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TRUTH = {"inputs": ["1\n", "2\n"], "outputs": ["2\n", "4\n"]}


def doubled(call: Call) -> Any:
    return b"%d \n" % (2 * int(call.stdin)) if "double" in call.source else b"2\n"


@pytest.mark.parametrize(("word", "score"), [("double", 1.0), ("constant", 0.5)])
@pytest.mark.parametrize("form", [dict, json.dumps])
def test_verls_reward_file_scores_a_completion(word: str, score: float, form: Any) -> None:
    (code,) = (c for c in BLOCKS if "reward.py" in c)
    with serving(FakeSandbox(doubled)) as url:
        names: dict[str, Any] = {}
        exec(code.replace("http://127.0.0.1:2000", url), names)
        given = {"data_source": "apps", "solution_str": f"```python\n{word}\n```"}
        assert names["compute_score"](**given, ground_truth=form(TRUTH), reward_model=1) == score

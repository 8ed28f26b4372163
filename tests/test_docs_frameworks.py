"""The code of docs/frameworks.md runs as it is printed, except for the server's address."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from testing.fakes.scripted_sandbox import Call, FakeSandbox
from tests.eval.api.serving import serving

PAGE = (Path(__file__).parents[1] / "docs" / "frameworks.md").read_text(encoding="utf-8")


def doubled(call: Call) -> Any:
    assert "2 * int(input())" in call.source
    return b"%d \n" % (2 * int(call.stdin))


def test_verls_function_grades_on_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)\n```\n", PAGE, re.DOTALL)
    (code,) = (block for block in blocks if "gradebox.verl" in block)
    with serving(FakeSandbox(doubled)) as url:
        exec(code.replace("http://127.0.0.1:2000", url), {})
    assert capsys.readouterr().out.startswith("{'score': 1.0, 'pass_rate': 1.0, 'verdict': 'AC'")

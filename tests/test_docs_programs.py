"""The programs in docs/rewards.md, docs/python-interface.md and docs/frameworks.md run unchanged.

TRL and verl are not needed: a fake trainer calls the reward functions as they do. Only the address
of the server is another one.
"""

import re
import sys
import types
from pathlib import Path
from typing import Any, ClassVar

import pytest

import gradebox
from testing.fakes.scripted_sandbox import Call, FakeSandbox
from tests.eval.api.serving import serving
from tests.sandbox.backends import needs_box

pytestmark = pytest.mark.slow
DOCS = Path(__file__).resolve().parents[1] / "docs"
RIGHT = "```python\nprint(sum(map(int, input().split())))\n```"
WRONG = "```python\nprint(5)\n```"


@pytest.fixture(scope="module", autouse=True)
def _box() -> Any:
    needs_box()


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    gradebox.close()


def programs(page: str) -> list[str]:
    """Return the Python blocks of a page; a fence inside a program does not end its block."""
    text = (DOCS / page).read_text()
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "docs"}
    exec(compile(source, "docs", "exec"), names)
    return names


def lines(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


class Trainer:
    """Call the reward functions once as TRL's GRPOTrainer does, and keep the rewards."""

    got: ClassVar[list[Any]] = []

    def __init__(self, model: str, reward_funcs: list[Any], args: Any, train_dataset: Any) -> None:
        self.rewards, self.rows, self.group = reward_funcs, train_dataset, args.num_generations

    def train(self) -> None:
        for row in self.rows:
            completions = [RIGHT if i % 2 else WRONG for i in range(self.group)]
            columns = {k: [v] * self.group for k, v in row.items() if k != "prompt"}
            for reward in self.rewards:
                assert reward.__name__ == "codeforces"
                Trainer.got = reward(
                    prompts=[row["prompt"]] * self.group,
                    completions=completions,
                    completion_ids=[[0]] * self.group,
                    trainer_state=None,
                    **columns,
                )


def test_trl(monkeypatch):
    trl: Any = types.ModuleType("trl")
    trl.GRPOTrainer = Trainer
    trl.GRPOConfig = lambda **given: types.SimpleNamespace(**given)
    monkeypatch.setitem(sys.modules, "trl", trl)
    source = programs("rewards.md")[0]
    assert lines(source) <= 20
    run(source)
    assert Trainer.got == [0.0, 1.0] * 4


def test_verl(capsys):
    run(programs("rewards.md")[1])
    assert f"prints `{capsys.readouterr().out.strip()}`" in (DOCS / "rewards.md").read_text()


def test_verl_on_a_server(capsys):
    def doubled(call: Call) -> bytes:
        assert "2 * int(input())" in call.source
        return b"%d \n" % (2 * int(call.stdin))

    (code,) = (block for block in programs("frameworks.md") if "print(compute" in block)
    with serving(FakeSandbox(doubled)) as url:
        run(code.replace("http://127.0.0.1:2000", url))
    assert capsys.readouterr().out.startswith("{'score': 1.0, 'pass_rate': 1.0, 'verdict': 'AC'")


def test_openrlhf():
    function = run(programs("rewards.md")[2])["reward_func"]
    tests = {"inputs": ["2 3\n", "1 1\n"], "outputs": ["5\n", "2\n"]}
    given = function(queries=["Add." + WRONG], prompts=["Add."], labels=[tests])
    assert (given["rewards"], given["scores"]) == (0.0, 0.5)


def test_asyncio(capsys):
    text = (DOCS / "rewards.md").read_text()
    source = programs("rewards.md")[3]
    assert lines(source) <= 20
    run(source)
    printed = capsys.readouterr().out.strip()
    assert printed == "[[1.1, 1.1, -1.0], [1.1, 1.1, -1.0], [1.1, 1.1, -1.0]]"
    assert f"prints `{printed}`" in text


def test_python_interface():
    found = programs("python-interface.md")
    assert len(found) == 2
    for source in found:
        run(source)


def test_the_table_of_names_is_complete():
    text = (DOCS / "python-interface.md").read_text()
    types_only = {"BadRequest", "CompileError", "Execution", "InputError", "Limits", "SandboxError"}
    for name in set(gradebox.__all__) - types_only - {"open_sandbox"}:
        assert f"{name}" in text

"""OpenRLHF 0.11: its executor with our file, and with the address of a server."""

from pathlib import Path

import pytest

ENVIRONMENT = "openrlhf"
pytestmark = pytest.mark.frameworks
TESTS = {"inputs": ["2 3\n", "10 -4\n"], "outputs": ["5\n", "6\n"]}
ADD = "```python\nprint(sum(map(int, input().split())))\n```"
SLOW = ADD.replace("print", "import time\ntime.sleep(2)\nprint")
ANSWERS = [ADD, "```python\nprint(5)\n```", "I would add them."]
NONE = {"reward": None, "scores": None, "extra_logs": {}}


def file_with(folder: Path, settings: str) -> str:
    path = folder / "reward.py"
    path.write_text(
        "from gradebox.openrlhf import make_reward_func\n"
        f"reward_func = make_reward_func({settings})\n"
    )
    return str(path)


def rewards(found: list[dict]) -> list[tuple]:
    return [(one["reward"], one["scores"]) for one in found]


def test_a_file_is_loaded_and_asked(client, tmp_path):
    found = client.call("samples", "", answers=ANSWERS, tests=TESTS, reward=file_with(tmp_path, ""))
    assert rewards(found) == [(1.0, 1.0), (0.0, 0.5), (-1.0, 0.0)]
    assert found[1]["extra_logs"] == {"pass_rate": 0.5, "passed": 0.0}


def test_a_server_is_asked(client, server):
    found = client.call("samples", server.url, answers=ANSWERS, tests=TESTS)
    assert [one[0] for one in found[0].items()] == ["reward", "scores", "extra_logs"]
    assert [value(one["reward"]) for one in found] == [1.0, 0.0, -1.0]
    assert [value(one["scores"]) for one in found] == [1.0, 0.5, 0.0]


def value(given: object) -> object:
    return given[0] if isinstance(given, list) else given


@pytest.mark.parametrize("file", [True, False])
def test_samples_of_a_killed_server_have_no_reward(client, start_server, tmp_path, file):
    server = start_server()
    settings = f"servers=[{server.url!r}], patience_s=2"
    reward = file_with(tmp_path, settings) if file else None
    process = client.start("samples", server.url, answers=[SLOW] * 3, tests=TESTS, reward=reward)
    server.wait_for_requests()
    server.kill()
    assert client.read(process) == [NONE] * 3

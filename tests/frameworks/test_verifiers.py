"""verifiers 0.4: its loader finds our taskset, its tasks validate and score."""

import pytest

ENVIRONMENT = "verifiers"
pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(300)]
RIGHT = [f"    return x + {n}\n" for n in range(2)]
HUMANEVAL = [
    {
        "task_id": f"HumanEval/{n}",
        "prompt": f"def f{n}(x):\n    '''Add {n} to x.'''\n",
        "entry_point": f"f{n}",
        "canonical_solution": right,
        "test": f"def check(candidate):\n    assert candidate(5) == {5 + n}\n",
    }
    for n, right in enumerate([*RIGHT, "    return 0\n"])
]
REPLIES = {
    "AC": "```python\ndef f0(x):\n    return x\n```",
    "WA": "```python\ndef f0(x):\n    return 6\n```",
    "CE": "```python\ndef f0(x:\n```",
}


def test_tasks_are_loaded_validated_and_scored(client):
    found = client.call("", "", rows=HUMANEVAL, replies=list(REPLIES.values()))
    assert found["valid"] == [True, True, False]
    assert "Add 1 to x." in found["prompts"][1]
    assert "candidate" not in str(found["traced"])  # no trace has the tests
    scores = dict(zip(REPLIES, found["scores"], strict=True))
    assert {name: one["verdict"] for name, one in scores.items()} == {n: n for n in REPLIES}
    assert [one["rewards"]["tests_passed"] for one in scores.values()] == [1.0, 0.0, -0.1]
    assert scores["AC"]["metrics"] == {"pass_rate": 1.0}


def test_a_fault_of_the_machine_is_an_error_and_no_reward(client, start_server):
    server = start_server()
    server.kill()
    found = client.call("", server.url, rows=HUMANEVAL, replies=[REPLIES["AC"]])
    assert "NotGraded" in found["scores"][0]["error"]
    assert found["valid"] == [None] * 3

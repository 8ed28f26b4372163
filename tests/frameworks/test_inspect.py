"""inspect_ai 0.3.285 with its mock model: our scorer, samples and task."""

import math
import time

import pytest

ENVIRONMENT = "inspect"
pytestmark = pytest.mark.frameworks
HUMANEVAL = [
    {
        "task_id": f"HumanEval/{n}",
        "prompt": f'def f{n}(x):\n    """Return x + {n}."""\n',
        "canonical_solution": f"    return x + {n}\n",
        "entry_point": f"f{n}",
        "test": f"\ndef check(candidate):\n    assert candidate(1) == {n + 1}\n",
    }
    for n in range(3)
]
ANSWERS = {
    HUMANEVAL[0]["prompt"]: "```python\ndef f0(x):\n    return x\n```",
    HUMANEVAL[1]["prompt"]: "```python\ndef f1(x):\n    return x\n```",
    HUMANEVAL[2]["prompt"]: "```python\nimport os\nos._exit(0)\n```",
}
TESTS = [{"input": f"{n}\n", "output": f"{2 * n}\n"} for n in range(4)]
DOUBLE = {"id": "double", "official_tests": TESTS, "language": "python"}
RIGHT = "```python\nprint(int(input()) * 2)\n```"


def test_humaneval_is_evaluated_by_the_registered_task(client):
    found = client.call("programs", "", rows=HUMANEVAL, answers=ANSWERS)
    scores = {one["id"]: one for one in found["scores"]}
    assert {name: one["value"] for name, one in scores.items()} == {
        "HumanEval/0": "C",
        "HumanEval/1": "I",
        "HumanEval/2": "I",
    }
    assert found["metrics"]["accuracy"] == pytest.approx(1 / 3)
    wrong = scores["HumanEval/1"]
    assert wrong["explanation"].startswith("WA in official test 0: ")
    assert "assert candidate(1) == 2" in wrong["explanation"]
    assert (wrong["metadata"]["verdict"], wrong["metadata"]["tests"]) == ("WA", 1)


def test_a_log_is_scored_without_a_sandbox(client):
    found = client.call("rescored", "", rows=HUMANEVAL, answers=ANSWERS)
    assert {one["id"]: one["value"] for one in found["scores"]} == {
        "HumanEval/0": 1.0,
        "HumanEval/1": 0.0,
        "HumanEval/2": 0.0,
    }


def test_what_was_not_measured_is_unscored(client):
    rows = [DOUBLE, {**DOUBLE, "id": "empty", "official_tests": []}, {"id": "bad", "test": 3}]
    answers = {row["id"]: RIGHT for row in rows}
    found = client.call("with_rows", "", rows=rows, answers=answers)
    scores = {one["id"]: one for one in found["scores"]}
    assert scores["double"]["value"] == "C"
    assert math.isnan(scores["empty"]["value"]) and math.isnan(scores["bad"]["value"])
    assert found["metrics"]["accuracy"] == 1.0 and found["unscored"] == 2


def test_servers_grade(client, server):
    rows = [{**DOUBLE, "id": f"double{n}"} for n in range(40)]
    answers = {row["id"]: RIGHT for row in rows}
    found = client.call("with_rows", server.url, rows=rows, answers=answers)
    assert found["metrics"]["accuracy"] == 1.0 and len(found["scores"]) == 40


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_server_killed_in_the_middle_costs_no_points(client, start_server, comes_back):
    server = start_server()
    slow = "```python\nimport time\ntime.sleep(0.7)\nprint(int(input()) * 2)\n```"
    patience_s = 100 if comes_back else 4
    process = client.start(
        "with_rows", server.url, rows=[DOUBLE], answers={"double": slow}, patience_s=patience_s
    )
    deadline = time.monotonic() + 60
    while not server.present() and time.monotonic() < deadline:
        time.sleep(0.02)
    server.kill()
    if comes_back:
        start_server(server.port)
    found = client.read(process)
    if comes_back:
        assert (found["metrics"]["accuracy"], found["unscored"]) == (1.0, 0)
    else:
        assert math.isnan(found["scores"][0]["value"]) and found["unscored"] == 1

"""verl 0.9.1: gradebox.verl as its reward managers load it, and their sandbox_fusion URL."""

import pytest

ENVIRONMENT, CLIENT = "verl", "verl_reward"
pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(400)]
TRUTH = {"inputs": ["2 3\n", "10 -4\n"], "outputs": ["5\n", "6\n"]}
ADD = "```python\nprint(sum(map(int, input().split())))\n```"
SLOW = ADD.replace("print", "import time\ntime.sleep(2)\nprint")
ANSWERS = [ADD, "```python\nprint(5)\n```", "I would add them."]
HOSTILE = [
    "```python\nimport time\ntime.sleep(1000)\n```",
    "```python\nimport os\nwhile True:\n    os.fork()\n```",
    "```python\nwhile True:\n    print('x' * 100000)\n```",
    "```python\nimport os, signal\nsignal.pthread_kill = os.kill(os.getppid(), 9)\n```",
]


@pytest.mark.parametrize("manager", ["naive", "dapo"])
@pytest.mark.parametrize("name", ["compute_score", "compute_score_async"])
def test_a_manager_logs_score_pass_rate_and_verdict(client, manager, name):
    found = client.call(
        "rewards",
        "",
        answers=ANSWERS,
        truth=TRUTH,
        name=name,
        manager=manager,
        kwargs={"mode": "partial"},
    )
    assert [one["reward_score"] for one in found] == [1.0, 0.5, -1.0]
    assert [one["reward_extra_info"]["verdict"] for one in found] == ["AC", "WA", "no_code"]
    assert {tuple(one["reward_extra_info"]) for one in found} == {
        ("score", "pass_rate", "verdict", "error")
    }


def test_hostile_programs_fail_within_their_time(client):
    found = client.call(
        "rewards",
        "",
        answers=HOSTILE,
        truth={"inputs": TRUTH["inputs"] * 10, "outputs": TRUTH["outputs"] * 10},
        name="compute_score_async",
        kwargs={"mode": "partial", "time_limit_s": 10},
    )
    assert [one["reward_score"] for one in found] == [0.0] * len(HOSTILE)
    assert found[0]["reward_extra_info"]["verdict"] == "TLE"


def test_its_own_scoring_through_the_url(client, server):
    found = client.call("rewards", server.url, answers=ANSWERS, truth=TRUTH)
    assert [one["reward_score"] for one in found] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("fault", [None, -7.0])
def test_a_killed_server_raises_or_gives_the_chosen_score(client, start_server, fault):
    server = start_server()
    kwargs = {"servers": [server.url], "patience_s": 2, "fault": fault}
    process = client.start(
        "rewards",
        "",
        answers=[SLOW] * 4,
        truth=TRUTH,
        name="compute_score_async",
        kwargs=kwargs,
    )
    server.wait_for_requests()
    server.kill()
    found = client.read(process)
    if fault is None:
        assert all("NotGraded: not graded, which is not the program's fault" in e for e in found)
    else:
        assert [one["reward_score"] for one in found] == [-7.0] * 4
        assert {one["reward_extra_info"]["verdict"] for one in found} == {"ER"}


def test_a_server_that_comes_back_is_asked_again(client, start_server):
    server = start_server()
    process = client.start(
        "rewards",
        "",
        answers=[SLOW] * 4,
        truth=TRUTH,
        name="compute_score",
        kwargs={"servers": [server.url], "mode": "pass_fail"},
    )
    server.wait_for_requests()
    server.kill()
    start_server(server.port)
    assert [one["reward_score"] for one in client.read(process)] == [1.0] * 4

"""TRL 1.16: its GRPO loop with our reward, here and with graders elsewhere."""

import pytest

ENVIRONMENT = "trl"
pytestmark = [pytest.mark.frameworks, pytest.mark.timeout(400)]
EXPECTED = {"sum": (1.0, "AC"), "5)": (0.0, "WA"), "print(\n": (-0.1, "CE")}


def expected(completion: str) -> tuple[float, str]:
    return next((v for k, v in EXPECTED.items() if k in completion), (-1.0, "no_code"))


@pytest.mark.parametrize("conversational", [True, False])
def test_a_grpo_loop_with_the_sandbox_of_this_machine(client, conversational):
    answer = client.call("grpo", "", steps=3, conversational=conversational)
    assert answer["moved"]
    assert [one["faults"] for one in answer["logs"]] == [0.0] * 3
    found = zip(answer["rewards"], answer["verdicts"], strict=True)
    for completion, (reward, verdict) in zip(answer["completions"], found, strict=True):
        assert (pytest.approx(reward), verdict) == expected(completion)
    assert len(set(answer["verdicts"])) > 1


def test_a_grpo_loop_with_servers(client, server):
    answer = client.call("grpo", server.url, steps=3)
    assert answer["moved"]
    assert [one["faults"] for one in answer["logs"]] == [0.0] * 3


def test_completions_of_a_killed_server_have_no_reward(client, start_server):
    server = start_server()
    process = client.start("grpo", server.url, steps=1, slow=True, patience_s=2)
    server.wait_for_requests()
    server.kill()
    answer = client.read(process)
    graded = [(r, v) for r, v in zip(answer["rewards"], answer["verdicts"], strict=True) if r != -1]
    assert graded
    assert set(graded) == {(None, "error")}
    assert answer["logs"][0]["faults"] == len(graded) / 8


def test_completions_of_a_killed_server_are_graded_by_another(client, start_server):
    first, second = start_server(), start_server()
    process = client.start("grpo", first.url, steps=1, slow=True, servers=[first.url, second.url])
    while not (first.present() or second.present()):
        pass
    (first if first.present() else second).kill()
    answer = client.read(process)
    assert set(answer["rewards"]) <= {1.0, -1.0}
    assert 1.0 in answer["rewards"]

"""Grading servers that are killed in the middle of a batch, with SIGKILL."""

import asyncio
import threading
from typing import Any

import pytest

import gradebox
from gradebox.trl import reward
from tests.eval.api.rewards.conftest import TESTS, fenced
from tests.frameworks.conftest import Server

SLOW = fenced("import time\ntime.sleep(4)\nprint(input())")  # in which the server is killed


def asked(function: Any) -> tuple[threading.Thread, list[Any]]:
    """Ask for the rewards of four programs in a thread; return it, and where they will be."""
    found: list[Any] = []
    columns = {"official_tests": [TESTS[:1]] * 4, "time_limit": [2.0] * 4}
    asking = threading.Thread(
        target=lambda: found.extend(asyncio.run(function(completions=[SLOW] * 4, **columns)))
    )
    asking.start()
    return asking, found


@pytest.mark.slow(15)
@pytest.mark.timeout(300)
def test_another_server_grades_what_was_in_it_and_without_one_there_is_no_reward(real):
    """The fixture `real` skips where no box works."""
    servers: list[Server] = []
    try:
        servers += [Server() for _ in range(3)]
        client = gradebox.Client([server.url for server in servers[:2]])
        client._fleet.endpoints[0].cap = 1000  # the other is asked only when it has failed
        helped = asked(reward("pass_fail", grader=client))
        alone = asked(reward("pass_fail", servers=[servers[2].url], patience_s=1))
        for victim in (servers[0], servers[2]):
            victim.wait_for_requests()
            victim.kill()
        for asking, _ in (helped, alone):
            asking.join(200)
            assert not asking.is_alive()
        assert helped[1] == [1.0] * 4
        assert alone[1] == [None] * 4
    finally:
        for server in servers:
            server.close()

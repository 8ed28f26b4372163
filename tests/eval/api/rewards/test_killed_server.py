"""A grading server that is killed in the middle of a batch, with SIGKILL."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import gradebox
from gradebox.trl import reward
from tests.eval.api.rewards.conftest import TESTS, fenced
from tests.frameworks.conftest import Server

pytestmark = [pytest.mark.slow(15), pytest.mark.timeout(300)]
SLOW = fenced("import time\ntime.sleep(4)\nprint(input())")  # in which the server is killed


@pytest.fixture
def servers(real: Any) -> Iterator[list[Server]]:
    """Two servers; skips, through `real`, where no box works."""
    started: list[Server] = []
    try:
        started += [Server(), Server()]
        yield started
    finally:
        for server in started:
            server.close()


def ask_and_kill(victim: Server, function: Any) -> list[Any]:
    """Ask for the rewards of four programs; kill a server as soon as it has some of them."""
    found: list[Any] = []
    columns = {"official_tests": [TESTS[:1]] * 4, "time_limit": [2.0] * 4}
    asking = threading.Thread(
        target=lambda: found.extend(asyncio.run(function(completions=[SLOW] * 4, **columns)))
    )
    asking.start()
    victim.wait_for_requests()
    victim.kill()
    asking.join(200)
    assert not asking.is_alive()
    return found


def test_without_another_server_there_is_no_reward(servers: list[Server]):
    function = reward("pass_fail", servers=[servers[0].url], patience_s=1)
    assert ask_and_kill(servers[0], function) == [None] * 4


def test_another_server_grades_what_was_in_it(servers: list[Server]):
    client = gradebox.Client([server.url for server in servers])
    client._fleet.endpoints[0].cap = 1000  # the other is asked only when it has failed
    function = reward("pass_fail", grader=client)
    assert ask_and_kill(servers[0], function) == [1.0] * 4

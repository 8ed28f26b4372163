"""Our server answers as a real Piston, except where the table says why not."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from gradebox.sandbox.server.settings import Ceilings
from tests.sandbox.backends import open_backend, served, skip

from .conversations import CONVERSATIONS, talk
from .normal import ask, differing
from .record import ANSWERS
from .table import NONE, REQUESTS

RECORDED: dict[str, Any] = json.loads(ANSWERS.read_text())
CEILINGS = Ceilings(  # those of SETTINGS in record.py
    run_timeout=5000,
    run_cpu_time=5000,
    compile_timeout=10000,
    compile_cpu_time=10000,
    output_max_size=65536,
)
BODY_BYTES = 102_400  # Piston's

NAMES = [case.name for case in REQUESTS]
TALKS = [c.name for c in CONVERSATIONS]


def test_every_request_was_sent_to_a_real_piston():
    assert len(set(NAMES)) == len(NAMES) >= 100
    assert {*NAMES, *(f"socket: {name}" for name in TALKS)} == set(RECORDED)


def test_every_difference_has_a_reason():
    assert [c.name for c in (*REQUESTS, *CONVERSATIONS) if c.ours and not c.why] == []


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with (
        open_backend("box") as box,
        served(box, ceilings=CEILINGS, body_bytes=BODY_BYTES) as address,
    ):
        yield address


def changed(answer: Any, changes: dict[str, Any]) -> Any:
    """Return an answer of Piston with our differences; NONE removes a part."""
    if not isinstance(answer, dict):
        return changes
    made = dict(answer)
    for key, value in changes.items():
        if isinstance(value, dict) and key != "body":
            value = changed(answer.get(key, {}), value)
        made[key] = value
    return {key: value for key, value in made.items() if value is not NONE}


@pytest.mark.parametrize("case", REQUESTS, ids=NAMES)
def test_our_answer(url, case):
    ours = ask(url, case)
    expected = changed(RECORDED[case.name], case.ours)
    message = str(ours.get("body", ""))
    if "level landlock" in message:
        pytest.skip(message)
    if "runtime is unknown" in message and "runtime is unknown" not in str(expected):
        pytest.skip(f"not installed here: {message}")
    assert differing(expected, ours) == {}, case.why


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=TALKS)
def test_our_conversation(url, conversation):
    ours = talk(url, conversation)
    error = str(ours.get("error", ""))
    expected = changed(RECORDED[f"socket: {conversation.name}"], conversation.ours)
    if "level landlock" in error or ("c++-* runtime is unknown" in error):
        pytest.skip(error)
    assert differing(expected, ours) == {}, conversation.why


@pytest.mark.piston
@pytest.mark.parametrize("case", REQUESTS, ids=NAMES)
def test_the_answer_of_a_real_piston(case):
    server = os.environ.get("PISTON_URL")
    if not server:
        skip("piston", "no real Piston is named in PISTON_URL")
    assert differing(RECORDED[case.name], ask(str(server), case)) == {}


@pytest.mark.piston
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=TALKS)
def test_a_conversation_with_a_real_piston(conversation):
    server = os.environ.get("PISTON_URL")
    if not server:
        skip("piston", "no real Piston is named in PISTON_URL")
    recorded = RECORDED[f"socket: {conversation.name}"]
    assert differing(recorded, talk(str(server), conversation)) == {}

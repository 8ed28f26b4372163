"""Who may ask the view's server, and what it answers."""

import json
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import Request, urlopen

import pytest

from gradebox.eval.debugging.reopen import Overrides
from gradebox.eval.reporting.reruns import Reruns
from tests.eval.reporting.conftest import serving


def ask(address: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Return the status and the JSON of an answer; a body is posted as the page does."""
    parts = urlsplit(address)
    if body is not None:
        headers = {"Origin": f"http://{parts.netloc}", "Content-Type": "application/json"} | headers
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    kept = {name: value for name, value in headers.items() if value}
    try:
        with urlopen(Request(address, data, kept)) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        return error.code, json.loads(error.read())["message"]


RUN = "run/0/run?epoch=1&place=1"
ECHO = {"program": "echo", "case": "official:0"}


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "message"),
    [
        ("", None, {"Host": "evil.example"}, 403, "not a known name"),
        ("", None, {"Origin": "http://evil.example"}, 403, "is not this server"),
        ("/wrong/", None, {}, 403, "no valid token"),
        ("/", None, {}, 403, "no valid token"),
        ("run/1/", None, {}, 404, "there are 1 runs"),
        ("run/0/solution?epoch=1&place=x", None, {}, 400, "must be a whole number"),
        ("run/0/solution?epoch=1&place=99", None, {}, 404, "the records have changed"),
        (RUN, ECHO, {"Origin": ""}, 403, "no Origin"),
        (RUN, ECHO, {"Origin": "null"}, 403, "is not this server"),
        (RUN, ECHO, {"Content-Type": "text/plain"}, 415, "must be of type application/json"),
        (RUN, b" " * (5 << 20), {}, 413, "is over 4194304 bytes"),
        (RUN, b"[" * 9999, {}, 400, "is not JSON"),
        (RUN, {"program": 1}, {}, 400, "Expected `str`, got `int` - at `$.program`"),
        (RUN, {**ECHO, "case": "official:9"}, {}, 409, "the record has no case official:9"),
    ],
)
def test_what_is_refused(address, path, body, headers, status, message):
    got, why = ask(urljoin(address, path), body, **headers)
    assert (got, message in why) == (status, True), why


def test_running_can_be_off(small_run):
    with serving(small_run.path) as address:
        assert ask(address + RUN, ECHO) == (403, "running is off; start the view without --no-run")


@pytest.mark.parametrize(
    ("edit", "verdicts", "judged"),
    [
        ({"program": "wrong", "case": "official:0"}, ["WA"], True),
        ({"program": "echo", "case": "official:1"}, ["AC"], True),
        ({"program": "echo"}, ["AC", "AC"], True),
        ({"program": "broken"}, ["CE", "CE"], True),
        ({**ECHO, "given": "7\n"}, ["WA"], False),
        ({**ECHO, "given": "7\n", "expected": "7\n"}, ["AC"], True),
    ],
)
def test_an_edit_is_graded_as_the_run_grades(address, edit, verdicts, judged):
    status, answer = ask(address + RUN, edit)
    assert status == 200
    value = json.loads(answer)
    assert ([case[2] for case in value["detail"]["cases"]], value["judged"]) == (verdicts, judged)
    test = json.loads(ask(f"{address}run/0/test?epoch=1&place=1&case=official:0")[1])
    assert (test["given"], test["expected"]) == ("1\n", "1\n")  # the run's own test is kept


def test_two_runs_are_compared(small_run):
    with serving(small_run.path, small_run.path) as address:
        runs = json.loads(ask(f"{address}runs")[1])
        assert [run["statistics"]["solutions"] for run in runs] == [7, 7]
        found = json.loads(ask(f"{address}compare?a=0&b=1")[1])
        assert (found["difference"], found["changed"]) == (0, [])


def test_one_edit_runs_at_a_time(small_run):
    reruns = Reruns(Overrides(), small_run.sandbox)
    with serving(small_run.path, reruns=reruns) as address, reruns._alone():
        assert ask(address + RUN, ECHO) == (429, "another program is running; wait for its result")

"""Every value of a good body replaced by hostile ones: an answer in words, never an exception."""

import copy
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from gradebox.eval.api.dialects import dialect_routes
from gradebox.eval.api.service import GradeService
from gradebox.sandbox.errors import RequestRefused
from gradebox.sandbox.server.incoming import encode
from gradebox.sandbox.server.settings import ServerRequest, ServerSettings
from testing.fakes.scripted_sandbox import FakeSandbox
from testing.rows import named_rows

BODIES: dict[str, tuple[str, Any]] = named_rows(__file__, "bodies")
NEEDS_TWO_BOXES = ("humaneval", "mbpp", "open-instruct")  # which the scripted sandbox has not
HOSTILE: list[Any] = [
    *(None, True, -1, 0, 10**400, 1e308, float("nan"), float("-inf")),
    *("", "\0", "\ud800", "../x", "{", "[" * 2000, "9" * 5000, "x" * 500),
    *([], {}, [[]], [None], [{}], {"a": {}}, {"": []}, [1, "a"]),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the values of a body are."""
    yield path
    keys: Any = value if isinstance(value, dict) else ()
    if isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield from places(value[key], (*path, key))


def replaced(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    body = copy.deepcopy(body)
    held = body
    for key in path[:-1]:
        held = held[key]
    held[path[-1]] = value
    return body


@pytest.fixture(scope="module")
def routes() -> Iterator[Any]:
    box, settings = FakeSandbox(record=False), ServerSettings(port=0)
    service = GradeService(box, settings)
    yield dialect_routes(service)
    service.close()


@pytest.mark.slow
@pytest.mark.parametrize("case", BODIES)
def test_no_value_leads_to_an_exception(routes, case):
    path, body = BODIES[case]
    route = routes["POST", path]
    asked = partial(ServerRequest, {"wait": "true"})
    good = 400 if case in NEEDS_TWO_BOXES else 201 if "judge0" in case else 200
    assert route(asked(copy.deepcopy(body)))[0] == good
    for place in places(body):
        for value in HOSTILE:
            try:
                status, answer = route(asked(replaced(body, place, value)))
            except RequestRefused as refused:
                status, answer = refused.status, str(refused)
            text = encode(answer).getvalue()
            assert status in (200, 201, 400, 404, 413, 422), (place, value, answer)
            assert status < 300 or len(text) < 3000, (place, value)
            json.loads(text)

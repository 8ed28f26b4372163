"""A server in all dialects, and requests to it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
import requests

from gradebox.eval.common.errors import Retry
from gradebox.sandbox.protocol import Sandbox
from testing.fakes.scripted_sandbox import Answer, Call, FakeSandbox
from tests.eval.api.serving import serving


class Served:
    """A running server; `post` and `get` return a status and JSON values."""

    def __init__(self, url: str) -> None:
        self.url = url

    def post(self, path: str, body: Any) -> tuple[int, Any]:
        raw = json.dumps(body)  # with NaN, which requests refuses to send
        headers = {"Content-Type": "application/json"}
        answer = requests.post(self.url + path, data=raw, headers=headers, timeout=60)
        return answer.status_code, answer.json()

    def get(self, path: str) -> tuple[int, Any]:
        answer = requests.get(self.url + path, timeout=60)
        return answer.status_code, answer.json()


Start = Callable[..., Served]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    retry = partial(Retry, first_s=0.001)
    monkeypatch.setattr("gradebox.eval.api.dialects.programs.Retry", retry)
    monkeypatch.setattr("gradebox.eval.api.batch.Retry", retry)


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts a server over a sandbox, or over a script of a fake one."""
    with ExitStack() as stack:

        def make(
            box: Sandbox | Callable[[Call], Answer], dataset: str | None = None, **settings: Any
        ) -> Served:
            if not isinstance(box, Sandbox):
                box = FakeSandbox(box)
            return Served(stack.enter_context(serving(box, dataset, **settings)))

        yield make

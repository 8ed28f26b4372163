"""A running server with a scripted sandbox, and requests to it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import requests

from testing.fakes.scripted_sandbox import FakeSandbox
from tests.sandbox.backends import served


class Served:
    """A running server, its sandbox, and functions that send requests."""

    def __init__(self, url: str, sandbox: FakeSandbox) -> None:
        self.url = url
        self.sandbox = sandbox

    def post(self, route: str = "/api/v2/execute", **body: Any) -> requests.Response:
        return requests.post(self.url + route, json=body, timeout=60)

    def python(self, **more: Any) -> requests.Response:
        return self.post(**{"language": "python", "version": "*", "files": [CODE], **more})

    def get(self, route: str, **headers: str) -> requests.Response:
        return requests.get(self.url + route, headers=headers, timeout=60)


CODE = {"name": "main.py", "content": "print(1)"}


@pytest.fixture
def start() -> Iterator[Callable[..., Served]]:
    """Return a function that starts a server with a sandbox and fields of ServerSettings."""
    with ExitStack() as stack:

        def make(sandbox: FakeSandbox | None = None, **settings: Any) -> Served:
            box = sandbox or FakeSandbox()
            url = stack.enter_context(served(box, **settings))
            return Served(url, box)

        yield make

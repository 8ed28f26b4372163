"""The sandboxes that the conformance tests run against.

box      the embedded box itself
server   gradebox.sandbox.server over that box, in a thread, through PistonSandbox
piston   the real Piston named in PISTON_URL (and PISTON_PACKAGE), through PistonSandbox
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gradebox.sandbox import Sandbox, SandboxUnavailable
from gradebox.sandbox.piston import PistonSandbox

NAMES = ("box", "server", "piston")


def required(name: str) -> bool:
    """Return whether the environment variable REQUIRE=docker,piston turns a skip into a failure."""
    return name in os.environ.get("REQUIRE", "").split(",")


def skip(name: str, why: str) -> None:
    if required(name):
        pytest.fail(f"REQUIRE={name}, and {why}")
    pytest.skip(why)


@contextmanager
def open_backend(name: str, slots: int = 2) -> Iterator[Sandbox]:
    """Open the sandbox of that name; skip the test with the reason when it is not available."""
    if name == "piston":
        url = os.environ.get("PISTON_URL")
        if not url:
            skip("piston", "no real Piston is named in PISTON_URL")
        package = os.environ.get("PISTON_PACKAGE", "piston")
        with PistonSandbox([str(url)], slots=slots, package=package) as piston:  # type: ignore[arg-type]
            yield piston
        return
    from gradebox.sandbox.opening import open_sandbox

    try:
        box = open_sandbox("local", slots=slots)
    except SandboxUnavailable as error:
        skip("box", f"no embedded box on this machine: {error}")
        raise
    with box:
        if name == "box":
            yield box
            return
        with served(box) as url, PistonSandbox([url], slots=slots) as client:
            yield client


def needs_box() -> None:
    """Skip the test where no box works."""
    with open_backend("box"):
        pass


@contextmanager
def served(box: Sandbox, **settings: object) -> Iterator[str]:
    """Serve `box` with gradebox.sandbox.server in a thread, on a free port; yield the URL."""
    from tests.eval.api.serving import serving

    with serving(box, **{"drivers": 1, **settings}) as url:
        yield url

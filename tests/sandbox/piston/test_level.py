"""Servers have the level and the exact figures that they report, as far as these are valid."""

import pytest

from gradebox.sandbox.endpoints import without_password
from gradebox.sandbox.piston.fleet import Endpoint
from gradebox.sandbox.piston.gradebox_server import isolation
from gradebox.sandbox.piston.transport import Transport
from tests.sandbox.backends import open_backend

URL = "http://127.0.0.1:9"
PISTON = ("piston", {"cpu"})


@pytest.mark.parametrize(
    ("gradebox", "reported", "expected"),
    [
        (False, {}, PISTON),
        (False, {"level": "full", "exact": ["cpu"]}, PISTON),
        (True, {"level": "userns", "exact": ["cpu"]}, ("userns", {"cpu"})),
        (True, {"level": "full", "exact": ["cpu", "memory", "x", 1]}, ("full", {"cpu", "memory"})),
        (True, {"level": "full", "exact": "cpu"}, ("full", set())),
        (True, {"level": "\x1b[2J", "exact": ["cpu"]}, PISTON),
        (True, {"level": ["full"]}, PISTON),
        (True, {}, PISTON),
    ],
)
def test_reported_levels(gradebox, reported, expected):
    endpoint = Endpoint(URL, Transport(URL), 1, gradebox=gradebox, server_sandbox=reported)
    level, exact = isolation(endpoint)
    assert (level, set(exact)) == expected


@pytest.mark.slow(seconds=1)
def test_runs_through_a_server_have_its_level_and_name_its_address():
    with open_backend("box", 1) as box:
        own = box.describe()
    with open_backend("server", 1) as client:
        seen = client.describe()
    assert (seen.backend, seen.level, seen.exact) == ("piston", own.level, own.exact)
    assert [address.startswith("http://127.0.0.1:") for address in seen.addresses] == [True]
    assert "addresses" not in seen.as_json()


def test_addresses_are_shown_without_their_password():
    assert without_password("http://me:secret@host:2000/x") == "http://host:2000/x"
    assert without_password("http://[::1]:2000") == "http://[::1]:2000"

"""The first line of a run names the sandbox, its level, and the servers it is on."""

from types import SimpleNamespace
from typing import Any

import pytest

from gradebox.eval.cli.run import _sandbox_line
from gradebox.sandbox.model import Description


@pytest.mark.parametrize(
    ("addresses", "where"),
    [
        ((), "sandbox piston, level userns, exact: cpu"),
        (("http://a:1",), "sandbox piston at http://a:1, level userns, exact: cpu"),
        (
            tuple(f"http://{name}:1" for name in "abcde"),
            "sandbox piston at http://a:1, http://b:1, http://c:1 and 2 more, level userns, "
            "exact: cpu",
        ),
    ],
)
def test_servers_are_named(addresses, where):
    found = Description("piston", "userns", frozenset({"cpu"}), {}, {}, addresses)
    session: Any = SimpleNamespace(description=found)
    assert _sandbox_line(session) == where

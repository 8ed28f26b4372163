"""Tests of one xdist group run on one worker, so that costly fixtures are made once."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("groups")
def test_groups_are_kept_together(request: pytest.FixtureRequest) -> None:
    if not hasattr(request.config, "workerinput"):
        pytest.skip("not spread over workers")
    assert request.node.nodeid.endswith("@groups"), (
        "this pytest and this pytest-xdist do not keep groups together: see constraints.txt"
    )

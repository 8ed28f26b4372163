"""What the suite needs of pytest and pytest-xdist: tests kept together, names kept short."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("groups")
def test_groups_are_kept_together(request: pytest.FixtureRequest) -> None:
    if not hasattr(request.config, "workerinput"):
        pytest.skip("not spread over workers")
    assert request.node.nodeid.endswith("@groups"), (
        "this pytest and this pytest-xdist do not keep groups together: see constraints.txt"
    )


def test_names_of_tests_are_short(request: pytest.FixtureRequest) -> None:
    """A parameter of 60 MB in a name once made every worker copy it several times."""
    assert max(len(item.nodeid) for item in request.session.items) < 400


@pytest.fixture(scope="module", params=["full", "none"])
def expensive(request: pytest.FixtureRequest) -> int:
    return request.param_index


def test_tests_that_share_a_fixture_are_kept_together(
    expensive: int, request: pytest.FixtureRequest
) -> None:
    group = request.node.get_closest_marker("xdist_group")
    assert group.args == (f"{expensive} tests/test_groups.py",)


def test_short_tests_of_a_folder_are_kept_together(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("xdist_group").args == ("short tests of tests",)


@pytest.mark.slow(3)
def test_long_tests_that_share_nothing_may_run_anywhere(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("xdist_group") is None
    names = [item.originalname for item in request.session.items if item.path == request.path]
    assert names[0] == request.node.originalname, "the longest groups start first"

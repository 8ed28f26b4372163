"""What the suite needs of pytest and pytest-xdist: tests kept together, names kept short."""

import pytest


@pytest.mark.xdist_group("groups")
def test_groups_are_kept_together(request):
    if not hasattr(request.config, "workerinput"):
        pytest.skip("not spread over workers")
    assert request.node.nodeid.endswith("@groups"), (
        "this pytest and this pytest-xdist do not keep groups together: see constraints.txt"
    )


def test_names_of_tests_are_short(request):
    """A parameter of 60 MB in a name once made every worker copy it several times."""
    assert max(len(item.nodeid) for item in request.session.items) < 400

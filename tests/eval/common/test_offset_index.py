"""`OffsetIndex` behaves like a dict of integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import OffsetIndex, fingerprint

KEYS = st.integers(-20, 20) | st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(st.booleans(), KEYS, st.integers(0, 2**62))))
def test_it_behaves_like_a_dict(operations):
    model: dict[int, int] = {}
    with OffsetIndex() as index:
        for replace, key, offset in operations:
            if replace:
                index.put(key, offset)
                model[key] = offset
            else:
                assert index.add(key, offset) == (key not in model)
                model.setdefault(key, offset)
        assert all(index.get(key) == offset for key, offset in model.items())
        assert index.get(2**63 - 1) == model.get(2**63 - 1)


def test_the_boundary_between_parts_changes_a_fingerprint():
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint("\ud800") != fingerprint("?")


def test_a_full_temporary_folder_is_reported_with_a_remedy():
    with OffsetIndex() as index:
        index._db.execute("PRAGMA max_page_count = 3")
        with pytest.raises(InputError, match=r"database or disk is full.*TMPDIR"):
            for key in range(5000):
                index.put(key, key)

"""The offset index is a dict of fingerprints, whatever is put in which order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eval.offset_index import OffsetIndex, fingerprint


@given(st.lists(st.tuples(st.integers(1, 40) | st.integers(1, 2**64 - 1), st.integers(0, 2**63))))
def test_behaves_like_a_dict(pairs):
    index, model = OffsetIndex(), {}
    for key, offset in pairs:
        index.put(key, offset)
        model[key] = offset
    assert len(index) == len(model)
    assert all(index.get(key) == offset for key, offset in model.items())
    assert index.get(2**64 - 1) == model.get(2**64 - 1)


def test_grows_and_keeps_everything():
    index = OffsetIndex()
    keys = [fingerprint("solution", str(i)) for i in range(5000)]
    for offset, key in enumerate(keys):
        index.put(key, offset)
    assert [index.get(key) for key in keys] == list(range(5000))
    assert index.get(fingerprint("another")) is None


def test_where_a_part_ends_counts():
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint("\ud800") != fingerprint("?")

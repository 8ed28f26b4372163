"""The bounded cache: what it keeps, what it drops and in which order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradebox.sandbox.common.lru_cache import LruCache


def test_the_least_recently_used_value_is_dropped():
    gone: list[str] = []
    cache: LruCache[str, str] = LruCache(2, dropped=gone.append)
    cache.put("a", "A")
    cache.put("b", "B")
    assert cache.get("a") == "A"
    cache.put("c", "C")
    assert gone == ["B"] and cache.get("b") is None and cache.get("a") == "A"


def test_a_replaced_value_is_dropped_and_a_popped_or_cleared_one_is_returned():
    gone: list[int] = []
    cache: LruCache[str, int] = LruCache(3, dropped=gone.append)
    cache.put("a", 1)
    cache.put("a", 2)
    cache.put("b", 3)
    assert cache.pop("a") == 2 and gone == [1]
    assert cache.clear() == [3] and gone == [1] and len(cache) == 0


def test_find_makes_what_is_absent_once():
    gone: list[str] = []
    cache: LruCache[str, str] = LruCache(2, dropped=gone.append)
    made = [cache.find(key, lambda key=key: f"{key}{len(gone)}") for key in "abacb"]
    assert made == ["a0", "b0", "a0", "c0", "b1"] and gone == ["b0", "a0"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9)), max_size=40))
def test_the_total_cost_stays_within_the_capacity(puts: list[tuple[int, int]]):
    kept: dict[int, int] = {}
    cache: LruCache[int, tuple[int, int]] = LruCache(
        10, cost=lambda pair: pair[1], dropped=lambda pair: kept.pop(pair[0])
    )
    for key, cost in puts:
        cache.put(key, (key, cost))
        kept[key] = cost
        assert cache.get(key) == (key, cost)
        assert len(cache) == len(kept)
        assert sum(kept.values()) <= 10

"""The bounded cache: what it keeps, what it drops and in which order."""

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

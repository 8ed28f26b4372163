"""A table from keys to file offsets that stays small: 16 bytes an entry, no objects.

A million records have a million keys; as a Python dict they would take over 150 MB, here
32 MB. Keys are 64-bit fingerprints, so callers who must be sure compare the whole key at
the offset they get.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b


def fingerprint(*parts: str) -> int:
    """A 64-bit fingerprint, never 0, of strings; where one ends and the next begins counts."""
    h = blake2b(digest_size=8)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        h.update(len(data).to_bytes(8, "big"))
        h.update(data)
    return int.from_bytes(h.digest(), "big") or 1


class OffsetIndex:
    """Open addressing over two arrays; fingerprints must not be 0."""

    def __init__(self) -> None:
        self._size = 0
        self._make(1024)

    def _make(self, slots: int) -> None:
        self._mask = slots - 1
        self._keys = array("Q", bytes(8 * slots))
        self._offsets = array("Q", bytes(8 * slots))

    def __len__(self) -> int:
        return self._size

    def get(self, key: int) -> int | None:
        """The offset last put under the fingerprint, or None."""
        i = self._find(key)
        return self._offsets[i] if self._keys[i] else None

    def put(self, key: int, offset: int) -> None:
        """Sets the offset of a fingerprint; the last one put wins."""
        i = self._find(key)
        if not self._keys[i]:
            self._size += 1
        self._keys[i], self._offsets[i] = key, offset
        if self._size * 3 > 2 * self._mask:
            self._grow()

    def _find(self, key: int) -> int:
        i = key & self._mask
        keys = self._keys
        while keys[i] and keys[i] != key:
            i = (i + 1) & self._mask
        return i

    def _grow(self) -> None:
        keys, offsets = self._keys, self._offsets
        self._make(2 * (self._mask + 1))
        for key, offset in zip(keys, offsets, strict=True):
            if key:
                i = self._find(key)
                self._keys[i], self._offsets[i] = key, offset

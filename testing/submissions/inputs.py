"""Inputs of the sum task, "n, then n integers", in several formats and sizes."""

from __future__ import annotations

from dataclasses import dataclass

SPELLINGS: dict[str, bytes] = {
    "plain": b"3\n1 2 3\n",
    "no final newline": b"3\n1 2 3",
    "CRLF": b"3\r\n1 2 3\r\n",
    "blanks at the ends": b"3 \n1  2 3  \n",
}


@dataclass(frozen=True)
class Numbers:
    """`count` integers of `digits` digits, generated on request, always the same."""

    count: int
    digits: int = 9

    def _values(self) -> list[int]:
        low = 10 ** (self.digits - 1)
        return [low + i * 7919 % (9 * low) for i in range(self.count)]

    def input(self) -> bytes:
        return f"{self.count}\n{' '.join(map(str, self._values()))}\n".encode()

    def sum(self) -> bytes:
        return b"%d\n" % sum(self._values())


def numbers(count: int) -> Numbers:
    """Return `count` integers of nine digits."""
    return Numbers(count)


TEN_MB = Numbers(1_000_000)


def lines(count: int) -> bytes:
    """Return `count`, then 1 … `count`, one per line."""
    return b"%d\n" % count + b"".join(b"%d\n" % i for i in range(1, count + 1))


def counted(count: int, modulus: int | None = None) -> bytes:
    """Return 0 … `count` - 1, one per line, modulo `modulus` when given."""
    return b"".join(b"%d\n" % (i % modulus if modulus else i) for i in range(count))

"""Tests too large to keep by hand: the last two have inputs of 2 MB and of 4 MB.

The values repeat, so that the parquet file stays small in git.
"""

from collections.abc import Iterator


def tests() -> Iterator[tuple[str, str]]:
    """Yields (input, output)."""
    for n, different in ((10, 10), (1000, 7), (30_000, 9_000), (250_000, 20_011), (500_000, 3)):
        values = [1_000_003 + i * i % different for i in range(n)]
        yield f"{n}\n{' '.join(map(str, values))}\n", f"{len(set(values))}\n"

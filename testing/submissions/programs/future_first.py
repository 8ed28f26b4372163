from __future__ import annotations

import sys


def total(numbers: list[int] | NotDefinedAnywhere) -> int:
    return sum(numbers)


print(total(list(map(int, sys.stdin.read().split()[1:]))))

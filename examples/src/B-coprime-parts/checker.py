"""checker.py input.txt correct_output.txt solution_output.txt: prints 1 when the pair is right."""

import math
import sys
from pathlib import Path


def score(rope: int, words: list[str]) -> int:
    if len(words) != 2 or not all(word.isdecimal() for word in words):
        return 0
    a, b = map(int, words)
    return int(a > 0 and b > 0 and a + b == rope and math.gcd(a, b) == 1)


print(score(int(Path(sys.argv[1]).read_text()), Path(sys.argv[3]).read_text().split()))

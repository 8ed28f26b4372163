"""checker.py input.txt correct_output.txt solution_output.txt: prints 1 when the divisor is right.

Careless on purpose: an output that is no number makes it crash.
"""

import sys
from pathlib import Path

n, expected, found = (int(Path(name).read_text().split()[0]) for name in sys.argv[1:4])
if expected == -1:
    print(int(found == -1))
else:
    print(int(1 < found < n and n % found == 0))

"""The tests of HumanEval+ and MBPP+: lists of inputs and results, compared by a function in them.

They import numpy for one comparison, which is written out here, so that the interpreter of the
sandbox need not have it.
"""

from __future__ import annotations

import re

TIME_LIMIT_S, MEMORY_MB = 60.0, 4096.0  # the original: 60 s of wall time and 4 GB for a problem

_NUMPY = re.compile(r"^import numpy as np[ \t]*$", re.MULTILINE)
_USED = re.compile(r"\bnp\.(\w+)")
_HAD = frozenset({"allclose", "ndarray", "float64", "float32"})
_STAND_IN = """\
class np:
    float64 = float32 = float
    class ndarray: pass
    @staticmethod
    def allclose(a, b, rtol=1e-05, atol=1e-08):
        if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
            if not isinstance(b, (list, tuple)): b = [b] * len(a)
            if not isinstance(a, (list, tuple)): a = [a] * len(b)
            if len(a) != len(b): raise ValueError("operands of other shapes")
            return all(np.allclose(x, y, rtol, atol) for x, y in zip(a, b))
        return a == b or abs(a - b) <= atol + rtol * abs(b)"""


def is_plus(test: str) -> bool:
    """Return whether a text has lists of inputs and results."""
    return re.search(r"^\s*inputs = ", test, re.M) is not None and "results = " in test


def without_numpy(test: str) -> str:
    """Return tests that do not import numpy, unless they need more than a comparison of it."""
    if not set(_USED.findall(test)) <= _HAD:
        return test
    return _NUMPY.sub(lambda _: _STAND_IN, test)

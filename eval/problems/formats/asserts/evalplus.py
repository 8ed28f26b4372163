"""The tests of HumanEval+ and MBPP+: lists of inputs and results, compared by a function in them.

They import numpy for one comparison, which is written out here, so that the interpreter of the
sandbox need not have it. numpy makes shapes equal before it compares: an empty list is close to
every number. By `--judge strict`, lists must have equal lengths and a number is no list.
"""

from __future__ import annotations

import re

from gradebox.eval.problems.formats.row_format import Judge

TIME_LIMIT_S, MEMORY_MB = 60.0, 4096.0  # the original: 60 s of wall time and 4 GB for a problem

_NUMPY = re.compile(r"^import numpy as np[ \t]*$", re.MULTILINE)
_USED = re.compile(r"np\.(\w{0,100})")
_HAD = frozenset({"allclose", "ndarray", "float64", "float32"})
_STAND_IN = """\
class np:
    float64 = float32 = float
    class ndarray: pass
    @staticmethod
    def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
        rows = isinstance(a, (list, tuple)), isinstance(b, (list, tuple))
        if any(rows):
            if not all(rows):
                if STRICT: return False
                a, b = a if rows[0] else [a] * len(b), b if rows[1] else [b] * len(a)
            if len(a) != len(b): raise ValueError("operands of other shapes")
            return all(np.allclose(x, y, rtol, atol, equal_nan) for x, y in zip(a, b))
        if a == b or a != a or b != b: return a == b or bool(equal_nan and a != a and b != b)
        return abs(b) != float("inf") and abs(a - b) <= atol + rtol * abs(b)"""
_STRICT = (
    "import numpy as np; np.allclose = (lambda close: lambda a, b, *others, **named: "
    "np.shape(a) == np.shape(b) and close(a, b, *others, **named))(np.allclose)"
)


def is_plus(test: str) -> bool:
    """Return whether a text has lists of inputs and results."""
    return re.search(r"^[ \t]*inputs = ", test, re.M) is not None and "results = " in test


def without_numpy(test: str, judge: Judge) -> str:
    """Return tests that do not import numpy, unless they need more than a comparison of it.

    Those that do run where the sandbox's Python has numpy; elsewhere they say that it is missing.
    """
    text = _STAND_IN.replace("STRICT", str(judge == "strict"))
    if not set(_USED.findall(test)) <= _HAD:
        if judge == "reference":
            return test
        text = _STRICT
    return _NUMPY.sub(lambda _: text, test)

"""Judge what programs return and write, by name: values and texts are read in workers, not here.

    output ── the very bytes that the expected value makes? ── yes ─▶ accepted
       └── no ─▶ a worker with limits of CPU time and memory ─▶ accepted, rejected

A short text may become a value whose comparison takes hours: numbers that collide in a set,
fractions of a million digits. A worker that meets a limit is ended. What meets it decides: with the
expected value for an output as well, the check is unclear, else the program's result is to blame.

| judge           | equal when                                                                 |
|-----------------|----------------------------------------------------------------------------|
| value           | a tuple is a list; 1 is 1.0; true is not 1; floats are within 1e-9 of each |
|                 | other, relatively; nan is nan                                              |
| value-reference | Python's ==, after a tuple at the top became a list                        |
| wrapped         | as `value`; a list with one element also stands for that element           |
| wrapped-reference | as `value-reference`, tuples in the result as lists too; a list stands   |
|                 | for its first element as well                                              |
| printed-reference | the texts that print() writes are the same; a list with one element also |
|                 | stands for that element                                                    |

`wrapped` is for APPS and the sets made from it, where many results are wrapped in a list, and
where a dict with only whole numbers for keys had whole numbers for keys.

`value` and `wrapped` judge calls strictly, the others as data sets' own graders do. `OUTPUT_JUDGES`
(outputs.py) and `RESULT_JUDGES` (literals.py) compare what programs write. The output of a program
is the message of `codec.pack`; it is read without sharing, so that its length bounds the work.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from gradebox.checkers.check import Check, Checker, accept, reject, unclear
from gradebox.checkers.long_outputs import OutputPool, ask_worker
from gradebox.checkers.values.codec import BadData, Side, pack, unpack
from gradebox.checkers.values.literals import RESULT_JUDGES
from gradebox.checkers.values.outputs import OUTPUT_JUDGES, SEVERAL_JUDGES
from gradebox.checkers.workers.pool import MEMORY_BYTES, TIME_LIMIT
from gradebox.checkers.workers.worker import MEMORY_LIMIT

REVISION = 3  # part of records' keys: raise it when something is judged differently
# Those whose data sets' graders make all calls of a solution in one process.
IN_ONE_PROCESS = frozenset({"value-reference", "wrapped-reference"})
CPU_S, CPU_S_PER_MB = 1.0, 2.0  # per MB of the expected value
SHORT_BYTES = 1 << 14  # 5 ms of CPU time: outputs of programs, and expected values, up to here
RELATIVE = 1e-9
_NUMBERS = (int, float)
_ENCODED = {**RESULT_JUDGES, **SEVERAL_JUDGES}  # their expected outputs are JSON, of texts
_TEXTS = {**OUTPUT_JUDGES, **_ENCODED}


class ValuePool(OutputPool):
    """Workers that judge values, which programs may make as large as they like."""

    def __init__(self) -> None:
        super().__init__(MEMORY_BYTES)


@dataclass(frozen=True)
class ValueJudge(Checker):
    """A `Checker` by its name, one of JUDGES."""

    name: str

    @property
    def digest(self) -> str:
        return f"value judge:{REVISION}:{self.name}"

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Judge an output. Raises SandboxError when no worker can be started."""
        if output == expected and self.name not in _ENCODED:
            return accept("the expected output")
        if self.name in _TEXTS:
            if len(output) + len(expected) <= SHORT_BYTES:
                return _TEXTS[self.name](output, expected)
        elif not output:
            return reject("the program ended before it returned")
        elif output == _message(self.name, expected):
            return accept("the expected value")
        limit_s = CPU_S + CPU_S_PER_MB * (len(expected) >> 20)
        found = ask_worker(ValuePool, self.name, output, expected, limit_s)
        if isinstance(found, Check):
            return found
        bound = {
            TIME_LIMIT: f"{limit_s:g} s of CPU time",
            MEMORY_LIMIT: f"{MEMORY_BYTES >> 20} MiB of memory",
        }.get(found)
        if bound is None:
            return reject(found)
        own = expected if self.name in _TEXTS else b'{"cells":[0],"nodes":[]}'
        again = ask_worker(ValuePool, self.name, own, expected, limit_s)
        if again in (TIME_LIMIT, MEMORY_LIMIT):
            return unclear(f"the expected value cannot be compared within {bound}")
        return reject(f"the result cannot be compared within {bound}")


@lru_cache(512)
def _message(name: str, expected: bytes) -> bytes | None:
    """Return what a program writes for exactly the expected value, where that is short.

    None for values that are not equal to themselves, or that a judge reads in another way.
    """
    reread = b"{" in expected and name == "wrapped-reference"  # whole numbers as keys
    if len(expected) > SHORT_BYTES or reread or b"NaN" in expected:
        return None
    try:
        message = pack([json.loads(expected)], Side(), shared=False)
        return json.dumps(message, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return None


# ---- in the workers ----


def read_result(output: bytes) -> Any:
    """Return the value that a program sent. Raises ValueError, which says why there is none."""
    if not output:
        raise ValueError("the program ended before it returned")
    try:
        message = json.loads(output)
    except (ValueError, RecursionError):
        raise ValueError("the program wrote no result") from None
    if isinstance(message, dict) and "cannot" in message:
        raise ValueError(f"the result is no data: {str(message['cannot'])[:100]}")
    try:
        (value,) = unpack(message, Side(), shared=False)
    except (BadData, TypeError, RecursionError) as error:
        raise ValueError(f"the program wrote no result: {error}") from None
    except ValueError:
        raise ValueError("the program wrote no result") from None
    return value


def difference(found: Any, wanted: Any) -> str:
    """Return where two values first differ, strictly; "" when they are equal."""
    pairs = [("the result", found, wanted)]
    while pairs:
        where, a, b = pairs.pop()
        if isinstance(b, list) and isinstance(a, (list, tuple)):
            if len(a) != len(b):
                return f"{where} has {len(a)} elements, expected {len(b)}"
            pairs += [(f"{where}[{i}]", a[i], b[i]) for i in range(len(b) - 1, -1, -1)]
        elif isinstance(b, dict) and isinstance(a, dict):
            if a.keys() != b.keys():
                return f"{where} has other keys"
            pairs += [(f"{where}[{key!r:.40}]", a[key], b[key]) for key in b]
        elif not _same(a, b):
            return f"{where} is {_shown(a)}, expected {_shown(b)}"
    return ""


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        try:
            return math.isclose(a, b, rel_tol=RELATIVE) or (a != a and b != b)
        except OverflowError:  # an integer beyond all floats
            return False
    return type(a) is type(b) and a == b


def _as_reference(found: Any, wanted: Any) -> str:
    if isinstance(found, tuple):
        found = list(found)
    return "" if found == wanted else f"the result is {_shown(found)}, expected {_shown(wanted)}"


def _shown(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer with too many digits to print
        return f"a long {type(value).__name__}"


def _judge_values(compare: Callable[[Any, Any], str], output: bytes, expected: bytes) -> Check:
    try:
        wanted = json.loads(expected)
    except (ValueError, RecursionError):
        return unclear("the expected value is not JSON")
    try:
        message = compare(read_result(output), wanted)
    except (RecursionError, ArithmeticError, ValueError) as error:
        return reject(str(error))
    return reject(message) if message else accept("the expected value")


def _wrapped(found: Any, wanted: Any) -> str:
    """Compare strictly with each value that an expected one of APPS may mean."""
    first = difference(found, wanted)
    inner = wanted if isinstance(wanted, list) and len(wanted) == 1 else []
    others = _meanings(wanted, inner)
    return "" if not first or any(not difference(found, other) for other in others) else first


def _wrapped_as_reference(found: Any, wanted: Any) -> str:
    wanted = _with_whole_keys(wanted)
    first = _as_reference(found, wanted)
    inner = wanted[:1] if isinstance(wanted, list) else []
    if isinstance(found, (list, tuple)) and found and isinstance(found[0], tuple):
        rows = [list(row) if isinstance(row, tuple) else row for row in found]
        if any(rows == other for other in inner):
            return ""
    return "" if not first or any(not _as_reference(found, other) for other in inner) else first


def _with_whole_keys(wanted: Any) -> Any:
    """Return a list with the expected dict, its keys as whole numbers; any other value as it is."""
    first = wanted[0] if isinstance(wanted, list) and wanted else wanted
    keyed = int_keys(first) if isinstance(first, dict) else first
    return wanted if keyed is first else [keyed]


def _meanings(wanted: Any, inner: list[Any]) -> list[Any]:
    """Return what else a value may mean: its first element, and keys that JSON made text."""
    keyed = [int_keys(value) for value in (wanted, *inner) if isinstance(value, dict)]
    return [*inner, *keyed, *([keyed] if inner and keyed else [])]


def int_keys(value: dict[Any, Any]) -> dict[Any, Any]:
    """Return a dict with whole numbers for keys, itself when one of them is none."""
    try:
        return {int(key): item for key, item in value.items()}
    except (TypeError, ValueError):
        return value


def _printed(found: Any, wanted: Any) -> str:
    texts = [str(value).strip() for value in (found, wanted)]
    one = str(wanted[0]).strip() if isinstance(wanted, list) and len(wanted) == 1 else None
    same = texts[0] == texts[1] or texts[0] == one
    return "" if same else f"the result prints {_shown(texts[0])}, expected {_shown(texts[1])}"


_BY_VALUE: Mapping[str, Callable[[Any, Any], str]] = {
    "value": difference,
    "value-reference": _as_reference,
    "wrapped": _wrapped,
    "wrapped-reference": _wrapped_as_reference,
    "printed-reference": _printed,
}
JUDGES: Mapping[str, Callable[[bytes, bytes], Check]] = {
    **{name: partial(_judge_values, compare) for name, compare in _BY_VALUE.items()},
    **_TEXTS,
}


def preload() -> None:
    """Load what values of rare types need."""
    import datetime  # noqa: F401
    import decimal  # noqa: F401
    import fractions  # noqa: F401

"""Inputs without what they must return: EvalPlus' own files of HumanEval+ and MBPP+, and ENAMEL.

What tests expect is what the row's known solution returns. It runs in a box of its own, once for
each run of the grader.

| format   | a test each                | inputs                    | compared by     |
|----------|----------------------------|---------------------------|-----------------|
| evalplus | `base_input`, `plus_input` | [[argument, …], …]        | EvalPlus' rules |
| enamel   | a size of `input_levels`   | made by `input_generator` | `checker`       |

EvalPlus
--------
Results are compared by `==`, or as numbers within `atol` and 1e-7 relatively. By `--judge
reference`, a result of floats makes the comparison of all inputs behind it as lax (as 10**9 and
10**9 + 1 are), and numpy makes shapes equal. MBPP+ has JSON's lists where functions take tuples,
sets and complex numbers (`_SHAPES`).

ENAMEL
------
The original draws inputs by seeds of its own, and its score compares times with those of the
known solution. Here a level is a test with a limit of CPU time.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import msgspec

from gradebox.eval.common.errors import RowError
from gradebox.eval.problems.formats.asserts import ERRATA, PLUS_MB, PLUS_S, without_numpy
from gradebox.eval.problems.formats.row_format import (
    MOST_TEXT,
    Content,
    Judge,
    Row,
    RowFormat,
    asserted,
    check_count,
    fields,
    of,
    text,
)
from gradebox.eval.problems.row.tests import converted

_TEXT = """\
import json, math
import numpy as np
def tuples(value):
    return tuple(map(tuples, value)) if isinstance(value, list) else value
inputs = [SHAPE for each in json.loads(DATA)]
def is_floats(value):
    if isinstance(value, (list, tuple)): return bool(value) and all(map(is_float, value))
    return is_float(value)
def is_float(value):
    return isinstance(value, float)
def check(candidate):
    atol = ATOL
    for given, wanted in zip(inputs, results):
        found = candidate(*given)
        near = atol or 1e-6 * is_floats(wanted)
        STICKY
        if SAME: continue
        assert NEAR and type(found) is type(wanted), (given, found, wanted)
        assert not isinstance(wanted, (list, tuple)) or len(found) == len(wanted)
        assert np.allclose(found, wanted, 1e-07, near), (given, found, wanted)
"""
_KEPT = "def kept(result): return result is not None\n"
# One input of MBPP+, `each`, as its function takes it → the numbers of the tasks.
_SHAPES = {
    "[*map(tuple, each)]": "2 116 132 143 222 261 273 394 399 421 424 429 470 560 579 596 616 630 "
    "726 740 744 809",
    "[[*map(tuple, rows)] for rows in each]": "63 64 70 94 120 237 272 299 400 409 417 438 473 614 "
    "780",
    "[[*map(tuple, each[0])], each[1]]": "75 413 444 753",
    "[each[0], tuple(each[1])]": "106 750",
    "[[set(x) if isinstance(x, list) and x else {} for x in each[0]]]": "115",
    "[float(each[0]), complex(each[1])]": "124",
    "[tuple(each[0]), *each[1:]]": "250 307 405 446 617 720 763 808",
    "[complex(each[0])]": "252",
    "[tuple(map(tuple, rows)) for rows in each]": "259 401 445",
    "[tuple(tuple(x) if isinstance(x, list) else x for x in each[0])]": "278",
    "tuples(each)": "580 615 791",
    "[{key: tuple(rows) for key, rows in each[0].items()}, *each[1:]]": "722",
}
_SHAPE_OF = {f"Mbpp/{n}": shape for shape, tasks in _SHAPES.items() for n in tasks.split()}
# Which results are right where `found == wanted` does not say it.
_IN_ANY_ORDER = "similar_elements find_char_long common_in_nested_lists extract_singly larg_nnum "
_IN_ANY_ORDER += "intersection_array find_dissimilar Diff"
_WHETHER_ANY = ("check_str", "text_match_three", "text_starta_endb")
_MBPP = {
    "are_equivalent": "True",
    "sum_div": "found in (wanted, 0)",
    # the height of a pyramid may be that of its body, or of its sides
    "surface_Area": "found == wanted or abs(found - round(given[0] ** 2 + 2 * given[0] * "
    "math.sqrt((given[0] / 2) ** 2 + given[1] ** 2))) <= atol",
    # numbers of different lengths may be compared digit by digit
    "digit_distance_nums": "found in (wanted, sum(abs(int(a) - int(b)) for a, b in zip(*("
    "str(n).zfill(max(len(str(m)) for m in given)) for n in given))))",
    **dict.fromkeys(_IN_ANY_ORDER.split(), "set(found) == set(wanted)"),
    **dict.fromkeys(
        _WHETHER_ANY, "wanted == (found if isinstance(found, bool) else found is not None)"
    ),
}
_HUMANEVAL = {  # any root of the polynomial
    "find_zero": "abs(sum(c * math.pow(found, i) for i, c in enumerate(given[0]))) <= atol"
}


_Tolerance = Annotated[int, msgspec.Meta(ge=0)] | Annotated[float, msgspec.Meta(ge=0, le=1e300)]


def _inputs(row: Row, field: str) -> str:
    """Return some inputs as JSON, "" for none. Raises RowError."""
    value = converted(field, row.get(field) or [], list[list[Any]])
    data = json.dumps(value) if value else ""
    if len(data) > MOST_TEXT:
        raise RowError(f"{field} has {len(data)} characters: at most {MOST_TEXT} are read")
    return data


def _convert(row: Row, judge: Judge) -> dict[str, Any]:
    entry, prompt = text(row, "entry_point", needed=True), text(row, "prompt")
    gold, task = text(row, "canonical_solution", needed=True), row.get("task_id")
    atol = converted("atol", row.get("atol"), _Tolerance)
    of_mbpp = str(task).startswith("Mbpp/")
    same = (_MBPP if of_mbpp else _HUMANEVAL).get(entry, "found == wanted")
    made = _TEXT.replace("SHAPE", _SHAPE_OF.get(str(task), "each")).replace("SAME", same)
    made = made.replace("NEAR", "False" if entry in _HUMANEVAL else "near").replace(
        "ATOL", repr(atol)
    )
    made = made.replace("STICKY", "atol = near" if judge == "reference" else "pass")
    made = without_numpy(made, judge) + (_KEPT if of_mbpp and entry in _WHETHER_ANY else "")
    spec = {"entry": entry, "names": [], "prompt": prompt, "reference": f"{prompt}{gold}"}
    data = [_inputs(row, field) for field in ("base_input", "plus_input")]
    tests = [
        {"input": made.replace("DATA", repr(each)), "output": json.dumps(spec)}
        for each in data
        if each
    ]
    more = {"title": entry, "entry_point": entry, "prompt": prompt, "errata": ERRATA.get(str(task))}
    base_tests = "1" if all(data) else ""
    return asserted(tests, PLUS_S, PLUS_MB, gold, base_tests=base_tests, **more)


_FIELDS = frozenset(
    ("task_id", "entry_point", "canonical_solution", "base_input", "plus_input", "atol")
)
EVALPLUS = RowFormat(
    name="evalplus",
    needs=(_FIELDS, _FIELDS | {"test"}),  # HumanEval's own tests, which its rows have as well
    content=dict.fromkeys(("base_input", "plus_input"), Content()),
    ids={
        "id": of("task_id"),
        "aliases": of("task_id", read=lambda name: [str(name).removeprefix("Mbpp/")]),
    },
    uses=("prompt",),
    convert=_convert,
)

# ---- ENAMEL ----

ENAMEL_S = 10.0  # for the cases of a level; the original's limit is twice the known solution's time
LEVEL_CASES = (8, 4)  # of the first level, of the others
_MADE_OF = """\
import math, random, string
from copy import deepcopy
def rand_parens(size, valid=True, par="()", sep=""):
    if not valid:
        half = max(size // 2 - 1, 0)
        return rand_parens(half, par=par) + par[::-1] + rand_parens(half, par=par)
    groups, depth = [], 0
    for left in range(size + size % 2, 0, -1):
        if depth == 0: groups.append([])
        opens = depth == 0 or (depth < left and random.random() < 0.5)
        groups[-1].append(par[0] if opens else par[1])
        depth += 1 if opens else -1
    groups = ["".join(group) for group in groups]
    return groups if sep is None else sep.join(groups)
def rand_probably_prime(low, high=None):
    if high is None: low, high = low // 2, low
    low = max(low, 2)
    while True:
        found = random.randint(low, max(high, 2 * low))
        if all(found % n for n in range(2, math.isqrt(found) + 1)): return found
def rand_primality(size, lid, cid):
    if lid == 0 and cid < 4: return (91, 561, 2, 125)[cid]
    if cid % 3 == 0: return rand_probably_prime(max(size, 4))
    primes = [rand_probably_prime(math.isqrt(size) + 2) for _ in range(2)]
    return primes[0] * primes[cid % 3 - 1]
"""
_CHECKED = """
inputs = []
for case in range(cases):
    random.seed(f"{level} {case}")
    inputs.append(generate_input(size, level, case))
def check(candidate):
    for given, wanted in zip(inputs, results):
        found = candidate(*deepcopy(given))
        assert __check(given, wanted, found), (found, wanted)
"""


def _enamel(row: Row, _judge: Judge) -> dict[str, Any]:
    entry, prompt = text(row, "entry_point", needed=True), text(row, "prompt", needed=True)
    gold = text(row, "reference_solution", needed=True)
    parts = [text(row, field, needed=True) for field in ("input_generator", "checker")]
    made = "\n".join((_MADE_OF, prompt, *parts, ""))
    spec = {"entry": entry, "names": [], "prompt": "", "reference": f"{prompt}\n{gold}"}
    sizes = [converted("input_levels", n, int) for n in text(row, "input_levels").split()]
    check_count(sizes, "input_levels")
    tests = []
    for level, size in enumerate(sizes):
        numbers = f"level, size, cases = {level}, {size}, {LEVEL_CASES[level > 0]}"
        tests.append({"input": f"{made}{numbers}{_CHECKED}", "output": json.dumps(spec)})
    more = {"title": entry, "entry_point": entry, "prompt": f"{prompt}\n", "base_tests": "1"}
    return asserted(tests, ENAMEL_S, PLUS_MB, gold, **more)


ENAMEL = RowFormat(
    name="enamel",
    needs=fields("task_id entry_point input_generator input_levels reference_solution checker"),
    content={"input_levels": Content()},
    ids={"id": of("task_id")},
    uses=("prompt",),
    convert=_enamel,
)
FORMATS = (EVALPLUS, ENAMEL)

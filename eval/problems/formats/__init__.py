"""The formats of data sets, and which of them a row has.

| format          | data sets                                              |
|-----------------|--------------------------------------------------------|
| codeforces      | open-r1/codeforces, and rows with our own columns      |
| humaneval       | openai/openai_humaneval, evalplus/humanevalplus        |
| mbpp            | google-research-datasets/mbpp: full, sanitized         |
| leetcode        | newfacade/LeetCodeDataset                              |
| kodcode         | KodCode/KodCode-V1, simple pytest files                |
| multipl-e       | nuprl/MultiPL-E: C++, Java, JavaScript, Rust, Go       |
| livecodebench   | livecodebench/code_generation_lite, code_generation    |
| apps, taco      | codeparrot/apps, BAAI/TACO                             |
| code-contests   | deepmind/code_contests                                 |
| code-contests-plus | ByteDance-Seed/Code-Contests-Plus                   |
| codeforces-cots | open-r1/codeforces-cots                                |
| ioi             | open-r1/ioi, with open-r1/ioi-test-cases               |
| deepcoder       | agentica-org/DeepCoder-Preview-Dataset, rllm's rows    |
| prime           | PrimeIntellect/verifiable-coding-problems, SYNTHETIC-1 |
| nemo-gym        | NVIDIA NeMo Gym, code_gen                              |
| sandboxfusion   | SandboxFusion's CommonOJ rows                          |
"""

from __future__ import annotations

from collections.abc import Iterable

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.formats.apps import APPS, TACO
from gradebox.eval.problems.formats.asserts.humaneval import HUMANEVAL
from gradebox.eval.problems.formats.asserts.kodcode import KODCODE
from gradebox.eval.problems.formats.asserts.leetcode import LEETCODE
from gradebox.eval.problems.formats.asserts.mbpp import MBPP
from gradebox.eval.problems.formats.asserts.multipl_e import MULTIPL_E
from gradebox.eval.problems.formats.code_contests import CODE_CONTESTS
from gradebox.eval.problems.formats.code_contests_plus import CODE_CONTESTS_PLUS
from gradebox.eval.problems.formats.codeforces_cots import CODEFORCES_COTS
from gradebox.eval.problems.formats.ioi import IOI
from gradebox.eval.problems.formats.livecodebench import LIVECODEBENCH
from gradebox.eval.problems.formats.row_format import (
    JUDGES,
    OWN,
    Judge,
    Reading,
    Row,
    RowFormat,
)
from gradebox.eval.problems.formats.training import DEEPCODER, NEMO_GYM, PRIME, SANDBOXFUSION

__all__ = [
    "FORMATS",
    "JUDGES",
    "OWN",
    "Judge",
    "Reading",
    "Row",
    "RowFormat",
    "find_format",
    "recognising",
]

_ALL = (
    *(OWN, HUMANEVAL, MBPP, LEETCODE, MULTIPL_E, LIVECODEBENCH),
    *(KODCODE, CODE_CONTESTS_PLUS, CODEFORCES_COTS, IOI),
    *(APPS, TACO, CODE_CONTESTS, DEEPCODER, PRIME, NEMO_GYM, SANDBOXFUSION),
)
FORMATS: dict[str, RowFormat] = {row.name: row for row in _ALL}


def recognising(fields: Iterable[str]) -> list[RowFormat]:
    """Return the formats that rows with these fields have.

    A format that needs a field more than another one, and has it, goes before that one.
    """
    known = frozenset(fields)
    found = {name: matched for name, row in FORMATS.items() if (matched := row.matched(known))}
    return [
        FORMATS[name]
        for name, matched in found.items()
        if not any(matched < other for other in found.values())
    ]


def find_format(fields: Iterable[str], name: str | None, where: str) -> RowFormat:
    """Return the format of rows with these fields.

    name   the format that the user named, None for the one that recognises the fields
    where  the data set, for messages

    Raises InputError when no format or several recognise the fields.
    """
    known = frozenset(fields)
    if name is not None:
        return FORMATS[name]
    found = recognising(known)
    if len(found) == 1:
        return found[0]
    if found:
        names = " and ".join(row.name for row in found)
        raise InputError(
            f"{where} has the columns of {names}: say which with --dataset-format {found[0].name}"
        )
    columns = ", ".join(shown(c) for c in sorted(known)[:20]) or "none"
    raise InputError(
        f"{where} has the columns {columns}: id is needed, or contest_id and index, or the columns "
        f"of one of {', '.join(FORMATS)}"
    )

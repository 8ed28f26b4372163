"""The built-in checkers, by name: testlib's standard ones and Kattis' default validator.

    from gradebox.checkers import builtin
    builtin("wcmp")(input, output, answer)                    -> Check
    builtin("kattis", float_tolerance=1e-6)(input, output, answer)
    builtin("kattis float_tolerance 1e-6")(input, output, answer)

They judge as the programs of testlib 0.9.45 and problemtools' default validator do: which
stream is read first, how a number is spelled, and that a fault of the answer file is FAIL
(unclear) while the same fault of the output is PE. testlib's bounds of 128 MiB a file and 32 MiB
a token are not copied: the sandbox has limits of its own.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gradebox.checkers.builtins import kattis, lines, sequences, single
from gradebox.checkers.builtins.stream import Decided
from gradebox.checkers.check import Check, Checker, CheckerError
from gradebox.checkers.protocols import PROTOCOLS

Judge = Callable[[bytes, bytes, bytes], None]


# name → judge; of `kattis`, a function from options to the judge
TABLE: Mapping[str, Any] = {
    "wcmp": sequences.wcmp,
    "lcmp": lines.lcmp,
    "fcmp": lines.fcmp,
    "hcmp": single.hcmp,
    "icmp": single.icmp,
    "ncmp": sequences.ncmp,
    "uncmp": sequences.uncmp,
    "acmp": single.rcmp,
    "rcmp": single.rcmp,
    "dcmp": single.dcmp,
    "rcmp4": sequences.rcmp4,
    "rcmp6": sequences.rcmp6,
    "rcmp9": sequences.rcmp9,
    "rncmp": sequences.rncmp,
    "yesno": single.yesno,
    "nyesno": sequences.nyesno,
    "caseicmp": lines.caseicmp,
    "casencmp": lines.casencmp,
    "casewcmp": lines.casewcmp,
    "kattis": kattis.kattis,
}


@dataclass(frozen=True)
class Builtin(Checker):
    """A `Checker` that is a built-in with its options; it can also be called.

    It raises nothing for any three texts; they are bytes and need not be UTF-8.
    """

    name: str
    judge: Judge

    @property
    def digest(self) -> str:
        return f"builtin:{REVISION}:{self.name}"

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Judge `output` against the judge's answer `expected`."""
        try:
            self.judge(input, output, expected)
        except Decided as verdict:
            return verdict.check
        raise AssertionError(f"{self.name} gave no verdict")

    def __call__(self, input: bytes, output: bytes, answer: bytes) -> Check:
        """Call `check`, with testlib's names of the arguments."""
        return self.check(input, output, answer)


# Raise it when any built-in judges differently: it is part of records' keys.
REVISION = 2


def builtin(name: str, **options: Any) -> Builtin:
    """Return a built-in checker; the name may carry options: "kattis case_sensitive".

    Raises CheckerError (a ValueError) for a name or an option that does not exist.
    """
    words = name.split()
    if not words or words[0] not in TABLE:
        raise unknown(name)
    options = {**kattis.parse_options(words[0], words[1:]), **options}
    judge: Judge = TABLE[words[0]]
    try:
        if words[0] == "kattis":
            judge = kattis.kattis(**options)
        elif options:
            raise TypeError
    except TypeError:
        raise CheckerError(
            f"checker {words[0]!r} has no option {' or '.join(sorted(options)) or '(none)'}; "
            f"see docs/checkers.md"
        ) from None
    spelled = "".join(f" {key}={value!r}" for key, value in sorted(options.items()))
    return Builtin(words[0] + spelled, judge)


def unknown(name: str) -> CheckerError:
    """Return the error for a name that is neither a built-in's nor begins as a program's does."""
    first = name.lower().partition(":")[0].split(" ")[0]
    near = difflib.get_close_matches(first, [*TABLE, *PROTOCOLS], n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(map(repr, near))}" if near else ""
    return CheckerError(
        f"unknown checker {name!r}{hint}; built-ins: {', '.join(TABLE)}; programs: "
        f"{', '.join(f'{kind}:…' for kind in PROTOCOLS)}"
    )

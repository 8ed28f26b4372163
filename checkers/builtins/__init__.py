"""The built-in checkers, by name: testlib's standard ones and Kattis' default validator.

    from checkers import builtin
    builtin("wcmp")(input, output, answer)                    -> Check
    builtin("kattis", float_tolerance=1e-6)(input, output, answer)
    builtin("kattis float_tolerance 1e-6")(input, output, answer)

Semantics are those of testlib 0.9.45 and of problemtools' default validator, as their
programs behave: which stream is read first, what a number looks like, and that a fault of
the answer file is FAIL (unclear) while the same fault of the output is PE. testlib's own
bounds of 128 MiB a file and 32 MiB a token are not copied: the sandbox has limits of its own.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from checkers.builtins import cases, kattis, lines, sequences, single
from checkers.builtins.stream import Verdict
from checkers.errors import UnknownChecker
from checkers.model import Check

Judge = Callable[[bytes, bytes, bytes], None]
Options = Callable[..., Judge]


def _plain(judge: Judge) -> Options:
    def without_options() -> Judge:
        return judge

    return without_options


# name → (what takes its options and gives the judge, one line for people)
TABLE: Mapping[str, tuple[Options, str]] = {
    "wcmp": (_plain(sequences.wcmp), "the same sequence of tokens"),
    "lcmp": (_plain(lines.lcmp), "the same lines, each as a sequence of tokens"),
    "fcmp": (_plain(lines.fcmp), "the same lines, character by character"),
    "hcmp": (_plain(single.hcmp), "one integer of any length"),
    "icmp": (_plain(single.icmp), "one 32-bit integer"),
    "ncmp": (_plain(sequences.ncmp), "the same sequence of 64-bit integers"),
    "uncmp": (_plain(sequences.uncmp), "the same 64-bit integers in any order"),
    "acmp": (_plain(single.rcmp), "one double, absolute error 1.5e-6"),
    "rcmp": (_plain(single.rcmp), "one double, absolute error 1.5e-6"),
    "dcmp": (_plain(single.dcmp), "one double, absolute or relative error 1e-6"),
    "rcmp4": (_plain(sequences.rcmp4), "doubles, absolute or relative error 1e-4"),
    "rcmp6": (_plain(sequences.rcmp6), "doubles, absolute or relative error 1e-6"),
    "rcmp9": (_plain(sequences.rcmp9), "doubles, absolute or relative error 1e-9"),
    "rncmp": (_plain(sequences.rncmp), "doubles, absolute error 1.5e-5"),
    "yesno": (_plain(single.yesno), "one YES or NO in any case"),
    "nyesno": (_plain(sequences.nyesno), "a sequence of YES and NO in any case"),
    "caseicmp": (_plain(cases.caseicmp), "lines `Case i: integer`"),
    "casencmp": (_plain(cases.casencmp), "lines `Case i: integers…`"),
    "casewcmp": (_plain(cases.casewcmp), "lines `Case i: tokens…`"),
    "pointscmp": (single.pointscmp, "points: the distance of two doubles (an example)"),
    "kattis": (kattis.kattis, "Kattis' default validator; options for case, space, floats"),
}


@dataclass(frozen=True)
class Builtin:
    """One built-in with its options; callable, and a `checkers.protocol.Checker` too.

    Never raises for anything in the three texts; they are bytes and need not be UTF-8.
    """

    name: str
    judge: Judge

    @property
    def digest(self) -> str:
        return f"builtin:{REVISION}:{self.name}"

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Judges `output` against the judge's answer `expected`."""
        try:
            self.judge(input, output, expected)
        except Verdict as said:
            return said.check
        raise AssertionError(f"{self.name} said nothing")

    def __call__(self, input: bytes, output: bytes, answer: bytes) -> Check:
        """`check`, in testlib's words."""
        return self.check(input, output, answer)

    def close(self) -> None:
        """Nothing to free."""


# Raise it when any built-in judges differently: it is part of records' keys.
REVISION = 2


def builtin(name: str, **options: Any) -> Builtin:
    """The built-in checker called `name`, which may carry options: "kattis case_sensitive".

    Raises UnknownChecker (a ValueError) for a name or an option that does not exist.
    """
    words = name.split()
    row = TABLE.get(words[0]) if words else None
    if row is None:
        raise UnknownChecker(_unknown(name))
    said = {**kattis.read_options(words[0], words[1:]), **options}
    try:
        judge = row[0](**said)
    except TypeError:
        raise UnknownChecker(
            f"checker {words[0]!r} has no option {' or '.join(sorted(said)) or '(none)'}; "
            f"see docs/checkers.md"
        ) from None
    spelled = "".join(f" {key}={value!r}" for key, value in sorted(said.items()))
    return Builtin(words[0] + spelled, judge)


def _unknown(name: str) -> str:
    first = (name.split() or [""])[0].lower()
    near = difflib.get_close_matches(first, TABLE, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(map(repr, near))}" if near else ""
    return (
        f"unknown checker {name!r}{hint}; built-ins: {', '.join(TABLE)}; "
        "programs: testlib:FILE.cpp, python:FILE.py, kattis:FILE, command:LINE"
    )

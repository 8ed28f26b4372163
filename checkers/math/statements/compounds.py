"""Compare chemical formulas: `\\mathrm{H_2SO_4}` = `H2SO4` = H₂SO₄; CO is not CO₂.

formula := [count] (element [count] | "(" formula ")" [count])+ [charge]
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.rewrite import unicode_to_latex
from gradebox.checkers.math.normalise.tables import word_list

MAX_CHARS = 80
_ELEMENTS = "|".join(
    sorted(
        word_list(
            "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Ti V Cr Mn Fe Co Ni Cu Zn "
            "Ga Ge As Se Br Kr Rb Sr Ag Cd Sn Sb I Xe Cs Ba W Pt Au Hg Pb Bi U"
        ),
        key=len,
        reverse=True,
    )
)
_FORMULA = re.compile(  # a letter and a count, two elements, or a charge
    rf"(?=.*(?:{_ELEMENTS})\d|.*(?:{_ELEMENTS}){{2}}|.*\^)\d{{0,2}}(?:(?:{_ELEMENTS})\d{{0,2}}|\((?:(?:{_ELEMENTS})\d{{0,2}})+\)\d{{0,2}})+(?:\^?\d?[+-])?"
)
_ARROW = re.compile(r"\\(?:to|rightarrow|longrightarrow|rightleftharpoons)(?![a-z])|-+>|⇌|=")
_MARKS = re.compile(r"\\(?:mathrm|text|ce|rm)(?![a-z])|[\s_{}$]|\\[,;! ]")


def read_compound(text: str) -> str:
    """Return a chemical formula without marks, `H2SO4`; "" for anything else."""
    if len(text) > MAX_CHARS:
        return ""
    plain = _MARKS.sub("", unicode_to_latex(text)).strip(".")
    return plain.replace("^", "") if _FORMULA.fullmatch(plain) else ""


def _reaction(text: str) -> list[list[str]]:
    """Return the sorted compounds on each side of `2H2 + O2 -> 2H2O`; [] for anything else."""
    sides = _ARROW.split(unicode_to_latex(text))
    if len(sides) != 2 or len(text) > 2 * MAX_CHARS:
        return []
    found = [sorted(read_compound(part) for part in re.split(r"\s\+\s", side)) for side in sides]
    return found if all(map(all, found)) else []


def same_compound(gold: str, answer: str) -> bool | None:
    """Return whether two answers are one formula or one reaction; None for other answers."""
    reactions = _reaction(gold), _reaction(answer)
    if all(reactions):
        return reactions[0] == reactions[1]
    left, right = read_compound(gold), read_compound(answer)
    if not (left and right) or not re.search(r"[A-Za-z)]\d", left + right):
        return None
    return left == right

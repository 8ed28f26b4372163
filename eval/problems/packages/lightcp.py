"""Packages of LightCPVerifier, the judge of LiveCodeBench-Pro.

    config.yaml     type, time, memory, checker, interactor, subtasks: [{n_cases: 12}]
    testdata/       1.in, 1.ans, …: numbered through all subtasks, or named by `cases`
    chk.cc          a checker, or interactor.cc an interactor, with testlib

A solution is accepted when all tests are, so that scores of subtasks are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.files import (
    MOST_FILES,
    PackageFiles,
    mapping,
    number,
    read_yaml,
)
from gradebox.eval.problems.packages.making import Maker, judge_program

Row = Mapping[str, Any]
Role = Literal["checker", "interactor"]
MARKERS = ("testdata/1.in",)
_TYPES: Mapping[str, tuple[Role, str]] = {
    "default": ("checker", "chk.cc"),
    "interactive": ("interactor", "interactor.cc"),
}
_FILES = (("input", ".in"), ("output", ".ans"))
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|k|m|g|)", re.IGNORECASE)
_UNITS = {  # in seconds and MiB
    "time": {"ms": 1e-3, "s": 1.0, "": 1.0},
    "memory": {"k": 2**-10, "m": 1.0, "g": 2.0**10, "": 2**-20},
}


def lightcp_row(package: PackageFiles, _maker: Maker) -> dict[str, Any]:
    """Return the row of a package. Raises RowError."""
    config = read_yaml(package, package.need("config.yaml", "LightCPVerifier"))
    kind = str(config.get("type") or "default")
    if kind not in _TYPES:
        raise RowError(f"config.yaml: type is {shown(kind)}: {' and '.join(_TYPES)} are graded")
    role, usual = _TYPES[kind]
    subtasks = config.get("subtasks")
    if not isinstance(subtasks, list) or not subtasks:
        raise RowError("config.yaml has no subtasks: list them, with n_cases or cases")
    parts = [mapping(part, "config.yaml: a subtask") for part in subtasks]
    place = package.need(str(config.get(role) or usual), f"config.yaml: {role}")
    return {
        **judge_program(package, place, role, "testlib"),
        "official_tests": list(_tests(package, config, parts)),
        "time_limit": _limit(config, parts, "time", "1s"),
        "memory_limit": _limit(config, parts, "memory", "256m"),
    }


def _limit(config: Row, parts: Sequence[Row], name: str, default: str) -> float:
    """Return the largest limit of the subtasks, in seconds or MiB."""
    whole = config.get(f"{name}_limit") or config.get(name) or default
    found = []
    for part in parts:
        value = str(part.get(f"{name}_limit") or part.get(name) or whole)
        match = _SIZE.fullmatch(value.strip())
        unit = _UNITS[name].get(match[2].lower()) if match else None
        if match is None or unit is None:
            raise RowError(f"config.yaml: {name} is {shown(value)}: write it as {default}")
        found.append(number(float(match[1]) * unit, f"config.yaml: {name}"))
    return max(found)


def _tests(package: PackageFiles, config: Row, parts: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Yield the tests. Raises RowError for a file that is absent."""
    ends = [(config.get(f"{n}_prefix") or "", config.get(f"{n}_suffix") or d) for n, d in _FILES]
    count = 0
    for part in parts:
        cases = part.get("cases")
        if cases is None:
            size = int(number(part.get("n_cases"), "config.yaml: n_cases", most=MOST_FILES))
            names = [[f"{a}{i}{b}" for a, b in ends] for i in range(count + 1, count + size + 1)]
            count += size
        elif not isinstance(cases, list):
            raise RowError(f"config.yaml: cases is {shown(cases)}: it must be a list")
        else:
            names = [[str(mapping(case, "a case").get(n)) for n, _ in _FILES] for case in cases]
        for pair in names:
            paths = [package.need(f"testdata/{name}", "config.yaml") for name in pair]
            given, expected = map(package.test_file, paths)
            yield {"input": given, "output": expected, "name": pair[0]}

"""Packages of LightCPVerifier, the judge of LiveCodeBench-Pro.

    config.yaml     type, time, memory, checker, interactor, subtasks: [{n_cases: 12}]
    testdata/       1.in, 1.ans, …: numbered through all subtasks
    chk.cc          a checker, or interactor.cc an interactor, with testlib

A solution is accepted when all tests are, so that scores of subtasks are not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.files import MOST_FILES, mapping, number, read_yaml
from gradebox.eval.problems.packages.making import ProblemPackage

MARKERS = ("testdata/1.in",)
_TYPES = {"default": ("checker", "chk.cc"), "interactive": ("interactor", "interactor.cc")}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|k|m|g|)", re.IGNORECASE)
_TIMES = {"ms": 1e-3, "s": 1.0, "": 1.0}  # in seconds
_SIZES = {"k": 2**-10, "m": 1.0, "g": 2.0**10, "": 2**-20}  # in MiB


def lightcp_row(package: ProblemPackage) -> dict[str, Any]:
    """Return the row of a package. Raises RowError."""
    config = read_yaml(package, "config.yaml")
    kind = str(config.get("type") or "default")
    if kind not in _TYPES:
        raise RowError(f"config.yaml: type is {shown(kind)}: {' and '.join(_TYPES)} are graded")
    role, usual = _TYPES[kind]
    subtasks = config.get("subtasks")
    if not isinstance(subtasks, list) or not subtasks:
        raise RowError("config.yaml has no subtasks: list them, with n_cases")
    parts = [mapping(part, "config.yaml: a subtask") for part in subtasks]
    sizes = [number(p.get("n_cases"), "config.yaml: n_cases", most=MOST_FILES) for p in parts]
    tests = [
        {
            "input": package.need(f"testdata/{i}.in", "config.yaml"),
            "output": package.need(f"testdata/{i}.ans", "config.yaml"),
            "name": f"{i}",
        }
        for i in range(1, 1 + sum(map(int, sizes)))
    ]
    place = package.need(str(config.get(role) or usual), f"config.yaml: {role}")
    return {
        **package.judge(place, role, "testlib"),
        "official_tests": tests,
        "time_limit": _limit([config, *parts], "time", "1s", _TIMES),
        "memory_limit": _limit([config, *parts], "memory", "256m", _SIZES),
    }


def _limit(
    parts: Sequence[Mapping[str, Any]], name: str, default: str, units: Mapping[str, float]
) -> float:
    """Return the largest limit of the package and its subtasks."""
    given = [p.get(f"{name}_limit") or p.get(name) for p in parts]
    found = []
    for value in list(filter(None, given)) or [default]:
        match = _SIZE.fullmatch(str(value).strip())
        if match is None or match[2].lower() not in units:
            raise RowError(f"config.yaml: {name} is {shown(value)}: write it as {default}")
        found.append(number(float(match[1]) * units[match[2].lower()], f"config.yaml: {name}"))
    return max(found)

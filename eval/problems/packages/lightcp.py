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
from gradebox.eval.problems.packages.files import (
    MOST_FILES,
    PackageFiles,
    mapping,
    number,
    read_yaml,
)
from gradebox.eval.problems.packages.making import Maker, Role, judge_program

Row = Mapping[str, Any]
MARKERS = ("testdata/1.in",)
_TYPES: Mapping[str, tuple[Role, str]] = {
    "default": ("checker", "chk.cc"),
    "interactive": ("interactor", "interactor.cc"),
}
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
        raise RowError("config.yaml has no subtasks: list them, with n_cases")
    parts = [mapping(part, "config.yaml: a subtask") for part in subtasks]
    sizes = [number(p.get("n_cases"), "config.yaml: n_cases", most=MOST_FILES) for p in parts]
    place = package.need(str(config.get(role) or usual), f"config.yaml: {role}")
    return {
        **judge_program(package, place, role, "testlib"),
        "official_tests": [_test(package, i) for i in range(1, 1 + sum(map(int, sizes)))],
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


def _test(package: PackageFiles, i: int) -> dict[str, Any]:
    """Return a test. Raises RowError for a file that is absent."""
    paths = (package.need(f"testdata/{i}.{kind}", "config.yaml") for kind in ("in", "ans"))
    given, expected = map(package.test_file, paths)
    return {"input": given, "output": expected, "name": f"{i}"}

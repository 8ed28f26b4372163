"""Kattis' and ICPC's problem packages, legacy and 2023-07 to 2025-09, and DOMjudge's.

    problem.yaml  domjudge-problem.ini  .timelimit        limits, kind, validator
    data/sample/1.in 1.ans  data/secret/…                 tests; folders are groups
    data/…/testdata.yaml | test_group.yaml                points, arguments of the validator
    output_validators/…  output_validator/                the validator, else the default one
    include/default  include/cpp …                        files beside the submissions
    submissions/accepted …  submissions.yaml              submissions.py

What is refused in words: static validators, submissions of answers, tests with files or arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.files import (
    PackageFiles,
    mapping,
    number,
    read_ini,
    read_yaml,
    words,
)
from gradebox.eval.problems.packages.making import Maker, Role, judge_program
from gradebox.eval.problems.packages.submissions import kattis_submissions
from gradebox.eval.problems.problem import TimeRule

MARKERS = ("problem.yaml", "domjudge-problem.ini")
LEGACY = frozenset(("legacy", "legacy-icpc", "icpc"))
NEW = ("2023-07", "2025-")
MEMORY_MB = 2048
PASSES = 2
MOST_LEVELS = 8  # of groups
_KINDS = {"pass-fail", "scoring", "interactive", "multi-pass", "default", "custom", "score"}
_GROUP_FILES = ("test_group.yaml", "testdata.yaml")
_ARGS = ("output_validator_args", "output_validator_flags")
# names of rules → ours; what a group of such a rule gives at most, by the points of its parts
_RULES = {"min": "min", "sum": "sum", "max": "max", "avg": "avg", "pass-fail": "all"}
_GIVES: Mapping[str, Callable[[list[float]], float]]
_GIVES = {"min": min, "all": min, "max": max, "sum": sum, "avg": mean}
_BESIDE = {".files": "files beside the input", ".args": "arguments of the program"}


def kattis_row(package: PackageFiles, _maker: Maker) -> dict[str, Any]:
    """Return the row of a package. Raises RowError."""
    return _Reader(package).row()


class _Reader:
    """Reads one package, by what its problem.yaml says of the problem's kind."""

    def __init__(self, package: PackageFiles) -> None:
        self._package = package
        path, ini = package.find("problem.yaml"), package.find("domjudge-problem.ini")
        self._config = config = {} if path is None else read_yaml(package, path)
        self._ini = {} if ini is None else read_ini(package, ini)
        self._limits = mapping(config.get("limits"), "problem.yaml: limits")
        version = str(config.get("problem_format_version") or "legacy")
        self._legacy = version in LEGACY
        if not self._legacy and not version.startswith(NEW):
            raise RowError(
                f"problem.yaml: problem_format_version {shown(version)} is unknown: legacy, "
                "2023-07 and 2025-09 are read"
            )
        kinds = {w for key in ("type", "validation") for w in self._words(key)}
        if unknown := sorted(kinds - _KINDS):
            answers = " (submissions are answers, not programs)" * (unknown[0] == "submit-answer")
            raise RowError(f"problem.yaml: type {unknown[0]}{answers} is not supported")
        static = package.find("static_validator", "static_validators")
        if static is not None:
            raise RowError(
                f"{package.say(static)} judges the text of a submission, which is not supported: "
                "remove it to grade by the tests alone"
            )
        passes = self._limits.get("validation_passes", PASSES)
        passes = number(passes, "validation_passes", least=1, most=100)
        self._passes = int(passes) if "multi-pass" in kinds else 1
        self._scoring = bool(kinds & {"scoring", "score"})
        self._interactive = "interactive" in kinds
        own, folder = package.find("output_validator"), package.find("output_validators")
        custom = own is not None or (
            folder is not None and (not self._legacy or "custom" in self._words("validation"))
        )
        self._has_program = custom or self._interactive or self._passes > 1
        self._tests: list[dict[str, Any]] = []
        self._groups: list[dict[str, Any]] = []  # inner ones first
        self._note = ""  # of a fault that leaves the package usable

    def _words(self, key: str) -> list[str]:
        return words(self._config.get(key), f"problem.yaml: {key}")

    def row(self) -> dict[str, Any]:
        """Return the row. Raises RowError."""
        data = self._package.find("data")
        if data is None or not data.is_dir():
            raise RowError(
                "data is missing: a package has its tests in data/sample and data/secret"
            )
        root = self._group(data, {})
        if self._scoring and "ignore_sample" in words(root.get("grader_flags"), "grader_flags"):
            for group in self._groups:
                group["points"] *= group["name"] != "sample"
        if not self._tests:
            raise RowError("data has no test: put .in and .ans files into data/secret")
        title = self._config.get("name") or self._ini.get("name") or ""
        if isinstance(title, dict):
            title = title.get("en") or next(iter(title.values()), "")
        return {
            "title": str(title)[:200],
            **self._time_and_memory(),
            **self._judge(),
            "official_tests": self._tests,
            "subtasks": self._groups or None,
            "passes": self._passes,
            "include_files": self._include_files(),
            "gold_solutions": kattis_submissions(self._package),
            "note": self._note,
        }

    def _time_and_memory(self) -> dict[str, Any]:
        """Return the limits, and the rule by which a time limit follows from the submissions."""
        own, limits = self._package.find(".timelimit"), self._limits
        given = {
            "problem.yaml: time_limit": limits.get("time_limit"),
            "domjudge-problem.ini: timelimit": self._ini.get("timelimit"),
            ".timelimit": None if own is None else self._package.text(own, 100).strip(),
        }
        where, stated = next(((w, v) for w, v in given.items() if v not in (None, "")), ("", None))
        factors, ac, tle = limits, ("time_multiplier", 5.0), ("time_safety_margin", 2.0)
        if not self._legacy:
            factors = mapping(limits.get("time_multipliers"), "problem.yaml: time_multipliers")
            ac, tle = ("ac_to_time_limit", 2.0), ("time_limit_to_tle", 1.5)

        def factor(name: str, usual: float) -> float:
            return number(factors.get(name, usual), name, least=1, most=1e3)

        step = number(limits.get("time_resolution", 1), "time_resolution", least=1e-3, most=1e3)
        if stated is not None:
            stated = number(stated, where, least=0.001, most=3600)
        return {
            "time_limit": stated,
            "memory_limit": number(limits.get("memory") or MEMORY_MB, "limits: memory", least=1),
            "time_rule": TimeRule(factor(*ac), factor(*tle), step, stated is not None),
        }

    def _judge(self) -> dict[str, Any]:
        """Return the columns of the default validator, of a program, or of an interactor."""
        flags = self._words("validator_flags")
        if not self._has_program:
            return {"checker": " ".join(("kattis", *flags))}
        role: Role = "interactor" if self._interactive else "checker"
        protocol = "kattis-scoring" if self._scoring else "kattis"
        return judge_program(self._package, self._validator(), role, protocol, flags)

    def _validator(self) -> Path:
        """Return the one validator, a file or a folder."""
        package = self._package
        own, folder = package.find("output_validator"), package.find("output_validators")
        found = [own] if own is not None else package.children(folder) if folder else []
        programs = [p for p in found if p.is_dir() or p.suffix not in (".h", ".md", ".txt", ".hpp")]
        if not programs:
            raise RowError("there is no validator: put one into output_validator")
        if len(programs) == 1:
            inner = package.children(programs[0]) if programs[0].is_dir() else []
            return inner[0] if len(inner) == 1 else programs[0]
        if folder is not None and all(path.is_file() for path in programs):
            return folder
        raise RowError(
            f"output_validators has {len(programs)} validators, such as {programs[1].name}: "
            "keep one"
        )

    # ---- tests and groups ----

    def _group(self, folder: Path, inherited: Mapping[str, Any]) -> Mapping[str, Any]:
        """Read a folder of tests and those in it; return its settings with what it inherits."""
        package, place = self._package, self._package.say(folder)
        if place.count("/") > MOST_LEVELS:
            raise RowError(f"{place}: groups are nested deeper than {MOST_LEVELS}")
        own = package.find(*(f"{place}/{name}" for name in _GROUP_FILES))
        config = {**inherited, **(read_yaml(package, own) if own is not None else {})}
        children, before = package.children(folder), len(self._groups)
        names, tests = {path.name for path in children}, list[int]()
        for path in children:
            has_input = f"{path.stem}.in" in names
            if path.suffix in _BESIDE and (path.suffix == ".args" or has_input):
                raise RowError(f"{package.say(path)}: {_BESIDE[path.suffix]} are not supported")
            if path.suffix == ".ans" and not (has_input or self._note):
                self._note = f"{package.say(path)} has no input: add {path.stem}.in beside it"
            if path.is_dir() and (place != "data" or path.name in ("sample", "secret")):
                self._group(path, config)
            elif path.suffix == ".in" and place != "data":
                tests.append(len(self._tests))
                self._tests.append(self._test(path, names, config))
        rule = _rule(config) if self._scoring else ""
        if rule and place != "data":
            name = place.removeprefix("data/")
            inner = [g for g in self._groups[before:] if g["name"].rpartition("/")[0] == name]
            parts = [self._tests[i]["points"] for i in tests] + [g["points"] for g in inner]
            needs = words(config.get("require_pass"), "require_pass")
            self._groups.append({
                "name": name,
                "points": min(_most(name, config), _GIVES[rule](parts)) if parts else 0.0,
                "tests": tests,
                "groups": [group["name"] for group in inner],
                "rule": rule,
                "needs": [need for need in needs if need != name],
            })  # fmt: skip
        return config

    def _test(self, path: Path, names: set[str], config: Mapping[str, Any]) -> dict[str, Any]:
        package, answer = self._package, path.with_suffix(".ans")
        if answer.name not in names and not self._interactive and self._passes == 1:
            raise RowError(f"{package.say(path)} has no answer: add {answer.name} beside it")
        if f"{path.stem}.yaml" in names:
            config = {**config, **read_yaml(package, path.with_suffix(".yaml"))}
        score = number(config.get("accept_score", 1), f"{package.say(path)}: accept_score")
        return {
            "input": package.test_file(path),
            "output": package.test_file(answer) if answer.name in names else None,
            "name": package.say(path.with_suffix("")).removeprefix("data/"),
            "args": [word for key in _ARGS for word in words(config.get(key), key)],
            "points": score if self._scoring else None,
        }

    def _include_files(self) -> dict[str, dict[str, str]]:
        """Return the files of include/ by language: `default` or a name of the table."""
        package, folder = self._package, self._package.find("include")
        places = package.children(folder) if folder is not None and folder.is_dir() else []
        return {
            place.name.removesuffix("3"): {p.name: package.text(p) for p in package.walk(place)}
            for place in places
            if place.is_dir()
        }


def _rule(config: Mapping[str, Any]) -> str:
    flags = words(config.get("grader_flags"), "grader_flags")
    chosen = config.get("score_aggregation") or config.get("aggregation")
    name = next((flag for flag in reversed(flags) if flag in _RULES), str(chosen or "sum"))
    if name not in _RULES:
        raise RowError(f"score_aggregation is {shown(name)}: {', '.join(_RULES)} are known")
    if config.get("grading") == "custom":
        raise RowError("grading is custom: a grader program is not supported; use grader_flags")
    return _RULES[name]


def _most(name: str, config: Mapping[str, Any]) -> float:
    """Return the most points of a group: the end of its range."""
    given = config.get("max_score")
    if given is not None and given != "unbounded":
        return number(given, f"{name}: max_score")
    bounds = words(config.get("range"), f"{name}: range")
    return number(bounds[-1], f"{name}: range", most=math.inf) if bounds else math.inf

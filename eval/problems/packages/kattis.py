"""Kattis' and ICPC's problem packages, legacy and 2023-07 to 2025-09, and DOMjudge's.

    problem.yaml  domjudge-problem.ini  .timelimit        limits, kind, validator
    data/sample/1.in 1.ans  data/secret/…                 tests; folders are groups
    data/…/testdata.yaml | test_group.yaml                points, arguments of the validator
    output_validators/…  output_validator/                the validator, else the default one
    include/default  include/cpp …                        files beside the submissions
    submissions/accepted …  submissions.yaml              submissions.py

How a group of a problem with scores gets its points:

    legacy, 2023-07  grader_flags, accept_score of each test and the end of `range`, all inherited
    2025-09          score_aggregation, pass-fail but for secret's sum, and max_score, of which its
                     tests have equal parts

What is refused in words: static validators, submissions of answers, tests with files or arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.files import mapping, number, read_ini, read_yaml, words
from gradebox.eval.problems.packages.making import ProblemPackage
from gradebox.eval.problems.packages.submissions import LANGUAGES, kattis_submissions
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
_OWN = ("max_score", "score_aggregation", "require_pass")  # inherited in no format that has them
# names of rules → ours; what a group of such a rule gives at most, by the points of its parts
_RULES = {"min": "min", "sum": "sum", "max": "max", "avg": "avg", "pass-fail": "all"}
_GIVES: Mapping[str, Callable[[list[float]], float]]
_GIVES = {"min": min, "all": min, "max": max, "sum": sum, "avg": mean}
_BESIDE = {".files": "files beside the input", ".args": "arguments of the program"}


def kattis_row(package: ProblemPackage) -> dict[str, Any]:
    """Return the row of a package. Raises RowError."""
    return _Reader(package).row()


class _Reader:
    """Reads one package, by what its problem.yaml says of the problem's kind."""

    def __init__(self, package: ProblemPackage) -> None:
        self._package = package
        self._config = config = read_yaml(package, "problem.yaml")
        self._ini = read_ini(package, "domjudge-problem.ini")
        self._limits = mapping(config.get("limits"), "problem.yaml: limits")
        version = str(config.get("problem_format_version") or "legacy")
        self._legacy, self._by_most = version in LEGACY, version.startswith("2025-")
        if not self._legacy and not version.startswith(NEW):
            raise RowError(
                f"problem.yaml: problem_format_version {shown(version)} is unknown: legacy, "
                "2023-07 and 2025-09 are read"
            )
        kinds = {w for key in ("type", "validation") for w in self._words(key)}
        if unknown := sorted(kinds - _KINDS):
            answers = " (submissions are answers, not programs)" * (unknown[0] == "submit-answer")
            raise RowError(f"problem.yaml: type {unknown[0]}{answers} is not supported")
        if static := package.find("static_validator", "static_validators"):
            raise RowError(
                f"{package.say(static)} judges the text of a submission, which is not supported: "
                "remove it to grade by the tests alone"
            )
        passes = self._limits.get("validation_passes", PASSES)
        passes = number(passes, "validation_passes", least=1, most=100)
        self._passes = int(passes) if "multi-pass" in kinds else 1
        self._scoring = bool(kinds & {"scoring", "score"})
        self._interactive = "interactive" in kinds
        self._tests: list[dict[str, Any]] = []
        self._groups: list[dict[str, Any]] = []  # inner ones first
        self._note = ""  # of a fault that leaves the package usable

    def _words(self, key: str) -> list[str]:
        return words(self._config.get(key), f"problem.yaml: {key}")

    def row(self) -> dict[str, Any]:
        """Return the row. Raises RowError."""
        package = self._package
        if not package.folder("data"):
            raise RowError(
                "data is missing: a package has its tests in data/sample and data/secret"
            )
        self._group(package.root / "data", {})
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
            "include_files": {  # by language: `default` or a name of the table
                place.name.removesuffix("3"): {p.name: package.text(p) for p in package.walk(place)}
                for place in filter(Path.is_dir, package.folder("include"))
            },
            "gold_solutions": kattis_submissions(package),
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
        stated = [
            number(v, w, least=1e-3, most=3600) for w, v in given.items() if v not in (None, "")
        ]
        factors = {"time_multiplier": 5.0, "time_safety_margin": 2.0}, limits
        if not self._legacy:
            own_factors = mapping(limits.get("time_multipliers"), "problem.yaml: time_multipliers")
            factors = {"ac_to_time_limit": 2.0, "time_limit_to_tle": 1.5}, own_factors
        ac, tle = (
            number(factors[1].get(name, usual), name, least=1, most=1e3)
            for name, usual in factors[0].items()
        )
        step = number(limits.get("time_resolution", 1), "time_resolution", least=1e-3, most=1e3)
        return {
            "time_limit": stated[0] if stated else None,
            "memory_limit": number(limits.get("memory") or MEMORY_MB, "limits: memory", least=1),
            "time_rule": TimeRule(ac, tle, step, bool(stated)),
        }

    def _judge(self) -> dict[str, Any]:
        """Return the columns of the default validator, of a program, or of an interactor."""
        package, flags = self._package, self._words("validator_flags")
        needed = self._interactive or self._passes > 1
        place = package.find("output_validator")
        if not self._legacy or needed or "custom" in self._words("validation"):
            place = place or package.find("output_validators")  # it may be left over
        if place is None and not needed:
            return {"checker": " ".join(("kattis", *flags))}
        role = "interactor" if self._interactive else "checker"
        protocol = "kattis-scoring" if self._scoring else "kattis"
        return package.judge(self._validator(place), role, protocol, extra_args=flags)

    def _validator(self, place: Path | None) -> Path:
        """Return the one program of a place, a file or the folder of its files."""
        found = [] if place is None else [place]
        while len(found) == 1 and found[0].is_dir():
            place, inside = found[0], self._package.children(found[0])
            found = [path for path in inside if path.is_dir() or path.suffix in LANGUAGES]
        if place is None or not found:
            raise RowError("there is no validator: put one into output_validator")
        folders = [path for path in found if path.is_dir()]
        if folders:
            raise RowError(
                f"{self._package.say(place)} has {len(found)} validators, such as "
                f"{folders[0].name}: keep one"
            )
        return found[0] if len(found) == 1 else place

    # ---- tests and groups ----

    def _group(self, folder: Path, inherited: Mapping[str, Any]) -> list[int]:
        """Read a folder of tests and those in it; return the tests that are in no group yet."""
        package, place = self._package, self._package.say(folder)
        if place.count("/") > MOST_LEVELS:
            raise RowError(f"{place}: groups are nested deeper than {MOST_LEVELS}")
        own = read_yaml(package, *(f"{place}/{name}" for name in _GROUP_FILES))
        config = {**inherited, **own}
        if config.get("grading") == "custom":
            raise RowError("grading is custom: a grader program is not supported; use grader_flags")
        children, before = package.children(folder), len(self._groups)
        names, tests = {path.name for path in children}, list[int]()
        for path in children:
            has_input = f"{path.stem}.in" in names
            if path.suffix in _BESIDE and (path.suffix == ".args" or has_input):
                raise RowError(f"{package.say(path)}: {_BESIDE[path.suffix]} are not supported")
            if path.suffix == ".ans" and not (has_input or self._note):
                self._note = f"{package.say(path)} has no input: add {path.stem}.in beside it"
            if path.is_dir() and (place != "data" or path.name in ("sample", "secret")):
                tests += self._group(path, {k: v for k, v in config.items() if k not in _OWN})
            elif path.suffix == ".in" and place != "data":
                tests.append(len(self._tests))
                self._tests.append(self._test(path, names, config))
        is_group = own or not self._by_most or place.count("/") == 1
        if not (self._scoring and is_group) or place == "data":
            return tests
        ignores = "ignore_sample" in words(inherited.get("grader_flags"), "grader_flags")
        below, name = self._groups[before:], place.removeprefix("data/")
        self._add_group(name, config, tests, below, ignores or self._by_most)
        return []

    def _add_group(
        self,
        name: str,
        config: Mapping[str, Any],
        tests: list[int],
        below: list[dict[str, Any]],
        ignores_sample: bool,
    ) -> None:
        """Add the group of a folder, and the points of its tests."""
        usual = "pass-fail" if self._by_most and name != "secret" else "sum"
        rule, most = _rule(config, usual), _most(name, config)
        if self._by_most:
            most = 100.0 if name == "secret" and most is None else most
            share = 1.0 if most is None else most / (len(tests) or 1 if rule == "sum" else 1)
            for i in tests:
                self._tests[i]["points"] = share
        inner = [group for group in below if group["name"].rpartition("/")[0] == name]
        parts = [self._tests[i]["points"] for i in tests] + [group["points"] for group in inner]
        points = min(math.inf if most is None else most, _GIVES[rule](parts)) if parts else 0.0
        if rule == "all" and most is not None:
            points = most
        if name == "sample" and ignores_sample:
            points = 0.0
        self._groups.append({
            "name": name,
            "points": points,
            "tests": tests,
            "groups": [group["name"] for group in inner],
            "rule": rule,
            "needs": words(config.get("require_pass"), "require_pass"),
        })  # fmt: skip

    def _test(self, path: Path, names: set[str], config: Mapping[str, Any]) -> dict[str, Any]:
        package, answer = self._package, path.with_suffix(".ans")
        if answer.name not in names and not self._interactive and self._passes == 1:
            raise RowError(f"{package.say(path)} has no answer: add {answer.name} beside it")
        place = package.say(path.with_suffix(""))
        if f"{path.stem}.yaml" in names:
            config = {**config, **read_yaml(package, f"{place}.yaml")}
        score = number(config.get("accept_score", 1), f"{package.say(path)}: accept_score")
        return {
            "input": path,
            "output": answer if answer.name in names else None,
            "name": place.removeprefix("data/"),
            "args": [word for key in _ARGS for word in words(config.get(key), key)],
            "points": score if self._scoring else None,
        }


def _rule(config: Mapping[str, Any], usual: str) -> str:
    flags = words(config.get("grader_flags"), "grader_flags")
    chosen = config.get("score_aggregation") or config.get("aggregation") or usual
    name = next((flag for flag in reversed(flags) if flag in _RULES), str(chosen))
    if name not in _RULES:
        raise RowError(f"score_aggregation is {shown(name)}: {', '.join(_RULES)} are known")
    return _RULES[name]


def _most(name: str, config: Mapping[str, Any]) -> float | None:
    """Return the most points of a group: the end of its range; None without one."""
    given = config.get("max_score")
    if given is not None and given != "unbounded":
        return number(given, f"{name}: max_score")
    bounds = words(config.get("range"), f"{name}: range")
    return number(bounds[-1], f"{name}: range", most=math.inf) if bounds else None

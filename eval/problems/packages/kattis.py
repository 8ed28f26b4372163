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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.documents import mapping, number, read_ini, read_yaml, words
from gradebox.eval.problems.packages.files import PackageFiles
from gradebox.eval.problems.packages.judges import Role, judge_program
from gradebox.eval.problems.packages.submissions import kattis_submissions

MARKERS = ("problem.yaml", "domjudge-problem.ini")
LEGACY = frozenset(("legacy", "legacy-icpc", "icpc"))
NEW = ("2023-07", "2025-")
MEMORY_MB = 2048
PASSES = 2
_GROUP_FILES = ("test_group.yaml", "testdata.yaml")
_ARGS = ("output_validator_args", "output_validator_flags")
_RULES = {"min": "min", "sum": "sum", "max": "max", "avg": "avg", "pass-fail": "all"}
_BESIDE = {"files": "files beside the input", "args": "arguments of the program"}


@dataclass(frozen=True)
class _Kind:
    """What problem.yaml says.

    flags  of the validator, for every test
    """

    legacy: bool
    scoring: bool
    interactive: bool
    passes: int
    custom: bool
    flags: list[str]


@dataclass
class _Group:
    """A folder of tests while it is read; `config` has what it inherits."""

    name: str
    config: Mapping[str, Any]
    tests: list[int] = field(default_factory=list)
    groups: list[_Group] = field(default_factory=list)
    points: float = 0.0


def kattis_row(package: PackageFiles) -> dict[str, Any]:
    """Return the row of a package. Raises RowError."""
    path = package.find("problem.yaml")
    config = {} if path is None else read_yaml(package, path)
    ini = package.find("domjudge-problem.ini")
    settings = {} if ini is None else read_ini(package, ini)
    kind = _kind(package, config)
    limits = mapping(config.get("limits"), "problem.yaml: limits")
    tests, root = _read_tests(package, kind)
    if not tests:
        raise RowError("data has no test: put .in and .ans files into data/secret")
    return {
        "title": _title(config, settings),
        **_limits(package, limits, settings, kind),
        **_judge(package, kind),
        "official_tests": tests,
        "subtasks": list(_subtasks(root)) if kind.scoring else None,
        "passes": kind.passes,
        "include_files": _include_files(package),
        "gold_solutions": kattis_submissions(package),
    }


def _title(config: Mapping[str, Any], settings: Mapping[str, str]) -> str:
    name = config.get("name") or settings.get("name") or ""
    if isinstance(name, dict):
        name = name.get("en") or next(iter(name.values()), "")
    return str(name)[:200]


def _kind(package: PackageFiles, config: Mapping[str, Any]) -> _Kind:
    version = str(config.get("problem_format_version") or "legacy")
    legacy = version in LEGACY
    if not legacy and not version.startswith(NEW):
        raise RowError(
            f"problem.yaml: problem_format_version {shown(version)} is unknown: legacy, 2023-07 "
            "and 2025-09 are read"
        )
    validation = words(config.get("validation"), "problem.yaml: validation")
    kinds = {*words(config.get("type"), "problem.yaml: type"), *validation}
    known = {"pass-fail", "scoring", "interactive", "multi-pass", "default", "custom", "score"}
    unknown = sorted(kinds - known)
    if unknown:
        answers = " (submissions are answers, not programs)" * (unknown[0] == "submit-answer")
        raise RowError(f"problem.yaml: type {unknown[0]}{answers} is not supported")
    static = package.find("static_validator", "static_validators")
    if static is not None:
        raise RowError(
            f"{package.say(static)} judges the text of a submission, which is not supported: "
            "remove it to grade by the tests alone"
        )
    limits = mapping(config.get("limits"), "problem.yaml: limits")
    given = number(limits.get("validation_passes", PASSES), "validation_passes", least=1, most=100)
    custom = package.find("output_validator") is not None or (
        package.find("output_validators") is not None and (not legacy or "custom" in validation)
    )
    return _Kind(
        legacy=legacy,
        scoring=bool(kinds & {"scoring", "score"}),
        interactive="interactive" in kinds,
        passes=int(given) if "multi-pass" in kinds else 1,
        custom=custom,
        flags=words(config.get("validator_flags"), "problem.yaml: validator_flags"),
    )


def _limits(
    package: PackageFiles, limits: Mapping[str, Any], settings: Mapping[str, str], kind: _Kind
) -> dict[str, Any]:
    """Return the limits, and the rule by which a time limit follows from the submissions."""
    own = package.find(".timelimit")
    stated = limits.get("time_limit") or settings.get("timelimit")
    if stated is None and own is not None:
        stated = package.text(own, 100).strip()
    factors = mapping(limits.get("time_multipliers"), "problem.yaml: time_multipliers")
    if kind.legacy:
        factors = {
            "ac_to_time_limit": limits.get("time_multiplier", 5),
            "time_limit_to_tle": limits.get("time_safety_margin", 2),
        }
    seconds = None if stated is None else number(stated, "the time limit", least=0.001, most=3600)
    return {
        "time_limit": seconds,
        "memory_limit": number(limits.get("memory") or MEMORY_MB, "limits: memory", least=1),
        "time_rule": {
            "ac": number(factors.get("ac_to_time_limit", 2), "ac_to_time_limit", least=1, most=1e3),
            "tle": number(
                factors.get("time_limit_to_tle", 1.5), "time_limit_to_tle", least=1, most=1e3
            ),
            "resolution": number(
                limits.get("time_resolution", 1), "time_resolution", least=1e-3, most=1e3
            ),
            "stated": seconds is not None,
        },
    }


# ---- validators ----


def _judge(package: PackageFiles, kind: _Kind) -> dict[str, Any]:
    """Return the columns of the default validator, of a program, or of an interactor."""
    if not kind.custom and not kind.interactive and kind.passes == 1:
        return {"checker": " ".join(("kattis", *kind.flags))}
    place = _validator(package)
    role: Role = "interactor" if kind.interactive else "checker"
    protocol = "kattis-scoring" if kind.scoring else "kattis"
    return {"judge_program": judge_program(package, place, role, protocol, kind.flags)}


def _validator(package: PackageFiles) -> Path:
    """Return the one validator, a file or a folder."""
    own = package.find("output_validator")
    if own is not None:
        found = package.children(own) if own.is_dir() else [own]
        return found[0] if len(found) == 1 else own
    folder = package.find("output_validators")
    found = [] if folder is None else package.children(folder)
    programs = [p for p in found if p.is_dir() or p.suffix not in (".h", ".md", ".txt", ".hpp")]
    if not programs or folder is None:
        raise RowError("there is no validator: put one into output_validator")
    if len(programs) == 1:
        inner = package.children(programs[0]) if programs[0].is_dir() else []
        return inner[0] if len(inner) == 1 else programs[0]
    if all(path.is_file() for path in programs):
        return folder
    raise RowError(
        f"output_validators has {len(programs)} validators, such as {programs[1].name}: keep one"
    )


# ---- tests and groups ----


def _read_tests(package: PackageFiles, kind: _Kind) -> tuple[list[dict[str, Any]], _Group]:
    data = package.find("data")
    tests: list[dict[str, Any]] = []
    if data is None or not data.is_dir():
        raise RowError("data is missing: a package has its tests in data/sample and data/secret")
    root = _Group("data", _config(package, data, {}))
    for name in ("sample", "secret"):
        folder = package.find(f"data/{name}")
        if folder is not None and folder.is_dir():
            root.groups.append(_read_group(package, kind, folder, root.config, tests, 0))
    return tests, root


def _config(package: PackageFiles, folder: Path, inherited: Mapping[str, Any]) -> dict[str, Any]:
    for name in _GROUP_FILES:
        path = package.find(package.say(folder) + "/" + name)
        if path is not None:
            return {**inherited, **read_yaml(package, path)}
    return dict(inherited)


def _read_group(
    package: PackageFiles,
    kind: _Kind,
    folder: Path,
    inherited: Mapping[str, Any],
    tests: list[dict[str, Any]],
    depth: int,
) -> _Group:
    if depth > 8:
        raise RowError(f"{package.say(folder)}: groups are nested deeper than 8")
    group = _Group(package.say(folder).removeprefix("data/"), _config(package, folder, inherited))
    children = package.children(folder)
    names = {path.name for path in children}
    for path in children:
        if path.is_dir():
            ending = path.suffix.removeprefix(".")
            if ending in _BESIDE and f"{path.stem}.in" in names:
                raise RowError(f"{package.say(path)}: {_BESIDE[ending]} are not supported")
            group.groups.append(_read_group(package, kind, path, group.config, tests, depth + 1))
        elif path.suffix == ".args":
            raise RowError(f"{package.say(path)}: {_BESIDE['args']} are not supported")
        elif path.suffix == ".in":
            group.tests.append(len(tests))
            tests.append(_test(package, kind, path, names, group))
    _count_points(group, tests, kind)
    return group


def _test(
    package: PackageFiles, kind: _Kind, path: Path, names: set[str], group: _Group
) -> dict[str, Any]:
    answer, config = path.with_suffix(".ans"), dict(group.config)
    if answer.name not in names and not kind.interactive and kind.passes == 1:
        raise RowError(f"{package.say(path)} has no answer: add {answer.name} beside it")
    if f"{path.stem}.yaml" in names:
        config |= read_yaml(package, path.with_suffix(".yaml"))
    args = [word for key in _ARGS for word in words(config.get(key), key)]
    test: dict[str, Any] = {
        "input": package.test_file(path),
        "output": package.test_file(answer) if answer.name in names else None,
        "name": package.say(path.with_suffix("")).removeprefix("data/"),
    }
    if args:
        test["args"] = args
    if kind.scoring:
        test["points"] = number(config.get("accept_score", 1), "accept_score")
    return test


def _count_points(group: _Group, tests: list[dict[str, Any]], kind: _Kind) -> None:
    """Set the points of a group: the end of its range, else what its tests and groups give."""
    if not kind.scoring:
        return
    given = group.config.get("max_score") if "max_score" in group.config else None
    bounds = words(group.config.get("range"), f"{group.name}: range")
    end = number(bounds[-1], f"{group.name}: range", most=math.inf) if bounds else math.inf
    if given is not None and given != "unbounded":
        end = number(given, f"{group.name}: max_score")
    parts = [tests[i]["points"] for i in group.tests] + [g.points for g in group.groups]
    rule = _rule(group.config)
    made = {"min": min, "max": max, "all": min}.get(rule, sum)(parts) if parts else 0.0
    if rule == "avg" and parts:
        made = sum(parts) / len(parts)
    group.points = min(end, made) if math.isfinite(end) or not bounds else made


def _rule(config: Mapping[str, Any]) -> str:
    flags = words(config.get("grader_flags"), "grader_flags")
    chosen = config.get("score_aggregation") or config.get("aggregation")
    name = next((flag for flag in reversed(flags) if flag in _RULES), str(chosen or "sum"))
    if name not in _RULES:
        raise RowError(f"score_aggregation is {shown(name)}: {', '.join(_RULES)} are known")
    if config.get("grading") == "custom":
        raise RowError("grading is custom: a grader program is not supported; use grader_flags")
    return _RULES[name]


def _subtasks(root: _Group) -> Iterator[dict[str, Any]]:
    """Yield the groups, inner ones first; samples give points only where they have some."""
    ignore = "ignore_sample" in words(root.config.get("grader_flags"), "grader_flags")
    for group in root.groups:
        yield from _subtask(group, 0.0 if group.name == "sample" and ignore else None)


def _subtask(group: _Group, points: float | None = None) -> Iterator[dict[str, Any]]:
    for inner in group.groups:
        yield from _subtask(inner)
    needs = words(group.config.get("require_pass"), "require_pass")
    yield {
        "name": group.name,
        "points": group.points if points is None else points,
        "tests": group.tests,
        "groups": [inner.name for inner in group.groups],
        "rule": _rule(group.config),
        "needs": [name for name in needs if name != group.name],
    }


def _include_files(package: PackageFiles) -> dict[str, dict[str, str]]:
    """Return the files of include/ by language: `default` or a name of the table."""
    folder, found = package.find("include"), dict[str, dict[str, str]]()
    for place in [] if folder is None or not folder.is_dir() else package.children(folder):
        if place.is_dir():
            name = {"cpp": "cpp", "python3": "python"}.get(place.name, place.name)
            found[name] = {path.name: package.text(path) for path in package.walk(place)}
    return found

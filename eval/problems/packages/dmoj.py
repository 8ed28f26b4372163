"""DMOJ's problems: init.yml.

    archive: tests.zip                       unpacked into the temporary folder
    test_cases: [{in, out, points}, {batched: […], points, dependencies: [1]}]
    generator: gen.cpp                       makes an input, and on stderr the output, in the box
    checker: floats | check.py | bridged     dmoj_checkers.py runs DMOJ's own and `check` functions
    interactive: {files: …}                  an interactor
    tests/NAME/test.yml                      submissions with the verdicts that they must have

A site sets the limits of a problem, so that init.yml has none: the submissions' are taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.dmoj_checkers import CHECKERS
from gradebox.eval.problems.packages.files import PackageFiles, mapping, number, read_yaml, words
from gradebox.eval.problems.packages.making import STDERR_BYTES, ProblemPackage, judge_column
from gradebox.eval.problems.packages.submissions import (
    expectation,
    language_of,
    verdicts_of,
)
from gradebox.eval.problems.problem import Expectation
from gradebox.sandbox.model import Program

MARKERS = ("init.yml",)
TIME_S, MEMORY_KB = 2, 256 << 10
# OJBench's judge has these limits for all its packages, in NOI and ICPC beside the prompts
OJBENCH, OJBENCH_LIMITS = "prompts/full.jsonl", {"time_limit": 10.0, "memory_limit": 1024.0}
_REFUSED = {
    "custom_judge": "a judge in Python that runs the submission itself",
    "signature_grader": "submissions that are linked with a handler",
    "grader": "a grader of its own",
}
# (role, type) of a program in a file → its protocol, and more of the column of a judge
_BRIDGED: Mapping[tuple[str, str], tuple[str, Mapping[str, Any]]] = {
    ("checker", "default"): ("command", {"args": ["{input}", "{output}", "{answer}"]}),
    ("checker", "testlib"): ("testlib", {}),
    ("interactor", "testlib"): ("testlib", {}),
}


def dmoj_row(package: ProblemPackage) -> dict[str, Any]:
    """Return the row of a problem. Raises RowError."""
    config = read_yaml(package, "init.yml")
    for key, why in _REFUSED.items():
        if config.get(key):
            raise RowError(f"init.yml has {key}, {why}, which is not supported")
    tests, groups = _Cases(package, config).read()
    submissions = list(_submissions(package, [test["name"] for test in tests]))
    return {
        "time_limit": max((time for _, time, _ in submissions), default=None),
        "memory_limit": max((size for *_, size in submissions), default=MEMORY_KB) / 1024,
        **_judge(package, config),
        "official_tests": tests,
        "subtasks": groups,
        "gold_solutions": [one for one, *_ in submissions if one is not None],
        **(OJBENCH_LIMITS if (package.root.parent.parent / OJBENCH).is_file() else {}),
    }


# ---- tests ----


class _Cases:
    """The tests of test_cases, and a group for each batch and each case outside a batch."""

    def __init__(self, package: ProblemPackage, config: Mapping[str, Any]) -> None:
        self._package, self._config = package, config
        self._places: list[PackageFiles] = [package]  # where files of tests are looked for
        if name := config.get("archive"):
            folder = package.maker.unpacked(package.need(str(name), "init.yml: archive"))
            self._places.insert(0, PackageFiles(folder))

    def read(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the tests and the groups."""
        cases = self._config.get("test_cases")
        if not isinstance(cases, list) or not cases:
            raise RowError("init.yml has no list of test_cases: list them, patterns are not read")
        tests: list[dict[str, Any]] = []
        groups: list[dict[str, Any]] = []
        for place, case in enumerate(cases, 1):
            where, first = f"of case {place}", len(tests)
            common = {**self._config, **mapping(case, f"init.yml: test_cases: {place}")}
            points = number(common.get("points", 1), f"points {where}")
            batch = common.get("batched")
            if batch is None:
                tests.append({**self._test(f"{place}", common), "points": points})
            elif not isinstance(batch, list):
                raise RowError(f"init.yml: batched {where} is {shown(batch)}: give a list")
            for i, one in enumerate(batch or (), 1):
                inner = mapping(one, f"init.yml: case {place}.{i}")
                tests.append(self._test(f"{place}.{i}", {**common, **inner}))
            groups.append({
                "name": f"{place}",
                "points": points,
                "tests": list(range(first, len(tests))),
                "needs": words(common.get("dependencies"), f"init.yml: dependencies {where}"),
            })  # fmt: skip
        return tests, groups

    def _test(self, name: str, case: Mapping[str, Any]) -> dict[str, Any]:
        given, answer = (self._file(case.get(key), name) for key in ("in", "out"))
        if case.get("generator") and None in (given, answer):
            made = self._generate(case, name)
            given, answer = given or made[0], answer or made[1]
        return {"input": given or "", "output": answer or "", "name": name}

    def _file(self, given: Any, case: str) -> Path | None:
        """Return a file that a case names, if it does. Raises RowError."""
        if not given:
            return None
        found = next(filter(None, (place.find(str(given)) for place in self._places)), None)
        return found or self._package.need(str(given), f"init.yml: case {case}")

    def _generate(self, case: Mapping[str, Any], name: str) -> tuple[Path, Path]:
        """Return the input and the output that a generator writes to stdout and stderr."""
        package, settings = self._package, case["generator"]
        source = settings.get("source") if isinstance(settings, dict) else settings
        path = _first_file(package, source, f"init.yml: generator of case {name}")
        protocol = "testlib" if b"testlib.h" in package.bytes(path) else "kattis"
        args = words(case.get("generator_args"), f"init.yml: generator_args of case {name}")
        given, who = self._file(case.get("generator_in"), name), f"{path.name} (case {name})"
        made = package.maker.make(package.program(path, protocol), args, who, given)
        if made[1].stat().st_size >= STDERR_BYTES:
            raise RowError(
                f"{who} writes {STDERR_BYTES} bytes or more to stderr, of which no more is kept: "
                "put the outputs into files"
            )
        return made


def _first_file(package: ProblemPackage, given: Any, why: str) -> Path:
    """Return the file, or the first of those, that a key names. Raises RowError."""
    return package.need(str(given[0] if isinstance(given, list) and given else given), why)


# ---- checkers ----


def _judge(package: ProblemPackage, config: Mapping[str, Any]) -> dict[str, Any]:
    if interactive := config.get("interactive"):
        return _bridged(package, mapping(interactive, "init.yml: interactive"), "interactor")
    checker = config.get("checker") or "standard"
    settings = checker if isinstance(checker, dict) else {"name": checker}
    name, args = str(settings.get("name")), mapping(settings.get("args"), "init.yml: checker: args")
    if name == "bridged":
        return _bridged(package, args, "checker")
    here = Path(__file__).with_name("dmoj_checkers.py").read_bytes()
    files = {"main.py": here, "settings.json": json.dumps({"name": name, "args": args}).encode()}
    if name not in CHECKERS:
        path = package.need(name, "init.yml: checker")
        if path.suffix != ".py":
            raise RowError(f"init.yml: checker {shown(name)}: give a name of DMOJ's, or a .py file")
        files["own_checker.py"] = package.bytes(path)
    return judge_column(Program("python", files), "checker", "python", name, full_points=1.0)


def _bridged(package: ProblemPackage, args: Mapping[str, Any], role: str) -> dict[str, Any]:
    place = _first_file(package, args.get("files"), f"init.yml: {role}: files")
    kind = str(args.get("type", "default"))
    if (role, kind) not in _BRIDGED or args.get("args_format_string"):
        raise RowError(
            f"init.yml: {role} has type {shown(kind)} or args_format_string: checkers of types "
            "default and testlib, interactors of type testlib are supported"
        )
    protocol, more = _BRIDGED[role, kind]
    return package.judge(place, role, protocol, **more)


# ---- submissions ----


def _submissions(
    package: ProblemPackage, tests: Sequence[str]
) -> Iterator[tuple[dict[str, Any] | None, float, float]]:
    """Yield the submissions that tests/*/test.yml describe, with their limits in seconds and KB.

    None stands for one of which a fault of the judge is expected.
    """
    for place in package.folder("tests"):
        where = f"tests/{place.name}/test.yml"
        if package.find(where) is None:
            continue
        config = read_yaml(package, where)
        time = number(config.get("time", TIME_S), f"{where}: time", least=0.001)
        size = number(config.get("memory", MEMORY_KB), f"{where}: memory", least=0.001)
        sources = [
            package.need(f"tests/{place.name}/{name}", where)
            for name in words(config.get("source"), f"{where}: source") or [""]
        ]
        language = language_of(sources[0].suffix, str(config.get("language", "")))
        cases, names = config.get("cases") or {}, words(config.get("expect") or "AC", where)
        if isinstance(cases, list):
            cases = dict(enumerate(cases, 1))
        cases = mapping(cases, f"{where}: cases")  # verdicts by number; SC: it is skipped
        by_test = [
            Expectation(test, verdicts_of(words(cases[f"{i}"], where), where))
            for i, test in enumerate(tests, 1)
            if cases.get(f"{i}") not in (None, "SC")
        ]
        if not cases and {"IE", "*"} & {*names}:
            yield None, time, size
            continue
        known = {
            "name": place.name,
            "language": language,
            "files": {source.name: package.text(source) for source in sources},
            "expected": by_test if cases else [expectation(names, where)],
            "whole": bool(cases),
        }
        yield known, time, size

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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.checkers.interactive import judge_fields
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.dmoj_checkers import CHECKERS
from gradebox.eval.problems.packages.files import PackageFiles, mapping, number, read_yaml, words
from gradebox.eval.problems.packages.making import Maker, Role, judge_program, read_judge
from gradebox.eval.problems.packages.submissions import (
    expectation,
    item,
    language_of,
    verdicts_of,
)
from gradebox.eval.problems.problem import Expectation
from gradebox.sandbox.model import Program

MARKERS = ("init.yml",)
TIME_S, MEMORY_MB = 2, 256
_REFUSED = {
    "custom_judge": "a judge in Python that runs the submission itself",
    "signature_grader": "submissions that are linked with a handler",
    "grader": "a grader of its own",
}
# (role, type) of a program in a file → its protocol
_PROTOCOLS = {
    ("checker", "default"): "command",
    ("checker", "testlib"): "testlib",
    ("interactor", "testlib"): "testlib",
}


def dmoj_row(package: PackageFiles, maker: Maker) -> dict[str, Any]:
    """Return the row of a problem. Raises RowError."""
    config = read_yaml(package, package.need("init.yml", "the package"))
    for key, why in _REFUSED.items():
        if config.get(key):
            raise RowError(f"init.yml has {key}, {why}, which is not supported")
    tests, groups = _Cases(package, maker, config).read()
    submissions = list(_submissions(package))
    times, sizes = (
        [number(d.get(key, usual), f"test.yml: {key}", least=0.001) for _, d, _ in submissions]
        for key, usual in (("time", TIME_S), ("memory", MEMORY_MB << 10))
    )
    names = [test["name"] for test in tests]
    return {
        "time_limit": max(times, default=None),
        "memory_limit": max(sizes, default=MEMORY_MB << 10) / 1024,
        **_judge(package, config),
        "official_tests": tests,
        "subtasks": groups,
        "gold_solutions": [one for given in submissions for one in _items(*given, names)],
    }


# ---- tests ----


class _Cases:
    """The tests of test_cases, and a group for each batch and each case outside a batch."""

    def __init__(self, package: PackageFiles, maker: Maker, config: Mapping[str, Any]) -> None:
        self._package, self._maker, self._config = package, maker, config
        self._archive: PackageFiles | None = None
        if name := config.get("archive"):
            folder = maker.unpacked(package.need(str(name), "init.yml: archive"))
            self._archive = PackageFiles(folder, str(name))

    def read(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the tests and the groups."""
        cases = self._config.get("test_cases")
        if not isinstance(cases, list) or not cases:
            raise RowError("init.yml has no list of test_cases: list them, patterns are not read")
        tests: list[dict[str, Any]] = []
        groups: list[dict[str, Any]] = []
        for place, case in enumerate(cases, 1):
            where = f"of case {place}"
            own = mapping(case, f"init.yml: test_cases: {place}")
            points = number(own.get("points", self._config.get("points", 1)), f"points {where}")
            batch = own.get("batched")
            if batch is not None and not isinstance(batch, list):
                raise RowError(f"init.yml: batched {where} is {shown(batch)}: give a list")
            needs = words(own.get("dependencies"), f"init.yml: dependencies {where}")
            first, common = len(tests), {**self._config, **own}
            if batch is None:
                tests.append({**self._test(f"{place}", common), "points": points})
            for i, one in enumerate(batch or (), 1):
                name = f"{place}.{i}"
                inner = mapping(one, f"init.yml: case {name}")
                tests.append(self._test(name, {**common, **inner}))
            indices = list(range(first, len(tests)))
            groups.append({"name": f"{place}", "points": points, "tests": indices, "needs": needs})
        return tests, groups

    def _test(self, name: str, case: Mapping[str, Any]) -> dict[str, Any]:
        paths = [self._need(case[key], name) if case.get(key) else None for key in ("in", "out")]
        if case.get("generator") and None in paths:
            made = self._generate(case, name)
            paths = [path or own for path, own in zip(paths, made, strict=True)]
        return {"input": paths[0] or "", "output": paths[1] or "", "name": name}

    def _need(self, name: Any, case: str) -> Path:
        """Return a file that a case names, of the archive or beside init.yml. Raises RowError."""
        text, archive = str(name), self._archive
        place = archive if archive is not None and archive.find(text) else self._package
        return place.test_file(place.need(text, f"init.yml: case {case}"))

    def _generate(self, case: Mapping[str, Any], name: str) -> list[Path]:
        """Return the input and the output that a generator writes to stdout and stderr."""
        settings = case["generator"]
        source = settings.get("source") if isinstance(settings, dict) else settings
        source = source[0] if isinstance(source, list) and source else source
        path = self._package.need(str(source), f"init.yml: generator of case {name}")
        kind = "testlib" if b"testlib.h" in self._package.bytes(path) else "kattis"
        program = read_judge(self._package, path, kind)
        args = words(case.get("generator_args"), f"init.yml: generator_args of case {name}")
        given = self._need(case["generator_in"], name) if case.get("generator_in") else None
        return self._maker.make(program, args, f"{path.name} (case {name})", ("", "stderr"), given)


# ---- checkers ----


def _judge(package: PackageFiles, config: Mapping[str, Any]) -> dict[str, Any]:
    if interactive := config.get("interactive"):
        return _bridged(package, mapping(interactive, "init.yml: interactive"), "interactor")
    checker = config.get("checker") or "standard"
    settings = checker if isinstance(checker, dict) else {"name": checker}
    name, args = str(settings.get("name")), mapping(settings.get("args"), "init.yml: checker: args")
    if name == "bridged":
        return _bridged(package, args, "checker")
    here = Path(__file__).with_name("dmoj_checkers.py").read_text()
    files = {"main.py": here, "settings.json": json.dumps({"name": name, "args": args})}
    if name not in CHECKERS:
        path = package.need(name, "init.yml: checker")
        if path.suffix != ".py":
            raise RowError(f"init.yml: checker {shown(name)}: give a name of DMOJ's, or a .py file")
        files["own_checker.py"] = package.text(path)
    program = Program("python", {n: t.encode("utf-8", "surrogateescape") for n, t in files.items()})
    judge = judge_fields("checker", PROTOCOLS["python"], program, name=name, full_points=1.0)
    return {"judge_program": judge}


def _bridged(package: PackageFiles, args: Mapping[str, Any], role: Role) -> dict[str, Any]:
    names = args.get("files")
    first = names[0] if isinstance(names, list) and names else names
    place = package.need(str(first), f"init.yml: {role}: files")
    kind = str(args.get("type", "default"))
    protocol = _PROTOCOLS.get((role, kind))
    if protocol is None or args.get("args_format_string"):
        raise RowError(
            f"init.yml: {role} has type {shown(kind)} or args_format_string: checkers of types "
            "default and testlib, interactors of type testlib are supported"
        )
    judge = judge_program(package, place, role, protocol)
    if protocol == "command":
        judge["judge_program"]["args"] = ["{input}", "{output}", "{answer}"]
    return judge


# ---- submissions ----

Described = tuple[str, Mapping[str, Any], dict[str, str]]  # its name, its test.yml, its files


def _submissions(package: PackageFiles) -> Iterator[Described]:
    """Yield the submissions that tests/*/test.yml describe."""
    folder = package.find("tests")
    for place in [] if folder is None or not folder.is_dir() else package.children(folder):
        path = package.find(f"tests/{place.name}/test.yml")
        if path is not None:
            config = read_yaml(package, path)
            names = words(config.get("source"), f"{package.say(path)}: source") or [""]
            needed = [package.need(f"tests/{place.name}/{n}", package.say(path)) for n in names]
            yield place.name, config, {source.name: package.text(source) for source in needed}


def _items(
    name: str, config: Mapping[str, Any], files: dict[str, str], tests: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the item of a submission; none when a fault of the judge is expected."""
    language = language_of(Path(next(iter(files))).suffix, str(config.get("language", "")))
    where, cases = f"tests/{name}/test.yml", config.get("cases") or {}
    names = words(config.get("expect") or "AC", where)
    if isinstance(cases, list):
        cases = dict(enumerate(cases, 1))
    if cases := mapping(cases, f"{where}: cases"):  # verdicts by number; SC: it is skipped
        by_test = [
            Expectation(test, verdicts_of(words(cases[f"{i}"], where), where))
            for i, test in enumerate(tests, 1)
            if cases.get(f"{i}") not in (None, "SC")
        ]
        yield item(name, files, language, by_test, whole=True)
    elif not {"IE", "*"} & {*names}:
        yield item(name, files, language, [expectation(names, where)])

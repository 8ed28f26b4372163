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
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from gradebox.checkers.interactive import judge_fields
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.dmoj_checkers import CHECKERS
from gradebox.eval.problems.packages.files import (
    MOST_FILES,
    PackageFiles,
    mapping,
    number,
    read_yaml,
    words,
)
from gradebox.eval.problems.packages.making import Maker, judge_program, read_judge
from gradebox.eval.problems.packages.submissions import ACCEPTED, ALL, LANGUAGES, failing, item
from gradebox.eval.problems.problem import Expectation
from gradebox.sandbox.model import Program

MARKERS = ("init.yml",)
MEMORY_MB = 256
_NUMBER = re.compile(r"(\d+)")
_REFUSED = {
    "custom_judge": "a judge in Python that runs the submission itself",
    "signature_grader": "submissions that are linked with a handler",
    "grader": "a grader of its own",
}
_TYPES = {"default": "command", "testlib": "testlib"}
# DMOJ's names of languages by how they begin → ours
_LANGUAGES = (
    *(("PYPY3", "pypy3"), ("PY3", "python"), ("PY2", "python2"), ("PYPY", "python2")),
    *(("CPP20", "c++20"), ("CPP23", "c++23"), ("CPP17", "c++17"), ("CPP14", "c++14")),
    *(("CPP11", "c++11"), ("CPP03", "c++11"), ("CLANGX", "c++17"), ("CLANG", "c"), ("C", "c")),
    *(("JAVA", "java"), ("KOTLIN", "kotlin"), ("RUST", "rust"), ("GO", "go"), ("RUBY", "ruby")),
    *(("V8JS", "javascript"), ("NODEJS", "javascript"), ("MONOCS", "c#")),
)
_VERDICTS = {"AC": ("AC",), "WA": ("WA",), "TLE": ("TLE",), "MLE": ("MLE", "RE"), "OLE": ("OLE",),
             "RTE": ("RE", "MLE"), "IR": ("RE",), "CE": ("CE",)}  # fmt: skip


def dmoj_row(package: PackageFiles, maker: Maker) -> dict[str, Any]:
    """Return the row of a problem. Raises RowError."""
    config = read_yaml(package, package.need("init.yml", "the package"))
    for key, why in _REFUSED.items():
        if config.get(key):
            raise RowError(f"init.yml has {key}, {why}, which is not supported")
    tests, groups = _Cases(package, maker, config).read()
    described = list(_submissions(package))
    times, sizes = ([number(d.get(key, usual), f"test.yml: {key}", least=0.001)
                     for _, d, _ in described]
                    for key, usual in (("time", 2), ("memory", MEMORY_MB << 10)))  # fmt: skip
    names = [test["name"] for test in tests]
    items = (_item(name, settings, files, names) for name, settings, files in described)
    return {
        "time_limit": max(times, default=None),
        "memory_limit": max(sizes, default=MEMORY_MB << 10) / 1024,
        **_judge(package, config),
        "official_tests": tests,
        "subtasks": groups,
        "gold_solutions": [one for one in items if one is not None],
    }


# ---- tests ----


class _Cases:
    """The tests of test_cases, and a group for each batch and each case outside a batch."""

    def __init__(self, package: PackageFiles, maker: Maker, config: Mapping[str, Any]) -> None:
        self._package, self._maker, self._config = package, maker, config
        self._places = [package]  # where files are: in the archive, beside init.yml
        if name := config.get("archive"):
            folder = maker.unpacked(package.need(str(name), "init.yml: archive"))
            self._places.insert(0, PackageFiles(folder, str(name)))

    def read(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the tests and the groups."""
        given = self._config.get("test_cases")
        cases = given if isinstance(given, list) else list(self._by_pattern(given))
        if not cases:
            raise RowError("init.yml has no test_cases, and no files look like tests: add them")
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
        """Return a file that a case names. Raises RowError."""
        archive, text = self._places[0], str(name)
        if len(self._places) > 1 and ".." not in text and not text.startswith("/"):
            found = archive.find(text) if text.isprintable() else None
            if found is not None:
                return archive.test_file(found)
        return self._package.test_file(self._package.need(text, f"init.yml: case {case}"))

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
        who = f"{path.name} (case {name})"
        return [self._maker.make(program, args, who, given, output=out) for out in ("", "stderr")]

    def _by_pattern(self, given: Any) -> Iterator[dict[str, Any]]:
        """Yield the cases that names of files show: `1.in` and `1.out` or `1.ans`."""
        config = mapping(given, "init.yml: test_cases")
        if config.get("input_format") or config.get("output_format"):
            raise RowError(
                "init.yml: test_cases has patterns of its own for names: list the cases instead"
            )
        folder = self._places[0]
        names = [folder.say(path) for path in folder.walk(folder.root)][:MOST_FILES]
        names.sort(key=_natural)
        stems = {
            str(PurePosixPath(n).with_suffix("")): n for n in names if n[-4:] in (".out", ".ans")
        }
        points = config.get("case_points")
        for i, name in enumerate(n for n in names if n.endswith(".in")):
            own = {"points": points[i]} if isinstance(points, list) and i < len(points) else {}
            yield {"in": name, "out": stems.get(name.removesuffix(".in")), **own}


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key by which names are sorted with numbers as numbers."""
    return [(int(p), "") if p.isdigit() else (0, p) for p in _NUMBER.split(name[:200]) if p]


# ---- checkers ----


def _judge(package: PackageFiles, config: Mapping[str, Any]) -> dict[str, Any]:
    if interactive := config.get("interactive"):
        settings = mapping(interactive, "init.yml: interactive")
        return {"judge_program": _bridged(package, settings, "interactor")}
    checker = config.get("checker") or "standard"
    settings = checker if isinstance(checker, dict) else {"name": checker}
    name, args = str(settings.get("name")), mapping(settings.get("args"), "init.yml: checker: args")
    if name == "bridged":
        return {"judge_program": _bridged(package, args, "checker")}
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


def _bridged(
    package: PackageFiles, args: Mapping[str, Any], role: Literal["checker", "interactor"]
) -> dict[str, Any]:
    names = args.get("files")
    first = names[0] if isinstance(names, list) and names else names
    place = package.need(str(first), f"init.yml: {role}: files")
    kind = str(args.get("type", "default"))
    if kind not in _TYPES or args.get("args_format_string"):
        what = "args_format_string" if kind in _TYPES else f"type {shown(kind)}"
        raise RowError(f"init.yml: {role} has {what}: types default and testlib are supported")
    if role == "interactor" and kind == "default":
        raise RowError("init.yml: interactive of type default is not supported: use testlib's")
    judge = judge_program(package, place, role, _TYPES[kind])
    return judge | ({"args": ["{input}", "{output}", "{answer}"]} if kind == "default" else {})


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


def _item(
    name: str, config: Mapping[str, Any], files: dict[str, str], tests: list[str]
) -> dict[str, Any] | None:
    """Return the item of a submission; None when a fault of the judge is expected."""
    kind = str(config.get("language", ""))
    language = next((ours for start, ours in _LANGUAGES if kind.startswith(start)), "")
    language = language or LANGUAGES.get(Path(next(iter(files))).suffix) or kind.lower()
    cases = config.get("cases")
    if isinstance(cases, list):  # the verdict of each test; SC is one that is skipped
        pairs = zip(tests, map(str, cases), strict=False)
        by_test = [Expectation(test, _VERDICTS[v]) for test, v in pairs if v in _VERDICTS]
        return item(name, files, language, by_test, whole=True)
    expected = config.get("expect")
    names = [str(v) for v in (expected if isinstance(expected, list) else [expected])]
    if not all(verdict in _VERDICTS for verdict in names):
        return None  # IE: a fault of the judge
    verdicts = tuple(ours for verdict in names for ours in _VERDICTS[verdict])
    if "AC" not in verdicts:
        wanted = failing(*verdicts)
    else:
        wanted = ACCEPTED if len(names) == 1 else Expectation("", ALL, verdicts)
    return item(name, files, language, [wanted])

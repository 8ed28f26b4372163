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
from typing import Any

from gradebox.checkers.interactive import judge_fields
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.documents import mapping, number, read_yaml, words
from gradebox.eval.problems.packages.files import MOST_FILES, PackageFiles
from gradebox.eval.problems.packages.judges import judge_program, read_judge
from gradebox.eval.problems.packages.making import Maker
from gradebox.eval.problems.packages.submissions import (
    ALL,
    LANGUAGES,
    OTHERS,
    constraint,
    failing,
    item,
)
from gradebox.sandbox.model import Program

MARKERS = ("init.yml",)
MEMORY_MB = 256
_NUMBER = re.compile(r"(\d+)")
_CHECKERS = frozenset(
    ("standard", "floats", "floatsabs", "floatsrel", "identical", "linecount", "linematches",
     "rstripped", "sorted", "unordered", "easy")
)  # fmt: skip
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


def dmoj_row(package: PackageFiles, maker: Maker, testlib: str | None) -> dict[str, Any]:
    """Return the row of a problem. Raises RowError."""
    config = read_yaml(package, package.need("init.yml", "the package"))
    for key, why in _REFUSED.items():
        if config.get(key):
            raise RowError(f"init.yml has {key}, {why}, which is not supported")
    files = _Files(package, config, maker)
    cases = _Cases(package, config, files, testlib)
    submissions = _submissions(package, [test["name"] for test in cases.tests])
    times = [number(s["time"], "test.yml: time", least=0.001, most=3600) for s in submissions]
    sizes = [number(s["memory"], "test.yml: memory", least=1) / 1024 for s in submissions]
    return {
        "time_limit": max(times, default=None),
        "memory_limit": max(sizes, default=MEMORY_MB),
        **_judge(package, config, testlib),
        "official_tests": cases.tests,
        "subtasks": cases.groups,
        "gold_solutions": [s["item"] for s in submissions if s["item"] is not None],
    }


class _Files:
    """The files that cases name: beside init.yml, or in its archive."""

    def __init__(self, package: PackageFiles, config: Mapping[str, Any], maker: Maker) -> None:
        self.package, self.maker = package, maker
        self._archive: PackageFiles | None = None
        name = config.get("archive")
        if name:
            folder = maker.unpacked(package.need(str(name), "init.yml: archive"))
            self._archive = PackageFiles(folder, str(name))

    def need(self, name: Any, what: str) -> Path:
        """Return a file that a case names. Raises RowError."""
        text = str(name)
        if self._archive is not None:
            plain = not text.startswith("/") and ".." not in PurePosixPath(text).parts
            found = self._archive.find(text) if plain and text.isprintable() else None
            if found is not None:
                return self._archive.test_file(found)
        return self.package.test_file(self.package.need(text, f"init.yml: {what}"))

    def names(self) -> list[str]:
        """Return the names of all files, sorted with numbers as numbers."""
        folder = self._archive or self.package
        found = [folder.say(path) for path in folder.walk(folder.root)][:MOST_FILES]
        return sorted(found, key=_natural)


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(p), "") if p.isdigit() else (0, p) for p in _NUMBER.split(name[:200]) if p]


class _Cases:
    """The tests of test_cases, and a group for each batch and each case outside a batch."""

    def __init__(
        self, package: PackageFiles, config: Mapping[str, Any], files: _Files, testlib: str | None
    ) -> None:
        self._package, self._config, self._files, self._testlib = package, config, files, testlib
        self.tests: list[dict[str, Any]] = []
        self.groups: list[dict[str, Any]] = []
        self._interactive = bool(config.get("interactive"))
        given = config.get("test_cases")
        cases = given if isinstance(given, list) else list(_by_pattern(given, files.names()))
        if not cases:
            raise RowError("init.yml has no test_cases, and no files look like tests: add them")
        for place, case in enumerate(cases, 1):
            self._add(place, {**config, **mapping(case, f"init.yml: test_cases: {place}")}, case)

    def _add(self, place: int, case: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        points = number(case.get("points", 1), f"init.yml: points of case {place}")
        batch = own.get("batched")
        if batch is not None and not isinstance(batch, list):
            raise RowError(f"init.yml: batched of case {place} is {shown(batch)}: give a list")
        needs = words(own.get("dependencies"), f"init.yml: dependencies of case {place}")
        if any(not need.isdigit() or not 0 < int(need) < place for need in needs):
            raise RowError(
                f"init.yml: dependencies of case {place} are {shown(', '.join(needs))}: give "
                "numbers of cases before it"
            )
        first = len(self.tests)
        for i, one in enumerate(batch if batch is not None else [own], 1):
            name = f"{place}.{i}" if batch is not None else f"{place}"
            self.tests.append(self._test(name, {**case, **mapping(one, f"init.yml: case {name}")}))
            if batch is None:
                self.tests[-1]["points"] = points
        self.groups.append(
            {
                "name": f"{place}",
                "points": points,
                "tests": list(range(first, len(self.tests))),
                "rule": "min",
                "needs": needs,
            }
        )

    def _test(self, name: str, case: Mapping[str, Any]) -> dict[str, Any]:
        what = f"case {name}"
        given: Any = self._files.need(case["in"], what) if case.get("in") else None
        answer: Any = self._files.need(case["out"], what) if case.get("out") else None
        if case.get("generator") and (given is None or answer is None):
            made = self._generate(case, what)
            given = made[0] if given is None else given
            answer = made[1] if answer is None else answer
        return {"input": given or "", "output": answer or "", "name": name}

    def _generate(self, case: Mapping[str, Any], what: str) -> tuple[Path, Path]:
        """Return the input and the output that a generator writes to stdout and stderr."""
        settings = case["generator"]
        if not isinstance(settings, dict):
            settings = {"source": settings}
        sources = settings.get("source")
        source = sources[0] if isinstance(sources, list) and sources else sources
        path = self._package.need(str(source), f"init.yml: generator of {what}")
        text = self._package.bytes(path)
        kind = "testlib" if b"testlib.h" in text else "kattis"
        program = read_judge(self._package, path, kind, self._testlib)
        args = words(case.get("generator_args"), f"init.yml: generator_args of {what}")
        stdin = case.get("generator_in")
        given = self._files.need(stdin, what) if stdin else None
        maker, name = self._files.maker, f"{path.name} ({what})"
        return (
            maker.make(program, args, name, given),
            maker.make(program, args, name, given, stream="stderr"),
        )


def _by_pattern(given: Any, names: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the cases that names of files show: `prefix.batch.case.in`, or the given patterns."""
    config = mapping(given, "init.yml: test_cases")
    if config.get("input_format") or config.get("output_format"):
        raise RowError(
            "init.yml: test_cases has patterns of its own for names: list the cases instead"
        )
    outputs = {
        str(PurePosixPath(n).with_suffix("")): n for n in names if n.endswith((".out", ".ans"))
    }
    found = [n for n in names if n.endswith(".in")]
    points = config.get("case_points")
    for i, name in enumerate(found):
        out = outputs.get(str(PurePosixPath(name).with_suffix("")))
        case: dict[str, Any] = {"in": name, "out": out}
        if isinstance(points, list) and i < len(points):
            case["points"] = points[i]
        yield case


# ---- checkers ----


def _judge(package: PackageFiles, config: Mapping[str, Any], testlib: str | None) -> dict[str, Any]:
    interactive = config.get("interactive")
    if interactive:
        return _bridged(
            package, mapping(interactive, "init.yml: interactive"), "interactor", testlib
        )
    checker = config.get("checker") or "standard"
    settings = checker if isinstance(checker, dict) else {"name": checker}
    name, args = str(settings.get("name")), mapping(settings.get("args"), "init.yml: checker: args")
    if name == "bridged":
        return _bridged(package, args, "checker", testlib)
    here = Path(__file__).with_name("dmoj_checkers.py").read_text()
    files = {"main.py": here, "settings.json": json.dumps({"name": name, "args": dict(args)})}
    if name not in _CHECKERS:
        path = package.need(name, "init.yml: checker")
        if path.suffix != ".py":
            raise RowError(f"init.yml: checker {shown(name)}: give a name of DMOJ's, or a .py file")
        files["own_checker.py"] = package.text(path)
    program = Program("python", {n: t.encode("utf-8", "surrogateescape") for n, t in files.items()})
    judge = judge_fields("checker", PROTOCOLS["python"], program, name=name, full_points=1.0)
    return {"judge_program": judge}


def _bridged(
    package: PackageFiles, args: Mapping[str, Any], role: Any, testlib: str | None
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
    judge = judge_program(package, place, role, _TYPES[kind], testlib=testlib)
    if kind == "default":
        judge["args"] = ["{input}", "{output}", "{answer}"]
    return {"judge_program": judge}


# ---- submissions ----


def _submissions(package: PackageFiles, tests: list[str]) -> list[dict[str, Any]]:
    """Return what tests/*/test.yml describe: limits, and an item unless it can't be said."""
    found, folder = [], package.find("tests")
    for place in [] if folder is None or not folder.is_dir() else package.children(folder):
        path = package.find(f"tests/{place.name}/test.yml")
        if path is None:
            continue
        config = read_yaml(package, path)
        sources = config.get("source")
        names = sources if isinstance(sources, list) else [sources]
        files = {}
        for name in names:
            source = package.need(f"tests/{place.name}/{name}", package.say(path))
            files[source.name] = package.text(source)
        language = _language(str(config.get("language", "")), Path(str(names[0])))
        found.append(
            {
                "time": config.get("time", 2),
                "memory": config.get("memory", MEMORY_MB * 1024),
                "item": _item(place.name, config, files, language, tests),
            }
        )
    return found


def _item(
    name: str,
    config: Mapping[str, Any],
    files: dict[str, str],
    language: str,
    tests: list[str],
) -> dict[str, Any] | None:
    """Return the item of a submission; None when a fault of the judge is expected."""
    cases = config.get("cases")
    if isinstance(cases, list):  # the verdict of each test; SC is one that is skipped
        by_test = [
            constraint(_VERDICTS[str(verdict)], None, test)
            for test, verdict in zip(tests, cases, strict=False)
            if str(verdict) in _VERDICTS
        ]
        return item(name, files, language, by_test, whole=True)
    expected = config.get("expect")
    lists = expected if isinstance(expected, list) else [expected]
    if not all(str(verdict) in _VERDICTS for verdict in lists):
        return None  # IE: a fault of the judge
    verdicts = [ours for verdict in lists for ours in _VERDICTS[str(verdict)]]
    if "AC" in verdicts:
        wanted = constraint(("AC",), ("AC",)) if len(lists) == 1 else constraint(ALL, verdicts)
    else:
        wanted = failing(*verdicts)
    return item(name, files, language, [wanted])


def _language(name: str, path: Path) -> str:
    found = next((ours for start, ours in _LANGUAGES if name.startswith(start)), "")
    return found or LANGUAGES.get(path.suffix) or OTHERS.get(path.suffix) or name.lower()

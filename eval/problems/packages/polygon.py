"""Polygon's packages: problem.xml.

<judging input-file="" output-file="">    input and output in files of these names
  <testset name="tests">                  limits; tests/01, tests/01.a; groups with points
    <test cmd="gen 5" method="generated"> made in the box when the file is absent
<checker name="std::lcmp.cpp">            a built-in of that name, else the program
<interactor>                              judges alone: the checker behind it is not asked
<solution tag="time-limit-exceeded">      a submission, with what its tag expects
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from gradebox.checkers.builtins import TABLE
from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.files import number, read_xml
from gradebox.eval.problems.packages.making import ProblemPackage
from gradebox.eval.problems.packages.submissions import expectation, language_of

MARKERS = ("problem.xml",)
_PATTERN = re.compile(r"([^%]{0,200})%(0?\d{0,2})d([^%]{0,50})")

_SIGNS = ("<", ">", "|", "${", "&&", ";")  # of FreeMarker's templates and of shells


def polygon_row(package: ProblemPackage) -> dict[str, Any]:
    """Return the row of a package. Raises RowError."""
    return _Reader(package).row()


class _Reader:
    """Reads one package."""

    def __init__(self, package: ProblemPackage) -> None:
        self._package = package
        self._root = root = read_xml(package, package.need("problem.xml", "the package"))
        judging = root.find("judging")
        testsets = root.findall("judging/testset")
        if judging is None or not testsets:
            raise RowError("problem.xml has no testset: build the full package")
        if judging.get("run-count", "1") != "1":
            raise RowError(
                "problem.xml: run-count is over 1: several runs of a test are not supported"
            )
        self._testset = next((t for t in testsets if t.get("name") == "tests"), testsets[0])
        self._files = judging.get("input-file", ""), judging.get("output-file", "")
        self._is_interactive = root.find("assets/interactor/source") is not None

    def row(self) -> dict[str, Any]:
        """Return the row. Raises RowError."""
        time_ms = number(self._text("time-limit"), "time-limit", least=1)
        memory_bytes = number(self._text("memory-limit"), "memory-limit", most=1e15)
        given, written = self._files
        mode = {"input_mode": "file", "input_file": given, "output_file": written}
        tests, groups = self._tests()
        return {
            "title": next((n.get("value") for n in self._root.iterfind("names/name")), ""),
            "time_limit": time_ms / 1000,
            "memory_limit": memory_bytes / (1 << 20),
            **(mode if given or written else {}),
            **self._judge(),
            "official_tests": tests,
            "subtasks": groups or None,
            "gold_solutions": list(self._solutions()),
        }

    def _text(self, name: str) -> str:
        return (self._testset.findtext(name) or "").strip()

    def _source(self, element: Element, why: str) -> tuple[Path, str]:
        """Return the file of an element's source, and its type. Raises RowError."""
        source = element.find("source")
        found: Mapping[str, str] = {} if source is None else source.attrib
        path = self._package.need(found.get("path", ""), f"problem.xml: {why}")
        return path, found.get("type", "")

    def _judge(self) -> dict[str, Any]:
        role = "interactor" if self._is_interactive else "checker"
        judge = self._root.find(f"assets/{role}")
        if judge is None:
            raise RowError("problem.xml has no checker: choose one on Polygon")
        name = judge.get("name") or ""
        standard = name.removeprefix("std::").removesuffix(".cpp")
        if name.startswith("std::") and standard in TABLE:
            return {"checker": standard}
        place, _ = self._source(judge, role)
        return self._package.judge(place, role, "testlib")

    def _tests(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the tests, and the groups; none where no test has points. Raises RowError."""
        tests: list[dict[str, Any]] = []
        groups: dict[str, dict[str, Any]] = {}
        described = {g.get("name", ""): g for g in self._testset.iterfind("groups/group")}
        for i, test in enumerate(self._testset.iterfind("tests/test"), 1):
            name = test.get("group", "")
            points = number(test.get("points", 0), f"problem.xml: points of test {i}")
            own = described.get(name, test)
            whole = own.get("points-policy") == "complete-group"
            tests.append({
                "name": "/".join(filter(None, (name, f"{i:02d}"))),
                "points": None if whole else points or None,
                **self._files_of(test, i),
            })  # fmt: skip
            needs = own.iterfind("dependencies/dependency")
            group = groups.setdefault(name, {
                "name": name or "tests",
                "points": 0,
                "tests": [],
                "rule": "all" if whole else "sum",
                "needs": [need.get("group", "") for need in needs],
            })  # fmt: skip
            group["points"] += points
            group["tests"].append(i - 1)
        if not tests:
            raise RowError("problem.xml has no test: add tests on Polygon, build the full package")
        if not any(group["points"] for group in groups.values()):
            return tests, []
        for name, own in described.items():
            if name in groups and own.get("points") is not None:
                points = number(own.get("points"), f"problem.xml: points of group {name}")
                groups[name]["points"] = points
        return tests, list(groups.values())

    def _files_of(self, test: Element, i: int) -> dict[str, Path | None]:
        """Return the input and the output of a test, which are made where they are absent."""
        given, answer = (
            self._package.find(self._place(f"{kind}-path-pattern", i))
            for kind in ("input", "answer")
        )
        given = given or self._made(test, i)
        return {"input": given, "output": answer or self._answer(given, i)}

    def _place(self, name: str, i: int) -> str:
        pattern = self._text(name)
        found = _PATTERN.fullmatch(pattern)
        if found is None:
            raise RowError(f"problem.xml: {name} is {shown(pattern)}: write it as tests/%02d")
        return f"{found[1]}{i:0{int(found[2] or 0)}d}{found[3]}"

    def _made(self, test: Element, i: int) -> Path:
        where, command = f"problem.xml: test {i}", test.get("cmd")
        if not command or test.get("from-file"):
            raise RowError(
                f"{self._place('input-path-pattern', i)} is not in the package, and no "
                "generator writes it to stdout: build the full package"
            )
        name, *args = _words(command, where)  # no shell sees it
        sources = self._root.iterfind("files/executables/executable/source")
        paths = (source.get("path", "") for source in sources)
        found = next((path for path in paths if Path(path).stem == Path(name).stem), "")
        path = self._package.need(found, f"{where}: generator {shown(name)}")
        program = self._package.program(path, "testlib")
        return self._package.maker.make(program, args, f"{found} (test {i})")[0]

    def _answer(self, given: Path, i: int) -> Path | None:
        if self._is_interactive:
            return None
        main = self._root.find("assets/solutions/solution[@tag='main']")
        if main is None:
            raise RowError(f"test {i} has no answer, and problem.xml no main solution: add one")
        path, kind = self._source(main, "the main solution")
        program = self._package.program(path, language=language_of(path.suffix, kind))
        who = f"{self._package.say(path)} (answer of test {i})"
        return self._package.maker.make(program, (), who, given, *self._files)[0]

    def _solutions(self) -> Iterator[dict[str, Any]]:
        for solution in self._root.iterfind("assets/solutions/solution"):
            (path, kind), tag = self._source(solution, "a solution"), solution.get("tag", "")
            place = self._package.say(path)
            yield {
                "name": f"{tag}/{place.removeprefix('solutions/')}",
                "language": language_of(path.suffix, kind),
                "files": {path.name: self._package.text(path)},
                "expected": [expectation([tag], f"problem.xml: {place}")],
            }


def _words(command: str, where: str) -> list[str]:
    """Return the words of a generator's command. Raises RowError for a template or a shell's."""
    try:
        words = shlex.split(command) if len(command) < 10_000 else []
    except ValueError:
        words = []
    if not words or any(sign in command for sign in _SIGNS):
        raise RowError(
            f"{where} has the command {shown(command)}, which is no program with its arguments, "
            "but a template or signs of a shell: build the full package"
        )
    return words

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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from gradebox.checkers.builtins import TABLE
from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.files import (
    PackageFiles,
    number,
    read_xml,
)
from gradebox.eval.problems.packages.making import (
    Maker,
    command_words,
    judge_program,
    read_judge,
    single_program,
)
from gradebox.eval.problems.packages.submissions import (
    ACCEPTED,
    ALL,
    FAILURES,
    LANGUAGES,
    failing,
    item,
)
from gradebox.eval.problems.problem import Expectation
from gradebox.sandbox.languages import TABLE as LANGUAGE_TABLE

MARKERS = ("problem.xml",)
_PATTERN = re.compile(r"([^%]*)%(0?\d{0,2})d([^%]*)")
_TAGS: Mapping[str, Expectation] = {
    "main": ACCEPTED,
    "accepted": ACCEPTED,
    "wrong-answer": failing("WA", "OLE"),
    "presentation-error": failing("WA"),
    "time-limit-exceeded": failing("TLE"),
    "time-limit-exceeded-or-accepted": Expectation("", ("AC", "TLE")),
    "time-limit-exceeded-or-memory-limit-exceeded": failing("TLE", "MLE"),
    "memory-limit-exceeded": failing("MLE"),
    "rejected": failing(*FAILURES),
    "failed": failing(*FAILURES),
    "do-not-run": Expectation("", ALL),
}
# of what a type begins with, where the file's ending does not say it
_TYPES = {"python.pypy3": "pypy3", "python.2": "python2", "python.pypy2": "python2"}


def polygon_row(package: PackageFiles, maker: Maker) -> dict[str, Any]:
    """Return the row of a package. Raises RowError."""
    root = read_xml(package, package.need("problem.xml", "the package"))
    judging = root.find("judging")
    testsets = root.findall("judging/testset")
    if judging is None or not testsets:
        raise RowError("problem.xml has no testset: build the full package")
    if judging.get("run-count", "1") != "1":
        raise RowError("problem.xml: run-count is over 1: several runs of a test are not supported")
    testset = next((t for t in testsets if t.get("name") == "tests"), testsets[0])
    time_ms = number(_text(testset, "time-limit"), "time-limit", least=1)
    memory_bytes = number(_text(testset, "memory-limit"), "memory-limit", most=1e15)
    names = (judging.get("input-file", ""), judging.get("output-file", ""))
    tests = _Tests(package, maker, root, testset, names)
    groups = list(tests.groups())
    mode = {"input_mode": "file", "input_file": names[0], "output_file": names[1]}
    return {
        "title": next((name.get("value") for name in root.iterfind("names/name")), ""),
        "time_limit": time_ms / 1000,
        "memory_limit": memory_bytes / (1 << 20),
        **(mode if any(names) else {}),
        **_judge(package, root),
        "official_tests": list(tests.rows()),
        "subtasks": groups or None,
        "gold_solutions": list(_solutions(package, root, scored=bool(groups))),
    }


def _text(element: Element, name: str) -> str:
    return (element.findtext(name) or "").strip()


def _source(package: PackageFiles, element: Element, why: str) -> tuple[Path, str]:
    """Return the file of an element's source, and its type. Raises RowError."""
    source = element.find("source")
    found: Mapping[str, str] = {} if source is None else source.attrib
    path = package.need(found.get("path", ""), f"problem.xml: {why}")
    return path, found.get("type", "")


def _judge(package: PackageFiles, root: Element) -> dict[str, Any]:
    interactor, checker = root.find("assets/interactor"), root.find("assets/checker")
    if interactor is not None and interactor.find("source") is not None:
        place, _ = _source(package, interactor, "interactor")
        return {"judge_program": judge_program(package, place, "interactor", "testlib")}
    if checker is None:
        raise RowError("problem.xml has no checker: choose one on Polygon")
    name = checker.get("name") or ""
    standard = name.removeprefix("std::").removesuffix(".cpp")
    if name.startswith("std::") and standard in TABLE:
        return {"checker": standard}
    place, _ = _source(package, checker, "checker")
    return {"judge_program": judge_program(package, place, "checker", "testlib")}


# ---- tests ----


class _Tests:
    """The tests of a testset: files, or made by commands, and their groups."""

    def __init__(
        self,
        package: PackageFiles,
        maker: Maker,
        root: Element,
        testset: Element,
        names: tuple[str, str],
    ) -> None:
        self._package, self._maker, self._root = package, maker, root
        self._testset, self._names = testset, names
        self._tests = testset.findall("tests/test")
        if not self._tests:
            raise RowError("problem.xml has no test: add tests on Polygon, build the full package")
        self._points = [
            number(test.get("points", 0), f"problem.xml: points of test {i}")
            for i, test in enumerate(self._tests, 1)
        ]
        self._groups = {g.get("name", ""): g for g in testset.findall("groups/group")}

    def _is_whole(self, group: str) -> bool:
        """Return whether a group gives points only for all of its tests."""
        known = self._groups.get(group)
        return known is not None and known.get("points-policy") == "complete-group"

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the tests. Raises RowError for one that is absent and can't be made."""
        for i, (test, points) in enumerate(zip(self._tests, self._points, strict=True), 1):
            path = self._package.find(self._place("input-path-pattern", i))
            given = self._package.test_file(path) if path else self._made(test, i)
            answer = self._package.find(self._place("answer-path-pattern", i))
            group = test.get("group", "")
            yield {
                "input": given,
                "output": self._package.test_file(answer) if answer else self._answer(given, i),
                "name": "/".join(filter(None, (group, f"{i:02d}"))),
                "points": points if points and not self._is_whole(group) else None,
            }

    def groups(self) -> Iterator[dict[str, Any]]:
        """Yield the groups with points; none where nothing has any."""
        members: dict[str, list[int]] = {}
        for i, test in enumerate(self._tests if any(self._points) else ()):
            members.setdefault(test.get("group", ""), []).append(i)
        for name, tests in members.items():
            group = self._groups.get(name, Element("group"))
            given = group.get("points", sum(self._points[i] for i in tests))
            needs = group.findall("dependencies/dependency")
            yield {
                "name": name or "tests",
                "points": number(given, f"problem.xml: points of group {name}"),
                "tests": tests,
                "rule": "all" if self._is_whole(name) else "sum",
                "needs": [need.get("group", "") for need in needs],
            }

    def _made(self, test: Element, i: int) -> Path:
        where, command = f"problem.xml: test {i}", test.get("cmd")
        if not command or test.get("from-file"):
            raise RowError(
                f"{self._place('input-path-pattern', i)} is not in the package, and no "
                "generator writes it to stdout: build the full package"
            )
        name, *args = command_words(command, where)
        sources = self._root.findall("files/executables/executable/source")
        paths = (source.get("path", "") for source in sources)
        path = next((path for path in paths if Path(path).stem == Path(name).stem), "")
        if not path:
            raise RowError(
                f"{where} needs the generator {shown(name)}, which is not in the package"
            )
        program = read_judge(self._package, self._package.need(path, where), "testlib")
        return self._maker.make(program, args, f"{path} (test {i})")

    def _answer(self, given: Path, i: int) -> Path | None:
        if self._root.find("assets/interactor") is not None:
            return None
        main = self._root.find("assets/solutions/solution[@tag='main']")
        if main is None:
            raise RowError(f"test {i} has no answer, and problem.xml no main solution: add one")
        path, kind = _source(self._package, main, "the main solution")
        input_name, output_name = self._names
        return self._maker.make(
            single_program(self._package, path, _language(path, kind)),
            (),
            f"{self._package.say(path)} (answer of test {i})",
            given,
            given_as=input_name,
            output=output_name,
        )

    def _place(self, name: str, i: int) -> str:
        pattern = _text(self._testset, name)
        found = _PATTERN.fullmatch(pattern)
        if found is None or len(pattern) > 200 or ".." in pattern or pattern.startswith("/"):
            raise RowError(f"problem.xml: {name} is {shown(pattern)}: write it as tests/%02d")
        return f"{found[1]}{i:0{int(found[2] or 0)}d}{found[3]}"


# ---- solutions ----


def _language(path: Path, kind: str) -> str:
    """Return our name of a source's language, by its type and its ending."""
    for start, language in _TYPES.items():
        if kind.startswith(start):
            return language
    language = LANGUAGES.get(path.suffix, "")
    if language.startswith("c++"):
        standard = re.search(r"\+\+(\d\d)", kind)
        named = f"c++{standard[1]}" if standard else ""
        return named if named in LANGUAGE_TABLE else "c++17"
    return language or kind.partition(".")[0] or path.suffix.removeprefix(".")


def _solutions(package: PackageFiles, root: Element, *, scored: bool) -> Iterator[dict[str, Any]]:
    for solution in root.iterfind("assets/solutions/solution"):
        (path, kind), tag = _source(package, solution, "a solution"), solution.get("tag", "")
        if tag not in _TAGS:
            raise RowError(f"problem.xml: the tag {shown(tag)} is unknown: {', '.join(_TAGS)}")
        files = {path.name: package.text(path)}
        name = f"{tag}/{package.say(path).removeprefix('solutions/')}"
        yield item(name, files, _language(path, kind), [_TAGS[tag]], whole=scored)

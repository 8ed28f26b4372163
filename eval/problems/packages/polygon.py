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
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from gradebox.checkers.builtins import TABLE
from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.documents import number, read_xml
from gradebox.eval.problems.packages.files import PackageFiles
from gradebox.eval.problems.packages.judges import judge_program, read_judge
from gradebox.eval.problems.packages.making import Maker, command_words
from gradebox.eval.problems.packages.submissions import (
    ACCEPTED,
    ALL,
    FAILURES,
    LANGUAGES,
    Constraint,
    constraint,
    failing,
    item,
)
from gradebox.sandbox.languages import TABLE as LANGUAGE_TABLE
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Program

MARKERS = ("problem.xml",)
MOST_TESTS = 20_000
_PATTERN = re.compile(r"([^%]*)%(0?\d{0,2})d([^%]*)")
_STEP = re.compile(r'gen-input-via-stdout\.sh "(?:wine )?([^"]+)" "([^"]+)" (\d{1,6})')
_TAGS: Mapping[str, Constraint] = {
    "main": ACCEPTED,
    "accepted": ACCEPTED,
    "wrong-answer": failing("WA", "OLE"),
    "presentation-error": failing("WA"),
    "time-limit-exceeded": failing("TLE"),
    "time-limit-exceeded-or-accepted": constraint(("AC", "TLE"), None),
    "time-limit-exceeded-or-memory-limit-exceeded": failing("TLE", "MLE"),
    "memory-limit-exceeded": failing("MLE"),
    "rejected": failing(*FAILURES),
    "failed": failing(*FAILURES),
    "do-not-run": constraint(ALL, None),
}
# of what a type begins with, where the file's ending does not say it
_TYPES = {"python.pypy3": "pypy3", "python.2": "python2", "python.pypy2": "python2"}


def polygon_row(package: PackageFiles, maker: Maker, testlib: str | None) -> dict[str, Any]:
    """Return the row of a package. Raises RowError."""
    root = read_xml(package, package.need("problem.xml", "the package"))
    judging = root.find("judging")
    testset = None if judging is None else _testset(judging)
    if judging is None or testset is None:
        raise RowError("problem.xml has no testset: build the full package")
    if judging.get("run-count", "1") != "1":
        raise RowError("problem.xml: run-count is over 1: several runs of a test are not supported")
    names = (judging.get("input-file", ""), judging.get("output-file", ""))
    tests = _Tests(package, root, testset, maker, testlib, names)
    title = next((name.get("value") for name in root.iterfind("names/name")), "")
    return {
        "title": title,
        "time_limit": number(_text(testset, "time-limit"), "time-limit", least=1) / 1000,
        "memory_limit": number(_text(testset, "memory-limit"), "memory-limit", most=1e15)
        / (1 << 20),
        **(
            {"input_mode": "file", "input_file": names[0], "output_file": names[1]}
            if any(names)
            else {}
        ),
        **_judge(package, root, testlib),
        "official_tests": tests.rows(),
        "subtasks": tests.groups() or None,
        "gold_solutions": _solutions(package, root, scored=bool(tests.groups())),
    }


def _testset(judging: Element) -> Element | None:
    found = judging.findall("testset")
    return next((t for t in found if t.get("name") == "tests"), found[0] if found else None)


def _text(element: Element, name: str) -> str:
    return (element.findtext(name) or "").strip()


# ---- checker and interactor ----


def _judge(package: PackageFiles, root: Element, testlib: str | None) -> dict[str, Any]:
    interactor = root.find("assets/interactor/source")
    if interactor is not None:
        place = package.need(interactor.get("path", ""), "problem.xml: interactor")
        return {
            "judge_program": judge_program(package, place, "interactor", "testlib", testlib=testlib)
        }
    checker = root.find("assets/checker")
    if checker is None:
        raise RowError("problem.xml has no checker: choose one on Polygon")
    standard = (checker.get("name") or "").removeprefix("std::").removesuffix(".cpp")
    if (checker.get("name") or "").startswith("std::") and standard in TABLE:
        return {"checker": standard}
    source = checker.find("source")
    place = package.need("" if source is None else source.get("path", ""), "problem.xml: checker")
    return {"judge_program": judge_program(package, place, "checker", "testlib", testlib=testlib)}


# ---- tests ----


class _Tests:
    """The tests of a testset: files, or made by commands, and their groups."""

    def __init__(
        self,
        package: PackageFiles,
        root: Element,
        testset: Element,
        maker: Maker,
        testlib: str | None,
        names: tuple[str, str],
    ) -> None:
        self._package, self._root, self._testset = package, root, testset
        self._maker, self._testlib, self._names = maker, testlib, names
        self._tests = testset.findall("tests/test")
        self._interactive = root.find("assets/interactor") is not None
        count = _text(testset, "test-count")
        if not self._tests and count:
            self._tests = [Element("test")] * int(number(count, "test-count", most=MOST_TESTS))
        if not self._tests:
            raise RowError("problem.xml has no test: add tests on Polygon, build the full package")
        self._points = [
            number(test.get("points", 0), f"problem.xml: points of test {i}")
            for i, test in enumerate(self._tests, 1)
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return the tests. Raises RowError for one that is absent and can't be made."""
        steps = self._steps()
        found = []
        each = {name for name, policy in self._policies().items() if policy != "complete-group"}
        for i, test in enumerate(self._tests, 1):
            path = self._package.find(_place(self._testset, "input-path-pattern", i))
            given = self._package.test_file(path) if path else self._made(test, i, steps.get(i))
            answer = self._package.find(_place(self._testset, "answer-path-pattern", i))
            row: dict[str, Any] = {
                "input": given,
                "output": self._package.test_file(answer) if answer else self._answer(given, i),
                "name": "/".join(filter(None, (test.get("group"), f"{i:02d}"))),
            }
            if self._points[i - 1] and test.get("group", "") in each | {""}:
                row["points"] = self._points[i - 1]
            found.append(row)
        return found

    def _policies(self) -> dict[str, str]:
        groups = self._testset.findall("groups/group")
        return {g.get("name", ""): g.get("points-policy", "") for g in groups}

    def groups(self) -> list[dict[str, Any]]:
        """Return the groups with points; [] where nothing has any."""
        members: dict[str, list[int]] = {}
        for i, test in enumerate(self._tests):
            members.setdefault(test.get("group", ""), []).append(i)
        if not any(self._points):
            return []
        known = {g.get("name", ""): g for g in self._testset.findall("groups/group")}
        found = []
        for name, tests in members.items():
            group = known.get(name)
            whole = group is not None and group.get("points-policy") == "complete-group"
            given = None if group is None else group.get("points")
            needs = [] if group is None else group.findall("dependencies/dependency")
            found.append(
                {
                    "name": name or "tests",
                    "points": sum(self._points[i] for i in tests)
                    if given is None
                    else number(given, f"problem.xml: points of group {name}"),
                    "tests": tests,
                    "rule": "all" if whole else "sum",
                    "needs": [need.get("group", "") for need in needs],
                }
            )
        return found

    def _steps(self) -> dict[int, str]:
        """Return the commands of doall.sh by test, for packages whose problem.xml has none."""
        script = self._package.find("doall.sh")
        if script is None or all(t.get("cmd") for t in self._tests if t.get("method") != "manual"):
            return {}
        lines = self._package.text(script, 16 << 20).splitlines()
        return {int(m[3]): m[1] for m in map(_STEP.search, lines) if m}

    def _made(self, test: Element, i: int, step: str | None) -> Path:
        where, command = f"problem.xml: test {i}", test.get("cmd") or step
        if not command or test.get("from-file"):
            raise RowError(
                f"{_place(self._testset, 'input-path-pattern', i)} is not in the package, and no "
                "generator writes it to stdout: build the full package"
            )
        name, *args = command_words(command, where)
        stem = Path(name).stem
        sources = self._root.findall("files/executables/executable/source")
        path = next(
            (s.get("path", "") for s in sources if Path(s.get("path", "")).stem == stem), ""
        )
        if not path:
            raise RowError(
                f"{where} needs the generator {shown(name)}, which is not in the package"
            )
        program = read_judge(
            self._package, self._package.need(path, where), "testlib", self._testlib
        )
        return self._maker.make(program, args, f"{path} (test {i})")

    def _answer(self, given: Path, i: int) -> Path | None:
        if self._interactive:
            return None
        source = next(
            (s.find("source") for s in self._root.iterfind("assets/solutions/solution")
             if s.get("tag") == "main"),
            None,
        )  # fmt: skip
        if source is None:
            raise RowError(f"test {i} has no answer, and problem.xml no main solution: add one")
        path = self._package.need(source.get("path", ""), "problem.xml: the main solution")
        language = _language(path, source.get("type", ""))
        row = find(language)
        program = Program(row.name, {row.source: self._package.bytes(path)})
        input_name, output_name = self._names
        return self._maker.make(
            program, (), f"{self._package.say(path)} (answer of test {i})",
            stdin=None if input_name else given,
            files={input_name: given} if input_name else None,
            output=output_name,
        )  # fmt: skip


def _place(testset: Element, name: str, i: int) -> str:
    pattern = _text(testset, name)
    found = _PATTERN.fullmatch(pattern)
    if found is None or len(pattern) > 200 or ".." in pattern or pattern.startswith("/"):
        raise RowError(f"problem.xml: {name} is {shown(pattern)}: write it as tests/%02d")
    width = int(found[2] or 0)
    return f"{found[1]}{i:0{width}d}{found[3]}"


# ---- solutions ----


def _language(path: Path, kind: str) -> str:
    """Return our name of a source's language, by its type and its ending."""
    for start, language in _TYPES.items():
        if kind.startswith(start):
            return language
    standard = re.search(r"\+\+(\d\d)", kind)
    language = LANGUAGES.get(path.suffix, "")
    if language.startswith("c++"):
        named = f"c++{standard[1]}" if standard else "c++17"
        return named if named in LANGUAGE_TABLE else "c++17"
    return language or kind.partition(".")[0] or path.suffix.removeprefix(".")


def _solutions(package: PackageFiles, root: Element, *, scored: bool) -> list[dict[str, Any]]:
    found = []
    for solution in root.iterfind("assets/solutions/solution"):
        source, tag = solution.find("source"), solution.get("tag", "")
        path = package.need(
            "" if source is None else source.get("path", ""), "problem.xml: a solution"
        )
        if tag not in _TAGS:
            raise RowError(f"problem.xml: the tag {shown(tag)} is unknown: {', '.join(_TAGS)}")
        language = _language(path, "" if source is None else source.get("type", ""))
        files = {path.name: package.text(path)}
        name = package.say(path).removeprefix("solutions/")
        found.append(item(f"{tag}/{name}", files, language, [_TAGS[tag]], whole=scored))
    return found

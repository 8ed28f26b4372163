"""The submissions of a package, and the verdicts that its authors expect of them.

submissions/wrong_answer/greedy.py ─▶ {"name": "wrong_answer/greedy.py", "language": "python",
    "files": {"greedy.py": …}, "expect": "failed", "expected": [Expectation, …], …}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.files import (
    PackageFiles,
    mapping,
    read_yaml,
    words,
)
from gradebox.eval.problems.problem import Expectation

MOST_SUBMISSIONS = 2_000
MOST_PATTERNS = 1_000
ALL = ("AC", "WA", "TLE", "RE", "MLE", "OLE", "CE")

# The languages of submissions by the endings of their files; the first file's decides. Those of
# OTHERS are not in our table: they are listed, and not run.
OTHERS = """
hs ml pl plg pas dpr adb sh f90 jl ts cob scala php lisp d swift lua dart fs vb r R st rkt m
"""
LANGUAGES: Mapping[str, str] = (
    dict.fromkeys((".cpp", ".cc", ".cxx", ".c++"), "c++20")
    | {".py": "python", ".py3": "python", ".py2": "python2", ".c": "c", ".java": "java"}
    | {".kt": "kotlin", ".rs": "rust", ".go": "go", ".js": "javascript", ".cs": "c#"}
    | {".rb": "ruby", **{f".{ending}": ending for ending in OTHERS.split()}}
)
# what packages call languages, where that says more than the ending ("cpp.g++17", "PY2"): the first
# of these parts counts
_SAID = {
    **dict.fromkeys(("pypy3", "PYPY3"), "pypy3"),
    **dict.fromkeys(("python2", "python.2", "pypy2", "PY2", "PYPY"), "python2"),
    **dict.fromkeys(("++98", "CPP03"), "c++11"),
    **{f"{start}{n}": f"c++{n}" for n in (11, 14, 17, 20, 23) for start in ("++", "CPP")},
    **dict.fromkeys(("cpp.", "CLANGX"), "c++17"),
}
_NAMES = ("main", "__main__", "Main", "solution")
_MAIN = re.compile(r"static\s+(?:public\s+)?void\s+main\b")  # a class of Java that is started
# what formats call a verdict, in one word → ours; a crash may be one for memory
VERDICTS: Mapping[str, tuple[str, ...]] = {
    name: tuple(verdicts.split())
    for names, verdicts in (
        ("ac accepted correct main", "AC"),
        ("wa wronganswer nooutput presentationerror", "WA OLE"),
        ("tle timelimit timelimitexceeded", "TLE"),
        ("rte ir runerror runtimeerror memorylimit", "RE MLE"),
        ("ce compilererror compileerror", "CE"),
        ("mle memorylimitexceeded", "MLE RE"),
        ("ole", "OLE WA"),
        ("outputlimit outputlimitexceeded", "OLE WA RE TLE"),
        ("timelimitexceededormemorylimitexceeded bruteforce", "TLE RE MLE"),
        ("rejected failed", " ".join(ALL[1:])),
        ("slowaccepted timelimitexceededoraccepted", "AC TLE"),
        ("donotrun", " ".join(ALL)),
    )
    for name in names.split()
}
_MARK = re.compile(r"@EXPECTED_RESULTS@:([^\r\n]{1,200})")


def language_of(ending: str, said: str = "") -> str:
    """Return our name of a language, by a file's ending and what a package calls it."""
    named = (language for part, language in _SAID.items() if part in said)
    usual = LANGUAGES.get(ending) or said.partition(".")[0].lower() or ending.removeprefix(".")
    return next(named, usual)


def verdicts_of(names: Iterable[str], where: str) -> tuple[str, ...]:
    """Return our verdicts of a package's. Raises RowError for unknown ones."""
    found: dict[str, None] = {}
    for name in names:
        verdicts = VERDICTS.get(re.sub(r"[-_\s]", "", name).lower())
        if verdicts is None:
            raise RowError(
                f"{where} expects {shown(name)}: give one of AC, WA, TLE, RTE, CE, MLE, OLE"
            )
        found |= dict.fromkeys(verdicts)
    return tuple(found)


def expectation(names: Iterable[str], where: str) -> Expectation:
    """Return what verdicts mean for a whole submission. Raises RowError for unknown ones.

    Of a failure: the first test that is not accepted has one of them.
    """
    verdicts = verdicts_of(names, where)
    if "AC" in verdicts:
        return Expectation("", verdicts, verdicts if verdicts == ("AC",) else None)
    return Expectation("", ("AC", *verdicts), verdicts)


def item(
    name: str,
    files: Mapping[str, str],
    language: str,
    expected: Sequence[Expectation],
    *,
    whole: bool = False,
    partial: bool = False,
) -> dict[str, Any]:
    """Return an item of the column gold_solutions.

    whole    all tests run, since the expectation speaks of them all
    partial  it has some of the points and not all
    """
    first = expected[0] if expected else Expectation()
    passes = first.permitted == ("AC",) and not partial
    fails = partial or "AC" not in (first.required or ("AC",))
    return {
        "name": name,
        "language": language,
        "files": dict(files),
        "expect": "passed" if passes else "failed" if fails else "either",
        "expected": tuple(expected),
        "whole": whole or partial,
        "partial": partial,
    }


def programs(package: PackageFiles, folder: Path) -> Iterator[tuple[Path, dict[str, str], str]]:
    """Yield each program of a folder: its path, its files, the main one first, and its language.

    A file is a program, and so is a folder. Other files are passed over. Python 2 shows in the
    first line or the name.
    """
    for path in package.children(folder):
        if path.is_dir():
            sources = [p for p in package.walk(path) if p.suffix in LANGUAGES]
            extra = [p for p in package.children(path) if p.suffix in (".h", ".hpp")]
            if sources:
                texts = {p.name: package.text(p) for p in (*sources, *extra)}
                names = {p.name: p.stem not in _NAMES for p in sources}
                main = min(names, key=lambda name: (names[name], not _MAIN.search(texts[name])))
                yield path, {main: texts[main], **texts}, LANGUAGES[Path(main).suffix]
        elif path.suffix in LANGUAGES:
            text = package.text(path)
            old = path.suffix == ".py" and ("python2" in text[:60] or path.stem.endswith("_py2"))
            yield path, {path.name: text}, "python2" if old else LANGUAGES[path.suffix]


def _by_names(files: Mapping[str, str], folder: str) -> list[Expectation]:
    """Return what the mark @EXPECTED_RESULTS@ of a source says, else its folder.

    Nothing for a mark CHECK-MANUALLY, a text that only mentions it, or the folder `mixed`.
    """
    mark = next(filter(None, map(_MARK.search, files.values())), None)
    names = mark[1].replace("*/", "").replace("-->", "").split(",") if mark else [folder]
    with suppress(RowError):
        return [expectation(filter(str.strip, names), "")]
    return []


# ---- the folder submissions/ of Kattis, ICPC and DOMjudge ----


def kattis_submissions(package: PackageFiles) -> list[dict[str, Any]]:
    """Return the submissions of the folder submissions/, with what submissions.yaml says of them.

    Raises RowError for files that can't be read.
    """
    folder = package.find("submissions")
    if folder is None or not folder.is_dir():
        return []
    settings = list(_settings(package))
    found: list[dict[str, Any]] = []
    for kind in filter(Path.is_dir, package.children(folder)):
        for path, files, language in programs(package, kind):
            name = path.relative_to(folder).as_posix()
            said = [one for one in settings if is_covered(one.pattern, name)]
            found.append(_kattis_item(kind.name, name, files, language, said))
            if len(found) > MOST_SUBMISSIONS:
                raise RowError(
                    f"submissions has more than {MOST_SUBMISSIONS} programs: remove some"
                )
    return found


class _Said(NamedTuple):
    """An entry of submissions.yaml: a glob of submissions, and what is said of them."""

    key: str
    pattern: re.Pattern[str]
    language: str
    entrypoint: str
    expected: list[Expectation]


def _kattis_item(
    kind: str, name: str, files: dict[str, str], language: str, said: Sequence[_Said]
) -> dict[str, Any]:
    expected: list[Expectation] = []
    if not any(one.key == kind for one in said):
        if kind == "partially_accepted" and not said:
            return item(name, files, language, [Expectation()], partial=True)
        expected = _by_names(files, kind)
    for one in said:
        expected += one.expected
        if one.entrypoint in files:
            files = {one.entrypoint: files[one.entrypoint], **files}
        if one.language:
            language = language_of(Path(next(iter(files))).suffix, one.language)
    whole = any(one.expected for one in said)
    return item(name, files, language, expected or [Expectation("", ALL)], whole=whole)


_CONSTRAINTS = ("permitted", "required")
_OTHER_KEYS = frozenset(
    ("language", "entrypoint", "authors", "model_solution", "message", "score",
     "use_for_time_limit", *_CONSTRAINTS)
)  # fmt: skip


def _settings(package: PackageFiles) -> Iterator[_Said]:
    path = package.find("submissions/submissions.yaml", "submissions.yaml")
    entries = {} if path is None else read_yaml(package, path)
    if len(entries) > MOST_PATTERNS:
        raise RowError(f"submissions.yaml has {len(entries)} entries: {MOST_PATTERNS} at most")
    for key, value in entries.items():
        where = f"submissions.yaml: {key}"
        value = mapping(value, where)
        expected = []
        for tests in ("", *(name for name in value if name not in _OTHER_KEYS)):
            glob_pattern(tests, where)
            inner = mapping(value[tests], where) if tests else value
            lists = [
                verdicts_of(words(inner[which], where), where) if inner.get(which) else None
                for which in _CONSTRAINTS
            ]
            if lists != [None, None]:
                expected.append(Expectation(tests, *lists))
        key = key.strip("/")
        language, entrypoint = (str(value.get(name, "")) for name in ("language", "entrypoint"))
        yield _Said(key, glob_pattern(key, where), language, entrypoint, expected)


def is_covered(pattern: re.Pattern[str], name: str) -> bool:
    """Return whether a pattern matches a path or one of the folders that it is in."""
    path = PurePosixPath(name)
    return any(pattern.fullmatch(str(part)) for part in (path, *path.parents))


def glob_pattern(glob: str, where: str) -> re.Pattern[str]:
    """Return the pattern of a glob with `*`, `?` and braces; `*` matches no slash.

    Raises RowError for one that is long, or would take long to match.
    """
    if len(glob) > 200 or glob.count("*") > 6 or glob.count("{") > 4:
        raise RowError(f"{where} has the pattern {shown(glob)}: 200 characters and 6 * at most")
    braces = re.sub(r"\{[^{}]*\}", lambda m: m[0].replace("{", "\1").replace(",", "\2")
                    .replace("}", "\3"), glob)  # fmt: skip
    signs = {"*": "[^/]*", "?": "[^/]", "\1": "(?:", "\2": "|", "\3": ")"}
    return re.compile("".join(signs.get(c) or re.escape(c) for c in braces))

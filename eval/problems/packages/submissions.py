"""The submissions of a package, and the verdicts that its authors expect of them.

submissions/wrong_answer/greedy.py ─▶ an item of the column gold_solutions:

    {"name": "wrong_answer/greedy.py", "language": "python", "files": {"greedy.py": …},
     "expected": [Expectation, …], "whole": whether the tests behind the first that fails count}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import translate
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.files import (
    PackageFiles,
    mapping,
    read_yaml,
    words,
)
from gradebox.eval.problems.problem import PARTIAL, Expectation
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find

MOST_PATTERNS = 1_000
MOST_CHOICES = 200
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
_PYTHON_2 = re.compile(r"py(thon|py)?\.?2|^pypy$", re.IGNORECASE)
_NAMES = ("main", "__main__", "Main", "solution")
_MAIN = re.compile(r"static\s+(?:public\s+)?void\s+main\b")  # a class of Java that is started
# what formats call a verdict, in one word → ours (`ALIKE` says which of them are one)
VERDICTS: Mapping[str, tuple[str, ...]] = {
    name: tuple(verdicts.split())
    for names, verdicts in (
        ("ac accepted correct main", "AC"),
        ("wa wronganswer nooutput presentationerror", "WA"),
        ("tle timelimit timelimitexceeded", "TLE"),
        ("rte ir runerror runtimeerror memorylimit", "RE"),
        ("ce compilererror compileerror", "CE"),
        ("mle memorylimitexceeded", "MLE"),
        ("ole", "OLE"),
        ("outputlimit outputlimitexceeded", "OLE RE TLE"),
        ("timelimitexceededormemorylimitexceeded bruteforce", "TLE RE"),
        ("rejected failed", " ".join(ALL[1:])),
        ("slowaccepted timelimitexceededoraccepted", "AC TLE"),
        ("donotrun", " ".join(ALL)),
    )
    for name in names.split()
}
_BRACES = re.compile(r"\{([^{}]*)\}")
_MARK = re.compile(r"@EXPECTED_RESULTS@:([^\r\n]{1,200})")


def language_of(ending: str, said: str = "") -> str:
    """Return our name of a language, by what a package calls it, else by a file's ending.

    A part of "cpp.gcc14-64-msys2-g++23" or "python.pypy3-64" names it, or all of "PY3".
    """
    if _PYTHON_2.search(said):
        return "python2"
    for part in reversed(re.split(r"[.-]", said)):
        with suppress(UnknownLanguage):
            if said != "cpp":  # no standard of C++ in particular
                return find(part).name
    return LANGUAGES.get(ending) or said.partition(".")[0].lower() or ending.removeprefix(".")


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


def programs(package: PackageFiles, folder: Path) -> Iterator[tuple[Path, dict[str, str], str]]:
    """Yield each program of a folder: its path, its files, the main one first, and its language.

    A file is a program, and so is a folder. Other files are passed over. Python 2 shows in the
    first line or the name.
    """
    for path in package.children(folder):
        if path.is_dir():
            found = [p for p in package.walk(path) if p.suffix in (*LANGUAGES, ".h", ".hpp")]
            names = {p.name: p.stem not in _NAMES for p in found if p.suffix in LANGUAGES}
            if names:
                texts = {p.name: package.text(p) for p in found}
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
    if mark is None and folder == "partially_accepted":
        return [Expectation("", None, (PARTIAL,))]
    names = mark[1].replace("*/", "").replace("-->", "").split(",") if mark else [folder]
    with suppress(RowError):
        return [expectation(filter(str.strip, names), "")]
    return []


# ---- the folder submissions/ of Kattis, ICPC and DOMjudge ----


def kattis_submissions(package: PackageFiles) -> list[dict[str, Any]]:
    """Return the submissions of the folder submissions/, with what submissions.yaml says of them.

    An entry for the submissions of a folder by its name goes before what the folder says.

    Raises RowError for files that can't be read.
    """
    given = read_yaml(package, "submissions/submissions.yaml", "submissions.yaml")
    if len(given) > MOST_PATTERNS:
        raise RowError(f"submissions.yaml has {len(given)} entries: {MOST_PATTERNS} at most")
    entries = [(k.strip("/"), mapping(v, f"submissions.yaml: {k}")) for k, v in given.items()]
    found: list[dict[str, Any]] = []
    for folder in filter(Path.is_dir, package.folder("submissions")):
        for path, files, language in programs(package, folder):
            name = path.relative_to(folder.parent).as_posix()
            said = {key: entry for key, entry in entries if covers(key, name)}
            expected = [one for key, entry in said.items() for one in _constraints(key, entry)]
            whole = bool(expected)
            if folder.name not in said:
                expected = [*_by_names(files, folder.name), *expected]
            for entry in said.values():
                if (first := entry.get("entrypoint")) in files:
                    files = {first: files[first], **files}
                if entry.get("language"):
                    language = language_of(Path(next(iter(files))).suffix, str(entry["language"]))
            expected = expected or [Expectation("", ALL)]
            known = {"name": name, "language": language, "files": files}
            found.append({**known, "expected": expected, "whole": whole})
    return found


_CONSTRAINTS = ("permitted", "required")
_OTHER_KEYS = frozenset(
    ("language", "entrypoint", "authors", "model_solution", "message", "score",
     "use_for_time_limit", *_CONSTRAINTS)
)  # fmt: skip


def _constraints(key: str, entry: Mapping[str, Any]) -> Iterator[Expectation]:
    """Yield what an entry of submissions.yaml expects of all tests, and of those of a glob."""
    where = f"submissions.yaml: {key}"
    for tests in ("", *(name for name in entry if name not in _OTHER_KEYS)):
        inner = mapping(entry[tests], where) if tests else entry
        lists = [
            verdicts_of(words(inner[which], where), where) if inner.get(which) else None
            for which in _CONSTRAINTS
        ]
        covers(tests, "")  # it may be a bad glob
        if lists != [None, None]:
            yield Expectation(tests, *lists)


def covers(glob: str, name: str) -> bool:
    """Return whether a glob, with braces or without, matches a path or a folder that it is in.

    Raises RowError for one that is long or has many alternatives.
    """
    path = PurePosixPath(name)
    parts = [str(part) for part in (path, *path.parents)]
    return any(pattern.match(part) for pattern in _patterns(glob) for part in parts)


@lru_cache(1024)
def _patterns(glob: str) -> list[re.Pattern[str]]:
    """Return a pattern for each alternative; those of fnmatch take linear steps."""
    globs, is_short = [glob], len(glob) <= 200
    while is_short and (found := next(filter(None, map(_BRACES.search, globs)), None)):
        choices = found[1].split(",")
        globs = list(dict.fromkeys(g.replace(found[0], c, 1) for g in globs for c in choices))
        is_short = len(globs) <= MOST_CHOICES
    if not is_short:
        raise RowError(
            f"submissions.yaml has the glob {shown(glob)}: 200 characters and {MOST_CHOICES} "
            "alternatives at most"
        )
    return [re.compile(translate(one)) for one in globs]

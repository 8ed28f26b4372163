"""The submissions of a package, and the verdicts that its authors expect of them.

    submissions/wrong_answer/greedy.py ─▶ {"name": "wrong_answer/greedy.py", "language": "python",
        "files": {"greedy.py": …}, "expect": "failed", "expected": [constraint, …], …}

A constraint {"tests": "", "permitted": ["AC", "WA"], "required": ["WA"]} speaks of the tests whose
names match, "" for all: each verdict is permitted, and one at least is required. None: no matter.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.packages.documents import mapping, read_yaml, words
from gradebox.eval.problems.packages.files import MOST_TEXT, PackageFiles

Constraint = dict[str, Any]
MOST_SUBMISSIONS = 2_000
MOST_PATTERNS = 1_000
ALL = ("AC", "WA", "TLE", "RE", "MLE", "OLE", "CE")
FAILURES = ALL[1:]

# the languages of submissions by the endings of their files; the first file's decides
LANGUAGES: Mapping[str, str] = {
    **dict.fromkeys((".cpp", ".cc", ".cxx", ".c++", ".C"), "c++20"),
    ".c": "c",
    **dict.fromkeys((".py", ".py3"), "python"),
    ".java": "java",
    ".kt": "kotlin",
    ".rs": "rust",
    ".go": "go",
    ".js": "javascript",
    ".cs": "c#",
    ".rb": "ruby",
}
# of languages that are not in our table: they are listed, and not run
OTHERS: Mapping[str, str] = {
    ".scala": "scala",
    ".hs": "haskell",
    ".ml": "ocaml",
    ".php": "php",
    ".pl": "perl",
    ".lisp": "lisp",
    ".py2": "python2",
    ".d": "d",
    ".pas": "pascal",
    ".swift": "swift",
    ".adb": "ada",
    ".lua": "lua",
    ".sh": "bash",
    ".f90": "fortran",
    ".m": "objective-c",
    ".jl": "julia",
    ".dart": "dart",
    ".ts": "typescript",
    ".fs": "f#",
    ".vb": "visual basic",
    ".r": "r",
    ".R": "r",
    ".cob": "cobol",
    ".st": "smalltalk",
    ".dpr": "delphi",
    ".rkt": "racket",
}
_NAMES = ("main", "__main__", "Main", "solution")
# a verdict's names in packages → ours; a crash may be one for memory
VERDICTS: Mapping[str, tuple[str, ...]] = {
    "AC": ("AC",),
    "WA": ("WA", "OLE"),
    "TLE": ("TLE",),
    "RTE": ("RE", "MLE"),
    "CE": ("CE",),
    "MLE": ("MLE", "RE"),
    "OLE": ("OLE", "WA"),
    **dict.fromkeys(("CORRECT", "ACCEPTED"), ("AC",)),
    **dict.fromkeys(("WRONG-ANSWER", "WRONG_ANSWER", "NO-OUTPUT", "NO_OUTPUT"), ("WA", "OLE")),
    **dict.fromkeys(("TIMELIMIT", "TIME_LIMIT_EXCEEDED"), ("TLE",)),
    **dict.fromkeys(("RUN-ERROR", "RUN_TIME_ERROR", "MEMORY-LIMIT"), ("RE", "MLE")),
    **dict.fromkeys(("COMPILER-ERROR", "COMPILE_ERROR"), ("CE",)),
    **dict.fromkeys(("OUTPUT-LIMIT", "OUTPUT_LIMIT"), ("OLE", "WA", "RE", "TLE")),
}
_MARK = re.compile(rb"@EXPECTED_RESULTS@:([^\r\n]{1,200})")


def ours(names: Iterable[str], where: str) -> tuple[str, ...]:
    """Return our verdicts of a package's. Raises RowError for unknown ones."""
    found: dict[str, None] = {}
    for name in names:
        verdicts = VERDICTS.get(name.strip().upper())
        if verdicts is None:
            known = ", ".join(tuple(VERDICTS)[:7])
            raise RowError(f"{where} expects {shown(name)}: give one of {known}")
        found |= dict.fromkeys(verdicts)
    return tuple(found)


def constraint(
    permitted: Iterable[str] | None, required: Iterable[str] | None, tests: str = ""
) -> Constraint:
    """Return what some tests must show."""
    return {
        "tests": tests,
        "permitted": None if permitted is None else list(permitted),
        "required": None if required is None else list(required),
    }


ACCEPTED = constraint(("AC",), ("AC",))


def failing(*verdicts: str) -> Constraint:
    """Return the constraint of a submission whose first failed test has one of the verdicts."""
    return constraint(("AC", *verdicts), verdicts)


def item(
    name: str,
    files: Mapping[str, str],
    language: str,
    expected: list[Constraint],
    *,
    whole: bool = False,
    partial: bool = False,
) -> dict[str, Any]:
    """Return an item of the column gold_solutions.

    whole    all tests run, since the expectation speaks of them all
    partial  it has some of the points and not all
    """
    first = expected[0] if expected else constraint(None, None)
    passes = first["permitted"] == ["AC"] and not partial
    fails = partial or "AC" not in (first["required"] or ("AC",))
    return {
        "name": name,
        "language": language,
        "files": dict(files),
        "expect": "passed" if passes else "failed" if fails else "either",
        "expected": expected,
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
            sources = [p for p in package.walk(path) if _language(p)]
            if sources:
                first = _main_first(sources)
                extra = [p for p in package.children(path) if p.suffix in (".h", ".hpp")]
                files = {p.name: package.text(p) for p in (*first, *extra)}
                yield path, files, _language(first[0])
        elif _language(path):
            text = package.text(path)
            old = path.suffix == ".py" and ("python2" in text[:60] or path.stem.endswith("_py2"))
            yield path, {path.name: text}, "python2" if old else _language(path)


def _language(path: Path) -> str:
    return LANGUAGES.get(path.suffix) or OTHERS.get(path.suffix, "")


def _main_first(paths: list[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: (path.stem not in _NAMES, path.as_posix()))


def marked(package: PackageFiles, path: Path) -> tuple[str, ...] | None:
    """Return the verdicts of a source's @EXPECTED_RESULTS@, None without. Raises RowError."""
    files = package.walk(path) if path.is_dir() else [path]
    for file in files:
        found = _MARK.search(package.bytes(file, MOST_TEXT)) if _language(file) else None
        if found is not None:
            text = found[1].decode("utf-8", "replace").replace("*/", "").replace("-->", "")
            names = [name for name in text.split(",") if name.strip()]
            if not all(name.strip().upper() in VERDICTS for name in names):
                return ALL  # CHECK-MANUALLY, or a text that only mentions the mark
            return ours(names, package.say(file))
    return None


# ---- the folder submissions/ of Kattis, ICPC and DOMjudge ----

_FOLDERS: Mapping[str, Constraint] = {
    "accepted": ACCEPTED,
    "wrong_answer": failing("WA", "OLE"),
    "time_limit_exceeded": failing("TLE"),
    "run_time_error": failing("RE", "MLE"),
    "runtime_error": failing("RE", "MLE"),
    "run-error": failing("RE", "MLE"),
    "compile_error": failing("CE"),
    "compiler_error": failing("CE"),
    "rejected": failing(*FAILURES),
    "brute_force": failing("TLE", "RE", "MLE"),
    "memory_limit_exceeded": failing("MLE", "RE"),
    "output_limit_exceeded": failing("OLE", "WA", "RE", "TLE"),
    "slow_accepted": constraint(("AC", "TLE"), None),
    "mixed": constraint(ALL, None),
}


def kattis_submissions(package: PackageFiles) -> list[dict[str, Any]]:
    """Return the submissions of the folder submissions/, with what submissions.yaml says of them.

    Raises RowError for files that can't be read.
    """
    folder = package.find("submissions")
    if folder is None or not folder.is_dir():
        return []
    settings = _settings(package)
    found: list[dict[str, Any]] = []
    for kind in (path for path in package.children(folder) if path.is_dir()):
        for path, files, language in programs(package, kind):
            if len(found) >= MOST_SUBMISSIONS:
                raise RowError(
                    f"submissions has more than {MOST_SUBMISSIONS} programs: remove some"
                )
            name = path.relative_to(folder).as_posix()
            found.append(_kattis_item(package, kind.name, path, name, files, language, settings))
    return found


def _kattis_item(
    package: PackageFiles,
    kind: str,
    path: Path,
    name: str,
    files: dict[str, str],
    language: str,
    settings: list[tuple[str, re.Pattern[str], Mapping[str, Any]]],
) -> dict[str, Any]:
    said = [(key, value) for key, pattern, value in settings if _covers(pattern, name)]
    expected: list[Constraint] = []
    if not any(key == kind for key, _ in said):
        by_mark = marked(package, path)
        if kind == "partially_accepted" and not said:
            return item(name, files, language, [constraint(None, None)], partial=True)
        if by_mark is not None:
            fails = [verdict for verdict in by_mark if verdict != "AC"]
            expected = [constraint(("AC", *fails), by_mark)] if fails else [ACCEPTED]
            if "AC" in by_mark and fails:
                expected = [constraint(by_mark, None)]
        elif kind in _FOLDERS:
            expected = [_FOLDERS[kind]]
    for _, value in said:
        expected += _constraints(value)
        language = LANGUAGES_OF_YAML.get(str(value.get("language", "")), language)
        first = str(value.get("entrypoint", ""))
        if first in files:
            files = {first: files[first], **files}
    expected = expected or [constraint(ALL, None)]
    return item(name, files, language, expected, whole=bool(said))


LANGUAGES_OF_YAML = {
    "python3": "python",
    "cpp": "c++20",
    "c": "c",
    "java": "java",
    "kotlin": "kotlin",
}
_CONSTRAINTS = frozenset(("permitted", "required"))
_OTHER_KEYS = frozenset(
    (
        "language",
        "entrypoint",
        "authors",
        "model_solution",
        "message",
        "score",
        "use_for_time_limit",
    )
)


def _settings(package: PackageFiles) -> list[tuple[str, re.Pattern[str], Mapping[str, Any]]]:
    path = package.find("submissions/submissions.yaml", "submissions.yaml")
    if path is None:
        return []
    name = package.say(path)
    found = [
        (key.strip("/"), glob_pattern(key.strip("/"), name), mapping(value, f"{name}: {key}"))
        for key, value in read_yaml(package, path).items()
    ]
    if len(found) > MOST_PATTERNS:
        raise RowError(f"{name} has {len(found)} entries: {MOST_PATTERNS} at most")
    for key, _, value in found:
        for constraint_ in (value, *_by_tests(value).values()):
            for which in _CONSTRAINTS:
                ours(words(constraint_.get(which), f"{name}: {key}: {which}"), f"{name}: {key}")
        for tests in _by_tests(value):
            glob_pattern(tests, name)
    return found


def _by_tests(value: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {
        key: mapping(inner, key)
        for key, inner in value.items()
        if key not in _CONSTRAINTS | _OTHER_KEYS
    }


def _constraints(value: Mapping[str, Any]) -> Iterator[Constraint]:
    for tests, inner in {"": value, **_by_tests(value)}.items():
        lists = [
            ours(words(inner[which], which), tests) if inner.get(which) else None
            for which in ("permitted", "required")
        ]
        if lists != [None, None]:
            yield constraint(lists[0], lists[1], tests)


def _covers(pattern: re.Pattern[str], name: str) -> bool:
    """Return whether a pattern matches a path or one of the folders that it is in."""
    path = PurePosixPath(name)
    return any(pattern.fullmatch(str(part)) for part in (path, *path.parents))


def glob_pattern(glob: str, where: str) -> re.Pattern[str]:
    """Return the pattern of a glob with `*`, `?` and braces; `*` matches no slash.

    Raises RowError for one that is long, or that stands for many.
    """
    if len(glob) > 200 or glob.count("*") > 6 or glob.count("{") > 4:
        raise RowError(f"{where} has the pattern {shown(glob)}: 200 characters and 6 * at most")
    parts = re.split(r"(\{[^{}]*\})", glob)
    choices = [part[1:-1].split(",") if part[:1] == "{" else [part] for part in parts]
    signs = {"*": "[^/]*", "?": "[^/]"}
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MOST_PATTERNS:
        raise RowError(f"{where} has the pattern {shown(glob)} for {count} names: write fewer")
    return re.compile(
        "|".join(
            "".join(signs.get(c, re.escape(c)) for c in "".join(choice))
            for choice in itertools.product(*choices)
        )
    )

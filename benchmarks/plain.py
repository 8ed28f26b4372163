"""A plain grading script to compare with: a thread pool and subprocess.run, without a sandbox.

It compiles every program, then runs every case; the checker runs when the output differs from the
expected one. Programs, tests, compiler flags and number of workers are the grader's.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gradebox.sandbox.languages import find


@dataclass(frozen=True)
class Case:
    """One run: the command, its test, the source of its checker."""

    command: tuple[str, ...]
    folder: Path
    test: dict[str, str]
    checker: str | None


def grade(problems: Path, solutions: Path, folder: Path, workers: int) -> tuple[int, int]:
    """Grade the whole set in `folder`. Return (cases, cases that passed)."""
    rows = {row["id"]: row for row in _lines(problems)}
    lines = list(enumerate(_lines(solutions)))
    with ThreadPoolExecutor(workers) as pool:
        commands = pool.map(lambda item: compile_one(item[1], folder / str(item[0])), lines)
        cases = list(_cases(lines, list(commands), rows, folder))
        passed = sum(pool.map(passes, enumerate(cases)))
    return len(cases), passed


def compile_one(line: dict[str, str], folder: Path) -> tuple[str, ...]:
    """Compile a program with the grader's flags. Return the command that runs it."""
    language = find(line["language"])
    folder.mkdir(parents=True)
    source, binary = folder / language.source, folder / "program"
    source.write_text(line["code"])
    if language.compile is None:
        return (python(), str(source))
    flags = [word.format(source=source, binary=binary) for word in language.compile]
    subprocess.run([language.tool[0], *flags], check=True, capture_output=True)
    return (str(binary),)


@cache
def python() -> str:
    """Return the interpreter's real path: a version manager's shim would cost 90 ms a start."""
    found = shutil.which("python3") or sys.executable
    words = [found, "-c", "import sys; print(sys._base_executable)"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def passes(item: tuple[int, Case]) -> bool:
    """Run one case and return whether it passes."""
    number, case = item
    run = subprocess.run(
        case.command, input=case.test["input"].encode(), capture_output=True, timeout=60
    )
    if run.returncode != 0:
        return False
    if run.stdout.split() == case.test["output"].encode().split():
        return True
    return case.checker is not None and _checked(number, case, run.stdout)


def _checked(number: int, case: Case, output: bytes) -> bool:
    texts = (case.test["input"].encode(), case.test["output"].encode(), output)
    names = [str(case.folder / f"{number}.{kind}") for kind in ("in", "out", "got")]
    for name, text in zip(names, texts, strict=True):
        Path(name).write_bytes(text)
    checker = case.folder / f"{number}.py"
    checker.write_text(case.checker or "")
    words = [python(), str(checker), *names]
    return subprocess.run(words, capture_output=True).stdout.strip() == b"1"


def _cases(
    lines: list[tuple[int, dict[str, str]]],
    commands: list[tuple[str, ...]],
    rows: dict[str, dict[str, Any]],
    folder: Path,
) -> Iterator[Case]:
    for (number, line), command in zip(lines, commands, strict=True):
        row = rows[line["id"]]
        for test in row["official_tests"]:
            yield Case(command, folder / str(number), test, row["generated_checker"])


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]

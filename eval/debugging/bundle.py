"""A case as files that run without gradebox.

README.txt   run.sh           what this is; builds, runs and judges
input.txt    expected.txt     the test
recorded_output.txt           what the program wrote in the run, where it was kept whole
solution/main.cpp             the program
judge.py     judging/         compares outputs as the run does; built-in checkers
checker/     checker.py | main.cpp testlib.h
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import checkers
from eval.debugging.bundle_script import judge_program, script
from eval.debugging.bundle_texts import JUDGE, README
from eval.debugging.explain import stored_output
from eval.debugging.find import Json
from eval.debugging.reopen import CaseAtHand
from eval.debugging.screen import clean
from eval.input_error import InputError
from sandbox import languages

_PACKAGE = Path(checkers.__file__).parent
_IMPORT = re.compile(r"^(\s*)(from|import) checkers\b", re.MULTILINE)
_EXECUTABLE = ("run.sh",)


def files_of(hand: CaseAtHand) -> dict[str, bytes]:
    """Relative path → contents; paths are of our choosing, never the dataset's."""
    row = languages.find(hand.subject.language)
    source = (hand.subject.solution.code or "").encode("utf-8", "surrogatepass")
    files = {
        "README.txt": README.format(case=clean(_about(hand))).encode(),
        "input.txt": hand.test.input,
        "expected.txt": hand.test.expected,
        f"solution/{row.source}": source,
        "judge.py": JUDGE.encode(),
        **_judging(),
        **_checker_files(hand),
    }
    stored = stored_output(hand.then) if hand.kit.interactor is None else None
    if stored is not None:
        files["recorded_output.txt"] = stored
    return {**files, "run.sh": script(hand).encode()}


def write(folder: Path, hand: CaseAtHand) -> list[str]:
    """Writes the files into a new or empty folder; their names. InputError when it can't."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(f"--export {folder}: the folder is not empty; give a new one")
        files = files_of(hand)
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o755 if name in _EXECUTABLE else 0o644)
    except OSError as e:
        raise InputError(f"--export {folder}: can't write there: {e.strerror}") from None
    return sorted(files)


def _about(hand: CaseAtHand) -> str:
    record: Json = hand.record
    return (
        f"problem {record.get('problem_id')}, sample {record.get('sample_i')} "
        f"({record.get('solution_id')}), case {hand.name}: {hand.then.get('verdict')} "
        f"{hand.then.get('reason')}"
    )


def _judging() -> dict[str, bytes]:
    """Our comparison and built-in checkers as a package of its own, `judging`."""
    wanted, found = ["checkers.compare", "checkers.builtins"], dict[str, Path]()
    while wanted:
        name = wanted.pop()
        path = _module(name)
        if name in found or path is None:
            continue
        found[name] = path
        wanted += _imports(path)
    files = {"judging/__init__.py": b""}
    for path in found.values():
        if path == _PACKAGE / "__init__.py":
            continue
        place = "judging/" + path.relative_to(_PACKAGE).as_posix()
        files[place] = _IMPORT.sub(r"\1\2 judging", path.read_text()).encode()
    return files


def _module(name: str) -> Path | None:
    path = _PACKAGE.parent.joinpath(*name.split("."))
    return next((p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()), None)


def _imports(path: Path) -> list[str]:
    """Modules of `checkers` that a file imports, with those that may be names in them."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "checkers":
            names += [str(node.module), *(f"{node.module}.{a.name}" for a in node.names)]
    return names


def _checker_files(hand: CaseAtHand) -> dict[str, bytes]:
    judge = judge_program(hand)
    return {} if judge is None else {f"checker/{n}": d for n, d in judge.program.files.items()}

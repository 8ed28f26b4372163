"""The files of an exported case.

README.txt   run.sh           what this is; builds, runs and judges
input.txt    expected.txt     the test
recorded_output.txt           what the program wrote in the run, if it was stored whole
solution/main.cpp             the program
judge.py     judging/         compares outputs as the run does; built-in checkers
checker/     checker.py | main.cpp testlib.h
compiling/   sitecustomize.py  with which run.sh lets Python compile a program without running it
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import gradebox.checkers
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import escape
from gradebox.eval.debugging.export.run_script import HOOK_FOLDER, judge_program, run_script
from gradebox.eval.debugging.export.templates import JUDGE, MARK, README
from gradebox.eval.debugging.reopen import OpenedCase, stored_output
from gradebox.eval.solutions.program import program_of
from gradebox.sandbox import languages, python_compile

_CHECKERS = Path(gradebox.checkers.__file__).parent
_IMPORT = re.compile(r"^(\s*)(from|import) gradebox\.checkers\b", re.MULTILINE)


def export_files(case: OpenedCase) -> dict[str, bytes]:
    """Return relative path ─▶ contents. No path contains text of the dataset."""
    record = case.record
    about = (
        f"problem {record.get('problem_id')}, sample {record.get('sample_i')} "
        f"({record.get('solution_id')}), case {case.name}: {case.recorded.get('verdict')} "
        f"{case.recorded.get('reason')}"
    )
    run, judge = case.solution_run, judge_program(case)
    marked = run.problem.test_kind == "marked"
    program = program_of(run.solution.code or "", run.language, run.problem)
    files = {
        "README.txt": README.format(case=escape(about)).encode(),
        "run.sh": run_script(case, program).encode(),
        "input.txt": MARK + b"\n" if marked else case.test.input,
        "expected.txt": b"\n" + MARK + b"\n" if marked else case.test.expected,
        **{f"solution/{name}": data for name, data in program.files.items()},
        "judge.py": JUDGE.encode(),
        **_judging_package(),
    }
    languages_used = [run.language, *([judge.program.language] if judge is not None else [])]
    if any(languages.find(name).family == "python" for name in languages_used):
        files[f"{HOOK_FOLDER}/{python_compile.HOOK_NAME}"] = python_compile.HOOK
    if judge is not None:
        files |= {f"checker/{name}": data for name, data in judge.program.files.items()}
    stored = None if case.interactive else stored_output(case.recorded)
    if stored is not None:
        files["recorded_output.txt"] = stored
    return files


def export_case(folder: Path, case: OpenedCase) -> list[str]:
    """Write the files into a new or empty folder and return their names.

    Raises InputError when the folder is not empty or can't be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(
                f"--export {folder}: the folder is not empty; give a new or an empty one"
            )
        files = export_files(case)
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o755 if name == "run.sh" else 0o644)
    except OSError as e:
        raise InputError(
            f"--export {folder}: can't be written: {e.strerror}; give another folder"
        ) from None
    return sorted(files)


def _judging_package() -> dict[str, bytes]:
    """Return our comparison and built-in checkers as a package of its own, `judging`."""
    wanted = [f"gradebox.checkers.{name}" for name in ("compare", "builtins", "values.judges")]
    found = dict[str, Path]()
    while wanted:
        name = wanted.pop()
        path = _module_path(name)
        if name not in found and path is not None:
            found[name] = path
            wanted += _imported_checkers(path)
    files = {"judging/__init__.py": b""}
    for path in found.values():
        if path != _CHECKERS / "__init__.py":
            text = _IMPORT.sub(r"\1\2 judging", path.read_text())
            files["judging/" + path.relative_to(_CHECKERS).as_posix()] = text.encode()
    return files


def _module_path(name: str) -> Path | None:
    path = _CHECKERS.joinpath(*name.split(".")[2:])
    return next((p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()), None)


def _imported_checkers(path: Path) -> list[str]:
    """Return the modules of `gradebox.checkers` that a file imports.

    An imported name may be a module or a member of one, so both readings are returned.
    """
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gradebox.checkers"):
            names += [str(node.module), *(f"{node.module}.{a.name}" for a in node.names)]
    return names

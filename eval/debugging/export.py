"""The files of an exported case.

README.txt   run.py           what this is; builds, runs and judges
case.json                     languages, limits, and what judges
input.txt    expected.txt     the test
recorded_output.txt           what the program wrote in the run, if it was stored whole
solution/main.cpp             the program
checker/     checker.py | main.cpp testlib.h
judging/                      the modules that run.py imports
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import gradebox.checkers
from gradebox.checkers.programs import ProgramJudge
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import escape
from gradebox.eval.debugging.reopen import OpenedCase
from gradebox.eval.results.records import recorded_output
from gradebox.eval.solutions.program import program_of
from gradebox.sandbox.model import Program

README = """\
{case}

  python3 run.py     builds the program, runs it on input.txt and judges its output

It needs Python 3.10 or newer and, for C++, g++. It does not need gradebox.

The program and the checker run as you, without a sandbox. Read them first.

  solution/          the program
  input.txt          the test
  expected.txt       the expected output
  recorded_output.txt  what the program wrote in the run (missing if it was cut)
  checker/           the problem's checker program, if it has one
  case.json          languages, limits, and what judges
  judging/           the parts of gradebox that decide the verdict
"""
_PACKAGE = Path(gradebox.checkers.__file__).parents[1]
_IMPORT = re.compile(r"^(\s*)(from|import) gradebox\b", re.MULTILINE)


def export_files(case: OpenedCase) -> dict[str, bytes]:
    """Return relative path ─▶ contents. No path contains text of the dataset."""
    record = case.record
    about = (
        f"problem {record.get('problem_id')}, sample {record.get('sample_i')} "
        f"({record.get('solution_id')}), case {case.name}: {case.recorded.get('verdict')} "
        f"{case.recorded.get('reason')}"
    )
    run, judge = case.solution_run, _judge_program(case)
    program = program_of(run.solution.code or "", run.language, run.problem, run.solution.files)
    files = {
        "README.txt": README.format(case=escape(about)).encode(),
        "case.json": json.dumps(_facts(case, program), indent=1).encode(),
        "input.txt": case.test.input,
        "expected.txt": case.test.expected,
        **{f"solution/{name}": data for name, data in program.files.items()},
        **_run_script(),
    }
    if judge is not None:
        files |= {f"checker/{name}": data for name, data in judge.files.items()}
    stored = None if case.interactive else recorded_output(case.recorded)
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
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o644)
    except OSError as e:
        raise InputError(
            f"--export {folder}: can't be written: {e.strerror}; give another folder"
        ) from None
    return sorted(files)


def _judge_program(case: OpenedCase) -> Program | None:
    """Return the program that judges the case; None for the comparison and built-in checkers."""
    judge = case.resources.judge
    return judge.program if isinstance(judge, ProgramJudge) else None


def _facts(case: OpenedCase, program: Program) -> dict[str, Any]:
    """Return what run.py needs beside the files."""
    problem, judge = case.solution_run.problem, case.resources.judge
    info = problem.info_of(case.ref.case_type, case.ref.index)
    about: dict[str, Any] = {"name": case.judge_name}
    if isinstance(judge, ProgramJudge):
        of_judge = judge.program
        names = (name for name, row in PROTOCOLS.items() if row is judge.protocol)
        about |= {
            "protocol": next(names, "tests"),
            "language": of_judge.language,
            "files": list(of_judge.files),
            "args": [*judge.extra_args, *info.args],
            "full_points": judge.full_points if info.points is None else info.points,
            "interactive": case.interactive,
        }
    elif judge is not None:  # a built-in checker: its name with its options
        name = case.session.options.checker or problem.checker_name or judge.name
        about["name"] = " ".join((name, *info.args))
    return {
        "language": case.solution_run.language,
        "files": list(program.files),
        "names": problem.files,
        "cpu_s": case.bounds.cpu_s,
        "memory_bytes": case.bounds.memory_bytes,
        "compare": case.settings.compare,
        "judge": about,
    }


def _run_script() -> dict[str, bytes]:
    """Return run.py, and the modules of ours that it imports as a package of its own, `judging`."""
    wanted = ["gradebox.eval.debugging.exported_run"]
    files = {f"judging/{name}/__init__.py": b"" for name in ("checkers", "sandbox")}
    while wanted:
        path = _module_path(wanted.pop())
        name = "" if path is None else f"judging/{path.relative_to(_PACKAGE).as_posix()}"
        if path is None or name in files:
            continue
        wanted += _imported_modules(path)
        files[name] = _IMPORT.sub(r"\1\2 judging", path.read_text("utf-8")).encode()
        if (rows := path.with_suffix(".json")).is_file():  # that it reads, as languages.py does
            files[f"judging/{rows.relative_to(_PACKAGE).as_posix()}"] = rows.read_bytes()
    run = files.pop("judging/eval/debugging/exported_run.py")
    folders = {folder for name in files for folder in Path(name).parents} - {Path()}
    return {"run.py": run, **{f"{folder}/__init__.py": b"" for folder in folders}, **files}


def _module_path(name: str) -> Path | None:
    path = _PACKAGE.joinpath(*name.split(".")[1:])
    return next((p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()), None)


def _imported_modules(path: Path) -> list[str]:
    """Return our modules that a file imports.

    An imported name may be a module or a member of one, so both readings are returned.
    """
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gradebox."):
            names += [str(node.module), *(f"{node.module}.{a.name}" for a in node.names)]
    return names

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
import math
import re
import shlex
from pathlib import Path

import checkers
from checkers.builtins import Builtin
from checkers.programs import ProgramChecker
from eval.debugging.bundle_texts import JUDGE, README, RUN, VERDICTS
from eval.debugging.explain import stored_output
from eval.debugging.find import Json
from eval.debugging.reopen import CaseAtHand
from eval.debugging.screen import clean
from eval.input_error import InputError
from sandbox import languages
from sandbox.model import MIB

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
    stored = stored_output(hand.then)
    if stored is not None:
        files["recorded_output.txt"] = stored
    if hand.kit.interactor is not None:  # two programs joined by pipes: no script for that
        program = hand.kit.interactor.runs.program
        files |= {f"interactor/{name}": data for name, data in program.files.items()}
        return files
    return {**files, "run.sh": _script(hand, row).encode()}


def write(folder: Path, hand: CaseAtHand) -> list[str]:
    """Writes the files into a new or empty folder; their names. InputError when it can't."""
    if hand.kit.interactor is not None:
        raise InputError("an interactive case needs two programs joined by pipes: use --shell")
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
    checker = hand.kit.checker
    if not isinstance(checker, ProgramChecker):
        return {}
    return {f"checker/{name}": data for name, data in checker.program.files.items()}


def _script(hand: CaseAtHand, row: languages.Language) -> str:
    """run.sh: builds, runs within the CPU limit, judges."""
    by_file = hand.subject.problem.input_mode == "file"
    return RUN.format(
        build=_build(row, "solution", "program"),
        program=_run(row, "../solution", "../build/program"),
        cpu_s=max(1, math.ceil(hand.bounds.cpu_s)),
        limits=f"{hand.bounds.cpu_s:g} s of CPU time, {hand.bounds.memory_bytes / MIB:g} MB",
        stdin="/dev/null" if by_file else "../input.txt",
        before="cp ../input.txt input.txt" if by_file else ":",
        after="[ -f output.txt ] && cp output.txt ../output.txt"
        if by_file
        else "cp stdout.txt ../output.txt",
        mode=hand.bench.compare,
        judge=_judge(hand),
    )


def _build(row: languages.Language, folder: str, binary: str) -> str:
    if row.output or row.then:  # a runtime, a second command: more than a line of shell
        text = f"run.sh knows no way to build {row.name}: build and run {folder}/{row.source}"
        return f"echo {shlex.quote(text)} && exit 1"
    if row.compile is None:
        return ":"
    words = [
        word.replace("{source}", f"{folder}/{row.source}").replace("{binary}", f"build/{binary}")
        for word in row.compile
    ]
    return shlex.join([row.tool[0], *words])


def _run(row: languages.Language, folder: str, binary: str) -> str:
    places = {"{tool}": row.tool[0], "{source}": f"{folder}/{row.source}", "{binary}": binary}
    return shlex.join(places.get(word, word) for word in row.run)  # else as in the run


def _judge(hand: CaseAtHand) -> str:
    """The lines of run.sh that judge an output which is not equal to the expected one."""
    checker = hand.kit.checker
    if isinstance(checker, Builtin):
        name = hand.materials.options.checker or hand.subject.problem.checker_name
        return f"python3 judge.py builtin {shlex.quote(name or checker.name)}"
    if not isinstance(checker, ProgramChecker):
        return "python3 judge.py difference " + shlex.quote(hand.bench.compare)
    protocol, program = checker.protocol, checker.program
    row = languages.find(program.language)
    main = next(iter(program.files))
    source = f"../checker/{main}"
    lines = ["rm -rf checking && mkdir checking"]
    if row.compile is not None:
        lines.insert(0, _build(row, "checker", "checker"))
    names = [(protocol.input, "input.txt"), (protocol.answer, "expected.txt")]
    if protocol.output is not None:
        names.append((protocol.output, "output.txt"))
    lines += [f"cp {place} checking/{name}" for name, place in names]
    command = ["../build/checker"] if row.compile is not None else [row.tool[0], source]
    command += protocol.arguments(checker.extra_args)
    stdin = "" if protocol.output is not None else " < ../output.txt"
    keeps = " > ../checker_stdout.txt" if protocol.name == "python" else ""
    lines += [
        f"(cd checking && {shlex.join(command)}{stdin}{keeps})",
        'said=$?; echo "checker: exit status $said"',
        VERDICTS[protocol.name],
    ]
    return "\n".join(lines)

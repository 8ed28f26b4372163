"""Exported cases build, run and judge without gradebox."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.debugging.export import export_case, export_files
from gradebox.eval.debugging.reopen import Overrides, open_case
from testing.commands import run_command
from testing.rows import rows
from tests.eval.debugging.small_run import SmallRun
from tests.eval.grading.test_ioi import LARGEST
from tests.eval.grading.test_ioi import ROWS as IOI_ROWS

# Exit status as testlib's: 0 right, 1 wrong, 3 failure of the checker.
TESTLIB_CHECKER = b"""
#include "testlib.h"
#include <fstream>
#include <string>
int main(int, char** names) {
    std::string word;
    std::ifstream(names[2]) >> word;
    return word == "other" ? OK : word == "crash" ? 3 : 1;
}
"""
CPP = '#include <iostream>\nint main() { std::string s; std::cin >> s; std::cout << "%s\\n"; }\n'


# Judges several exported cases with the run.py of the first, in one process.
RUN_ALL = """
import pathlib, sys, tempfile
sys.path.insert(0, sys.argv[1])
import run
run.long_outputs.SHORT_BYTES = sys.maxsize
for case in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as folder:
        print("verdict:", run.run_case(pathlib.Path(case), folder), end="\\0")
"""


def export(folder: Path, code: str, language: str = "python", **problem: Any) -> Path:
    """Export a case into a new folder."""
    folder.mkdir(exist_ok=True)
    checker, interact = problem.pop("with_checker", None), "interactor" in problem
    row = {"id": "1/A", "official_tests": ["1\n"], **problem}
    solutions = [{"id": "1/A", "code": code, "language": language}]
    small_run = SmallRun(folder, solutions, [row], interact=interact)
    record, case = small_run.case("1/A", 0, "official:0")
    target = folder / "it's here"
    with open_case(
        small_run.results, record, case, Overrides(checker=checker), small_run.sandbox
    ) as opened:
        assert "run.py" in export_case(target, opened)
    return target


def process(*arguments: str | Path) -> str:
    """Run Python without this repository and without site-packages; return what it prints."""
    done = run_command(
        [sys.executable, "-S", *map(str, arguments)],
        cwd="/",
        env={"PATH": os.environ["PATH"]},
        timeout=170,
    )
    return done.stdout + done.stderr


def printed(folder: Path, code: str, language: str = "python", **problem: Any) -> str:
    """Return what the run.py of an exported case prints."""
    return process(export(folder, code, language, **problem) / "run.py")


def check_all(targets: list[Path], messages: list[str]) -> None:
    """Judge the exported cases, and check that each prints its message."""
    found = process("-c", RUN_ALL, *targets).split("\0")
    assert len(found) == len(targets) + 1, found[-1]
    wrong = [(message, text) for message, text in zip(messages, found, strict=False)
             if message not in text]  # fmt: skip
    assert wrong == []


def test_no_module_of_ours_is_imported(tmp_path):
    for path in export(tmp_path, "print(1)").rglob("*.py"):
        found = re.search(r"^\s*(from|import) (gradebox|eval|sandbox|checkers)\b", path.read_text())
        assert found is None, path


CASES: list[tuple[str, dict[str, Any], str]] = rows(__file__, "cases")


@pytest.mark.slow(seconds=3)
@pytest.mark.parametrize("part", [0, 1])
def test_run_py_builds_runs_and_judges(tmp_path, part):
    cases = CASES[part::2]
    targets = [
        export(tmp_path / str(i), code, **problem) for i, (code, problem, _) in enumerate(cases)
    ]
    check_all(targets, [message for _, _, message in cases])


@pytest.mark.slow(seconds=4)
def test_cpp_programs_and_testlib_checkers_are_built(tmp_path):
    (tmp_path / "check.cpp").write_bytes(TESTLIB_CHECKER)
    (tmp_path / "testlib.h").write_text("enum { OK = 0 };\n")
    name = f"testlib:{tmp_path / 'check.cpp'}"
    words = ("other", "wrong", "crash")
    targets = [export(tmp_path / w, CPP % w, "cpp", with_checker=name) for w in words]
    check_all(targets, ["AC passed_by_checker", "WA failed_checker", "CU checker_unclear"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("checker", "message"),
    [
        ("kattis:{}/validate.py", "verdict: WA failed_checker"),
        ("command:cmp -s {{output}} {{answer}}", "verdict: WA failed_checker"),
    ],
)
def test_validators_and_commands_judge(tmp_path, checker, message):
    (tmp_path / "validate.py").write_text(
        "import sys\nfolder = sys.argv[3]\n"
        "open(folder + 'judgemessage.txt', 'w').write('because')\nsys.exit(43)\n"
    )
    text = printed(tmp_path, "print(2)", with_checker=checker.format(tmp_path))
    assert message in text
    assert ("because" in text) == checker.startswith("kattis")


INTERACTOR = """
import sys
wanted = open(sys.argv[1]).read().strip()
print("double", wanted, flush=True)
sys.exit(42 if input() == str(2 * int(wanted)) else 43)
"""


@pytest.mark.slow
def test_a_program_runs_with_its_interactor(tmp_path):
    problem = {"official_tests": ["7\n"], "interactor": "kattis:talk.py"}
    targets = []
    for i, code in enumerate(("print(2 * int(input().split()[1]))", "print(input())", "pass")):
        (tmp_path / str(i)).mkdir()
        (tmp_path / str(i) / "talk.py").write_text(INTERACTOR)
        targets.append(export(tmp_path / str(i), code, **problem))
    ended = "program: exit status 0"
    check_all(targets, ["AC passed_by_checker", "WA failed_checker", "CU checker_unclear"])
    assert ended in process(targets[0] / "run.py")


@pytest.mark.slow  # node starts
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_tests_in_the_language_of_the_program(tmp_path):
    rows = {
        "return [x];": "verdict: AC passed_by_checker",
        "return 2;": "verdict: WA failed_checker: call 1: expected [1], found 2",
        "process.exit(0);": "WA failed_checker: the program ended before its last call",
    }
    problem: dict[str, Any] = {
        "test_kind": "assert",
        "tests_language": "javascript",
        "entry_point": "f",
        "prompt": "function f(x) {\n",
        "joined_tests": "const assert = require('node:assert');\nfunction test() {\n"
        "  let candidate = f;\n  assert.deepEqual(candidate(1),[1]);\n}\ntest();",
        "checker": "results-javascript",
        "official_tests": ["[1]\n"],
    }
    targets = [
        export(
            tmp_path / str(i),
            f"function f(x) {{ console.log(x); {body} }}",
            "javascript",
            **problem,
        )
        for i, body in enumerate(rows)
    ]
    check_all(targets, list(rows.values()))


@pytest.mark.slow(seconds=4)  # it compiles programs
def test_graders_and_their_checkers(tmp_path):
    graders = [list(file) for file in IOI_ROWS[0]["grader_files"]]
    targets = [
        export(
            tmp_path / str(result),
            f"{LARGEST}{{ return {result}; }}\n",
            "cpp",
            test_kind="graded",
            graders=graders,
        )
        for result in (1, 2, 9)
    ]
    check_all(targets, ["AC passed_by_exact_match", "WA partial_points", "WA failed_checker"])


def test_no_text_of_the_dataset_is_in_paths_or_the_script(tmp_path):
    evil = "../../x\n$(touch pwned)'\"`id`"
    problem = {"id": "1/A", "official_tests": ["1\n"]}
    small_run = SmallRun(tmp_path, [{"id": "1/A", "code": "wrong", "solution_id": evil}], [problem])
    record, case = small_run.case("1/A", 0)
    with open_case(small_run.results, record, case, Overrides(), small_run.sandbox) as opened:
        files = export_files(opened)
    assert all(re.fullmatch(r"[a-zA-Z0-9_/]+\.\w+", name) and ".." not in name for name in files)
    assert not any(b"pwned" in files[name] for name in ("run.py", "case.json"))
    assert files["README.txt"].decode().isascii() and b"x\\n$(touch" in files["README.txt"]


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), lambda p: p.write_text("")])
def test_a_folder_that_is_not_empty_is_rejected(tmp_path, small_run, make):
    target = tmp_path / "out"
    target.mkdir()
    make(target / "mine")
    record, case = small_run.case("1/A", 1)
    with open_case(small_run.results, record, case, Overrides(), small_run.sandbox) as opened:
        with pytest.raises(InputError, match="the folder is not empty; give a new or an empty one"):
            export_case(target, opened)
        with pytest.raises(InputError, match=r"can't be written"):
            export_case(Path("/dev/null/x"), opened)
    assert [p.name for p in target.iterdir()] == ["mine"]


@pytest.mark.slow(seconds=1)
def test_an_unsupported_language_is_reported(tmp_path):
    assert "run.py cannot build java: build and run solution/" in printed(tmp_path, "wrong", "java")

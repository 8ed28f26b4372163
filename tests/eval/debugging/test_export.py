"""Exported cases build, run and judge without gradebox."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.debugging.export.files import export_case, export_files
from gradebox.eval.debugging.reopen import Overrides, open_case
from tests.eval.debugging.small_run import SmallRun
from tests.eval.grading.test_ioi import LARGEST
from tests.eval.grading.test_ioi import ROWS as IOI_ROWS

PYTHON_CHECKER = """
import sys
output = open(sys.argv[3]).read()
assert "crash" not in output
print(1 if output.strip() == "other" else 0)
"""
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


def exported(folder: Path, code: str, language: str = "python", **problem: Any) -> str:
    """Export a case, run its run.py outside of this repository, and return the output."""
    checker = problem.pop("with_checker", None)
    row = {"id": "1/A", "official_tests": ["1\n"], **problem}
    small_run = SmallRun(folder, [{"id": "1/A", "code": code, "language": language}], [row])
    record, case = small_run.case("1/A", 0, "official:0")
    target = folder / "it's here"
    with open_case(
        small_run.results, record, case, Overrides(checker=checker), small_run.sandbox
    ) as opened:
        names = export_case(target, opened)
    assert "run.py" in names
    for path in target.rglob("*.py"):
        found = re.search(r"^\s*(from|import) (gradebox|eval|sandbox|checkers)\b", path.read_text())
        assert found is None, path
    done = subprocess.run(
        [sys.executable, "-S", str(target / "run.py")],
        cwd="/",
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "problem", "message"),
    [
        ("print(input())", {}, "verdict: AC passed_by_exact_match"),
        ("print(input(), '7 ' * 20_000)", {}, "verdict: WA failed_outputs_match: token 2"),
        ("print(2)", {}, "verdict: WA failed_outputs_match: token 1: expected '1', found '2'"),
        (
            "print(input(), file=open('output.txt', 'w'))",
            {"input_mode": "file"},
            "verdict: RE runtime_error: exit code 1",
        ),
        (
            "print(open('input.txt').read(), file=open('output.txt', 'w'))",
            {"input_mode": "file"},
            "verdict: AC passed_by_exact_match",
        ),
        (
            "print(1)",
            {"input_mode": "file"},
            "verdict: WA failed_outputs_match: output.txt was not written",
        ),
        ("raise SystemExit(3)", {}, "verdict: RE runtime_error: exit code 3"),
        ("while 1: pass", {"time_limit": 0.5}, "verdict: TLE"),
        ("print(input()", {}, "verdict: CE compile_error: the program does not compile"),
        ("eval('1 +')", {}, "verdict: RE runtime_error: exit code 1"),
        ("print('other')", {"generated_checker": PYTHON_CHECKER}, "verdict: AC passed_by_checker"),
        ("print('wrong')", {"generated_checker": PYTHON_CHECKER}, "verdict: WA failed_checker"),
        (
            "print('crash')",
            {"generated_checker": PYTHON_CHECKER},
            "verdict: CU checker_unclear: the checker ended with",
        ),
        ("print('1 ')", {"generated_checker": "print(0)"}, "verdict: WA failed_checker"),
        ("print(1)", {"generated_checker": "print(0)"}, "verdict: AC passed_by_exact_match"),
        ("print('+1')", {"checker": "ncmp"}, "verdict: WA presentation_error"),
        (
            "print('1.0000001')",
            {"checker": "kattis float_tolerance 1e-3"},
            "verdict: AC passed_by_checker",
        ),
    ],
)
def test_run_py_builds_runs_and_judges(
    tmp_path: Path, code: str, problem: dict[str, Any], message: str
) -> None:
    assert message in exported(tmp_path, code, **problem)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("other", "verdict: AC passed_by_checker"),
        ("wrong", "verdict: WA failed_checker"),
        ("crash", "verdict: CU checker_unclear"),
    ],
)
def test_cpp_programs_and_testlib_checkers_are_built(
    tmp_path: Path, word: str, message: str
) -> None:
    (tmp_path / "check.cpp").write_bytes(TESTLIB_CHECKER)
    (tmp_path / "testlib.h").write_text("enum { OK = 0 };\n")
    name = f"testlib:{tmp_path / 'check.cpp'}"
    printed = exported(tmp_path, CPP % word, "cpp", with_checker=name)
    assert message in printed


@pytest.mark.slow
def test_a_compile_error_is_reported(tmp_path: Path) -> None:
    assert "verdict: CE compile_error: the program does not compile" in exported(
        tmp_path, "int x", "cpp"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("checker", "message"),
    [
        ("kattis:{}/validate.py", "verdict: WA failed_checker"),
        ("command:cmp -s {{output}} {{answer}}", "verdict: WA failed_checker"),
    ],
)
def test_validators_and_commands_judge(tmp_path: Path, checker: str, message: str) -> None:
    (tmp_path / "validate.py").write_text(
        "import sys\nfolder = sys.argv[3]\n"
        "open(folder + 'judgemessage.txt', 'w').write('because')\nsys.exit(43)\n"
    )
    printed = exported(tmp_path, "print(2)", with_checker=checker.format(tmp_path))
    assert message in printed
    assert ("because" in printed) == checker.startswith("kattis")


INTERACTOR = """
import sys
wanted = open(sys.argv[1]).read().strip()
print("double", wanted, flush=True)
sys.exit(42 if input() == str(2 * int(wanted)) else 43)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print(2 * int(input().split()[1]))", "verdict: AC passed_by_checker"),
        ("print(input())", "verdict: WA failed_checker"),
        ("pass", "verdict: CU checker_unclear"),
    ],
)
def test_a_program_runs_with_its_interactor(tmp_path: Path, code: str, message: str) -> None:
    (tmp_path / "talk.py").write_text(INTERACTOR)
    row = {"id": "1/A", "official_tests": ["7\n"], "interactor": "kattis:talk.py"}
    small_run = SmallRun(tmp_path, [{"id": "1/A", "code": code}], [row], interact=True)
    record, case = small_run.case("1/A", 0, "official:0")
    with open_case(small_run.results, record, case, Overrides(), small_run.sandbox) as opened:
        export_case(tmp_path / "out", opened)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "out" / "run.py")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert message in done.stdout and "program: exit status 0" in done.stdout


@pytest.mark.slow  # node starts
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "return [x];",
            "verdict: AC passed_by_checker",
        ),
        ("return 2;", "verdict: WA failed_checker: call 1: expected [1], found 2"),
        ("process.exit(0);", "WA failed_checker: the program ended before its last call"),
    ],
)
def test_tests_in_the_language_of_the_program(tmp_path: Path, body: str, message: str) -> None:
    printed = exported(
        tmp_path,
        f"function f(x) {{ console.log(x); {body} }}",
        "javascript",
        test_kind="assert",
        tests_language="javascript",
        entry_point="f",
        prompt="function f(x) {\n",
        joined_tests="const assert = require('node:assert');\nfunction test() {\n"
        "  let candidate = f;\n  assert.deepEqual(candidate(1),[1]);\n}\ntest();",
        checker="results-javascript",
        official_tests=["[1]\n"],
    )
    assert message in printed


@pytest.mark.slow  # it compiles programs
@pytest.mark.parametrize(
    ("result", "message"),
    [
        (1, "verdict: AC passed_by_exact_match"),
        (2, "verdict: WA failed_checker"),
        (9, "verdict: WA failed_checker"),
    ],
)
def test_graders_and_their_checkers(tmp_path: Path, result: int, message: str) -> None:
    graders = [list(file) for file in IOI_ROWS[0]["grader_files"]]
    code = f"{LARGEST}{{ return {result}; }}\n"
    assert message in exported(tmp_path, code, "cpp", test_kind="graded", graders=graders)


def test_no_text_of_the_dataset_is_in_paths_or_the_script(tmp_path: Path) -> None:
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
def test_a_folder_that_is_not_empty_is_rejected(
    tmp_path: Path, small_run: SmallRun, make: Any
) -> None:
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


def test_an_unsupported_language_is_reported(tmp_path: Path) -> None:
    assert "run.py cannot build java: build and run solution/" in exported(
        tmp_path, "wrong", "java"
    )

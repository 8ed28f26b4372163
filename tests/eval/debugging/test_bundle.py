"""Exported cases: they build, run and judge with plain tools, and import nothing of ours."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from checkers.programs.protocols import PROTOCOLS
from eval.debugging.bundle import files_of, write
from eval.debugging.bundle_texts import VERDICTS
from eval.debugging.reopen import Overrides, at_hand
from eval.input_error import InputError
from tests.eval.debugging.made_run import MadeRun

PYTHON_CHECKER = """
import sys
output = open(sys.argv[3]).read()
assert "crash" not in output
print(1 if output.strip() == "other" else 0)
"""
# Exit status as testlib's: 0 right, 1 wrong, 3 its own failure.
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
    """What run.sh prints for a program, run where nothing of this repository is at hand."""
    checker = problem.pop("with_checker", None)
    row = {"id": "1/A", "official_tests": ["1\n"], **problem}
    made = MadeRun(folder, [{"id": "1/A", "code": code, "language": language}], [row])
    record, case = made.case("1/A", 0, "official:0")
    target = folder / "it's here"
    with at_hand(made.results, record, case, Overrides(checker=checker), made.sandbox) as hand:
        names = write(target, hand)
    assert "run.sh" in names
    for path in target.rglob("*.py"):
        found = re.search(r"^\s*(from|import) (gradebox|eval|sandbox|checkers)\b", path.read_text())
        assert found is None, path
    done = subprocess.run(
        ["sh", str(target / "run.sh")],
        cwd="/",
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "problem", "said"),
    [
        ("print(input())", {}, "verdict: AC, the output equals the expected one"),
        ("print(2)", {}, "verdict: WA, token 1: expected '1', found '2'"),
        ("print(input(), file=open('output.txt', 'w'))", {"input_mode": "file"}, "RE, exit"),
        (
            "print(open('input.txt').read(), file=open('output.txt', 'w'))",
            {"input_mode": "file"},
            "verdict: AC, the output equals",
        ),
        ("print(1)", {"input_mode": "file"}, "nothing was written"),
        ("raise SystemExit(3)", {}, "verdict: RE, exit status 3"),
        ("while 1: pass", {"time_limit": 0.5}, "verdict: TLE"),
        ("print('other')", {"generated_checker": PYTHON_CHECKER}, "verdict: AC, the checker's s"),
        ("print('wrong')", {"generated_checker": PYTHON_CHECKER}, "verdict: WA, the checker's s"),
        ("print('crash')", {"generated_checker": PYTHON_CHECKER}, "verdict: CU, the checker fai"),
        ("print('+1')", {"checker": "ncmp"}, "verdict: rejected by ncmp (PE)"),
        ("print('1.0000001')", {"checker": "kattis float_tolerance 1e-3"}, "verdict: accepted"),
    ],
)
def test_the_script_builds_runs_and_judges(
    tmp_path: Path, code: str, problem: dict[str, Any], said: str
) -> None:
    assert said in exported(tmp_path, code, **problem)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "said"),
    [("other", "verdict: AC by the"), ("wrong", "verdict: WA by the"), ("crash", "verdict: CU")],
)
def test_cpp_programs_and_testlib_checkers_are_built(tmp_path: Path, word: str, said: str) -> None:
    (tmp_path / "check.cpp").write_bytes(TESTLIB_CHECKER)
    (tmp_path / "testlib.h").write_text("enum { OK = 0 };\n")
    name = f"testlib:{tmp_path / 'check.cpp'}"
    printed = exported(tmp_path, CPP % word, "cpp", with_checker=name)
    assert said in printed


@pytest.mark.slow
def test_a_program_that_does_not_compile_is_said_to(tmp_path: Path) -> None:
    assert "verdict: CE, the program does not compile" in exported(tmp_path, "int x", "cpp")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("checker", "said"),
    [
        ("kattis:{}/validate.py", "verdict: WA by the validator"),
        ("command:cmp -s {{output}} {{answer}}", "verdict: WA by the checker"),
    ],
)
def test_validators_and_commands_run_as_well(tmp_path: Path, checker: str, said: str) -> None:
    (tmp_path / "validate.py").write_text(
        "import sys\nfolder = sys.argv[3]\n"
        "open(folder + 'judgemessage.txt', 'w').write('because')\nsys.exit(43)\n"
    )
    printed = exported(tmp_path, "print(2)", with_checker=checker.format(tmp_path))
    assert said in printed
    assert ("because" in printed) == checker.startswith("kattis")


INTERACTOR = """
import sys
wanted = open(sys.argv[1]).read().strip()
print("double", wanted, flush=True)
sys.exit(42 if input() == str(2 * int(wanted)) else 43)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("print(2 * int(input().split()[1]))", "verdict: AC by the validator"),
        ("print(input())", "verdict: WA by the validator"),
        ("pass", "verdict: CU, the validator failed"),
    ],
)
def test_a_program_and_its_interactor_talk(tmp_path: Path, code: str, said: str) -> None:
    (tmp_path / "talk.py").write_text(INTERACTOR)
    row = {"id": "1/A", "official_tests": ["7\n"], "interactor": "kattis:talk.py"}
    made = MadeRun(tmp_path, [{"id": "1/A", "code": code}], [row], interact=True)
    record, case = made.case("1/A", 0, "official:0")
    with at_hand(made.results, record, case, Overrides(), made.sandbox) as hand:
        write(tmp_path / "out", hand)
    done = subprocess.run(
        ["sh", str(tmp_path / "out" / "run.sh")], capture_output=True, text=True, timeout=60
    )
    assert said in done.stdout and "program: exit status 0" in done.stdout


def test_every_protocol_has_its_verdicts() -> None:
    assert set(VERDICTS) == set(PROTOCOLS)


def test_names_are_never_the_datasets(tmp_path: Path) -> None:
    evil = "../../x\n$(touch pwned)'\"`id`"
    problem = {"id": "1/A", "official_tests": ["1\n"]}
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "wrong", "solution_id": evil}], [problem])
    record, case = made.case("1/A", 0)
    with at_hand(made.results, record, case, Overrides(), made.sandbox) as hand:
        files = files_of(hand)
    assert all(re.fullmatch(r"[a-zA-Z0-9_/]+\.\w+", name) and ".." not in name for name in files)
    assert b"pwned" not in files["run.sh"]
    assert files["README.txt"].decode().isascii() and b"x\\x0a$(touch" in files["README.txt"]


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), lambda p: p.write_text("")])
def test_a_folder_in_use_is_not_written_into(tmp_path: Path, made: MadeRun, make: Any) -> None:
    target = tmp_path / "out"
    target.mkdir()
    make(target / "mine")
    record, case = made.case("1/A", 1)
    with at_hand(made.results, record, case, Overrides(), made.sandbox) as hand:
        with pytest.raises(InputError, match="the folder is not empty; give a new one"):
            write(target, hand)
        with pytest.raises(InputError, match=r"can't write there"):
            write(Path("/dev/null/x"), hand)
    assert [p.name for p in target.iterdir()] == ["mine"]


def test_a_language_run_sh_cannot_build_is_said(tmp_path: Path) -> None:
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "wrong", "language": "java"}])
    record, case = made.case("1/A", 0)
    with at_hand(made.results, record, case, Overrides(), made.sandbox) as hand:
        assert b"run.sh knows no way to build java" in files_of(hand)["run.sh"]

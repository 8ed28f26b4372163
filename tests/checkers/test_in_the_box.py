"""Checkers and interactors in the embedded sandbox give the same verdicts as elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.checkers import open_checker
from gradebox.checkers.interactive import judge_interaction, open_interactor
from gradebox.sandbox.errors import SandboxUnavailable
from gradebox.sandbox.model import Limits, Program
from gradebox.sandbox.opening import open_sandbox
from gradebox.sandbox.protocol import Sandbox
from tests.checkers.test_interactive import TALKS
from tests.checkers.test_opening import KATTIS, PYTHON_ROWS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        box = open_sandbox("local", slots=1)
    except SandboxUnavailable as e:
        pytest.skip(f"no embedded sandbox here: {e}")
    with box:
        yield box


@pytest.mark.parametrize(("source", "outcome", "words"), PYTHON_ROWS.values(), ids=PYTHON_ROWS)
def test_python_checkers(sandbox: Sandbox, source: str, outcome: str, words: str) -> None:
    checker = open_checker(sandbox, source=source or "pass", name=None)
    assert checker is not None
    check = checker.check(b"9", b"-3", b"3")
    assert (check.outcome, words in check.message) == (outcome, True)
    checker.close()


def test_a_checker_sees_its_three_files_and_nothing_of_earlier_cases(sandbox: Sandbox) -> None:
    source = (
        "import os\n"
        "names = [n for n in sorted(os.listdir()) if n.endswith('.txt')]\n"
        "open('left.txt', 'w').write('x')\n"
        "print(1, names)"
    )
    checker = open_checker(sandbox, source=source, name=None)
    assert checker is not None
    for _ in range(2):
        assert checker.check(b"i", b"o", b"e").message == (
            "['correct_output.txt', 'input.txt', 'solution_output.txt']"
        )


def test_the_feedback_of_a_kattis_validator_is_read(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "validate.py").write_text(KATTIS)
    checker = open_checker(sandbox, source=None, name=f"kattis:{tmp_path / 'validate.py'} score")
    assert checker is not None
    check = checker.check(b"in", b"ans", b"ans")
    assert (check.score, check.message) == (0.5, "flags ['score']")


VALIDATOR = {
    "validate.cc": '#include "validate.h"\n#include <fstream>\n'
    "int main(int, char** args) {\n"
    "    std::ifstream answer(args[2]);\n"
    "    return same(answer, std::cin) ? 42 : 43;\n}\n",
    "validate.h": "#pragma once\n#include <iostream>\nbool same(std::istream&, std::istream&);\n",
    "compare.cc": '#include "validate.h"\n#include <string>\n'
    "bool same(std::istream& a, std::istream& b) {\n"
    "    std::string x, y;\n    a >> x;\n    b >> y;\n    return x == y;\n}\n",
}


def test_a_validator_may_have_headers_and_several_sources(sandbox: Sandbox, tmp_path: Path) -> None:
    for name, text in VALIDATOR.items():
        (tmp_path / name).write_text(text)
    checker = open_checker(sandbox, source=None, name=f"kattis:{tmp_path}")
    assert checker is not None
    checker.prepare()
    outcomes = [checker.check(b"", output, b"a").outcome for output in (b" a", b"b")]
    assert outcomes == ["accepted", "rejected"]


def test_a_python_validator_may_have_modules(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "validate.py").write_text("import sys\nimport own\nsys.exit(own.status())\n")
    (tmp_path / "own.py").write_text("def status():\n    return 42\n")
    checker = open_checker(sandbox, source=None, name=f"kattis:{tmp_path / 'validate.py'}")
    assert checker is not None
    assert checker.check(b"", b"", b"").outcome == "accepted"


def test_a_command_runs_in_the_box(sandbox: Sandbox) -> None:
    checker = open_checker(sandbox, source=None, name="command:cmp -s {output} {answer}")
    assert checker is not None
    assert [checker.check(b"", o, b"a").outcome for o in (b"a", b"b")] == ["accepted", "rejected"]


@pytest.mark.parametrize(("solution", "judge", "decided_by", "outcome"), TALKS.values(), ids=TALKS)
def test_conversations(
    sandbox: Sandbox,
    tmp_path: Path,
    solution: str,
    judge: str,
    decided_by: str | None,
    outcome: str,
) -> None:
    if "interact" not in sandbox.capabilities:
        pytest.skip("this sandbox can't join two programs")
    (tmp_path / "judge.py").write_text(judge)
    interactor = open_interactor(sandbox, f"kattis:{tmp_path / 'judge.py'}")
    compiled = sandbox.compile(Program("python", {"main.py": solution.encode()}))
    limits = Limits(cpu_s=2, wall_s=2)
    result = judge_interaction(sandbox, compiled, interactor, b"617", b"", limits)
    assert result.check.outcome == outcome
    assert decided_by in (None, result.decided_by)

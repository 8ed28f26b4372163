"""A language that does not work is an error of the run for every solution; none fails by it."""

import json
import os
import sys
from pathlib import Path

import pytest

from testing.commands import run_command

STUBS = {  # what stands where Python should be
    "no library": "echo 'libpython3.so: cannot open shared object file' >&2; exit 127",
    "prints nothing": "exit 0",
}
CHECKER = "import sys\nprint(1)\n"
CPP = '#include <cstdio>\nint main() { int a; scanf("%d", &a); printf("%d ", a); }\n'
PROBLEMS = [
    {"id": "1/A", "official_tests": [{"input": "7\n", "output": "7\n"}]},
    {
        "id": "1/B",
        "generated_checker": CHECKER,
        "official_tests": [{"input": "7\n", "output": "07\n"}],
    },
]
SOLUTIONS = [
    {"id": "1/A", "language": "python", "code": "print(input())"},
    {"id": "1/A", "language": "python", "code": "print(8)"},
    {"id": "1/A", "language": "cpp", "code": CPP},
    {"id": "1/A", "language": "cpp", "code": "int main() { return 127; }"},
    {"id": "1/B", "language": "cpp", "code": CPP},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, rows in (("problems", PROBLEMS), ("solutions", SOLUTIONS)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def stub(folder: Path, what: str) -> str:
    path = folder / "bin" / "python3"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{STUBS[what]}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.slow(seconds=3)
@pytest.mark.parametrize(("what", "drivers"), [("no library", 1), ("prints nothing", 2)])
def test_solutions_and_checkers_in_it_are_errors(what, drivers, folder):
    command = [sys.executable, "-m", "gradebox.eval.cli.console", "grade"]
    command += ["--solutions-path", "solutions.jsonl", "--dataset", "problems.jsonl"]
    command += ["--drivers", str(drivers), "--workers", str(drivers), "--sandbox", "local"]
    done = run_command(
        command, cwd=folder, env={**os.environ, "GRADEBOX_PYTHON": stub(folder, what)}
    )
    assert done.returncode == 3, done.stdout + done.stderr
    lines = (folder / "results/solutions/piston_eval_results.jsonl").read_text().splitlines()
    found = {row["line"]: row for row in map(json.loads, lines)}
    statuses = [found[line]["status"] for line in sorted(found)]
    assert statuses == ["error", "error", "passed", "failed", "error"]
    for line in (1, 2, 5):
        assert "does not work in the sandbox: repair it" in found[line]["error"]
    assert "name another one in GRADEBOX_PYTHON" in " ".join(done.stderr.split())

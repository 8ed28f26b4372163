"""Imports go one way, eval → checkers → sandbox, and no module of ours hides a library's."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RANK = {"sandbox": 0, "checkers": 1, "eval": 2, "gradebox": 3}  # none imports a higher one
COMMANDS = sorted(
    path.name
    for path in (ROOT / "eval").glob("*.py")
    if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, package) of every absolute import of a file, those within functions included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            yield node.lineno, name.partition(".")[0]


@pytest.mark.parametrize("package", ["sandbox", "checkers", "eval"])
def test_imports_go_one_way(package):
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, name in imported(path)
        if RANK.get(name, -1) > RANK[package]
    ]
    assert wrong == []


def test_no_top_level_name_hides_a_library():
    ours = {path.stem for path in ROOT.glob("*.py")} | {
        path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()
    }
    assert ours & (set(sys.stdlib_module_names) | {"datasets", "ray", "requests"}) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_sees_the_libraries_and_not_its_own_folder(command):
    """eval/ has folders named statistics and data: first on sys.path they would be in the way."""
    code = (
        "import runpy, sys; sys.argv = [sys.argv[1], '--help']; sys.path[0] = sys.argv[0][:-len("
        f"'/{command}')]\n"
        "try: runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "except SystemExit: pass\n"
        "import statistics; print(statistics.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "eval" / command)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "usage:" in done.stdout
    assert not Path(done.stdout.splitlines()[-1]).is_relative_to(ROOT / "eval")

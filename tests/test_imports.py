"""Imports go down only, and every module has one name."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# A package may import packages of its own layer and of the layers below it.
LAYERS = (
    ("gradebox.sandbox",),
    ("gradebox.checkers",),
    ("gradebox.eval.common",),
    ("gradebox.eval.results", "gradebox.eval.problems", "gradebox.eval.solutions",
     "gradebox.eval.models"),
    ("gradebox.eval.grading",),
    ("gradebox.eval.debugging", "gradebox.eval.reporting", "gradebox.eval.comparing"),
    ("gradebox.eval.cli", "gradebox.eval.api"),
    ("gradebox.eval.frameworks",),
    ("gradebox.eval", "gradebox"),
)  # fmt: skip
LAYER_OF = {folder: layer for layer, packages in enumerate(LAYERS) for folder in packages}
FOLDERS = ("eval", "checkers", "sandbox")
COMMANDS = sorted(path.name for path in (ROOT / "eval").glob("*.py") if path.stem != "__init__")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
MAX_MODULES = 15


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def layer_of(module: str) -> int | None:
    """The layer of a module of ours; None for a library's."""
    parts = module.split(".")
    prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((LAYER_OF[prefix] for prefix in prefixes if prefix in LAYER_OF), None)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import of a file, those within functions included."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "gradebox.eval":
            yield from ((node.lineno, f"gradebox.eval.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""


def module_of(path: Path) -> str:
    return ".".join(("gradebox", *path.relative_to(ROOT).with_suffix("").parts))


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_go_down_only(folder):
    wrong = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        own = layer_of(module_of(path))
        for line, module in imported(path):
            layer = layer_of(module)
            if module.startswith("gradebox._") or layer is None:
                continue
            if layer > own:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {module}")
    assert wrong == []


def module_named(module: str, name: str) -> str | None:
    """Return the module of ours that `from module import name` depends on."""
    for candidate in (f"{module}.{name}", module):
        path = ROOT.joinpath(*candidate.split(".")[1:])
        if candidate.startswith("gradebox.") and (
            path.with_suffix(".py").exists() or (path / "__init__.py").exists()
        ):
            return candidate
    return None


def dependencies(path: Path) -> Iterator[str]:
    """Yield the modules of ours that a file imports anywhere but for type checking."""
    tree = parsed(path)
    only_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in only_types:
            continue
        if isinstance(node, ast.Import):
            names = [module_named(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [module_named(node.module or "", alias.name) for alias in node.names]
        else:
            continue
        yield from filter(None, names)


def test_modules_do_not_import_each_other_in_a_cycle():
    graph = {
        module_of(path).removesuffix(".__init__"): {
            name for name in dependencies(path) if name != module_of(path)
        }
        for path in MODULES
    }
    tuple(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError


def test_imports_have_one_spelling():
    """Code names its modules `gradebox.…`: another name would load them a second time."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in [*MODULES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
        for line, module in imported(path)
        if module.partition(".")[0] in FOLDERS
    ]
    assert wrong == []


def test_the_top_of_eval_holds_only_commands():
    for name in COMMANDS:
        text = (ROOT / "eval" / name).read_text(encoding="utf-8")
        assert 'if __name__ == "__main__":\n    sys.exit(main())' in text, name
        assert len(text.splitlines()) <= 30, name


def test_every_package_has_2_to_15_modules():
    counts = {}
    for path in MODULES:
        if path.stem not in ("__init__", "__main__"):
            counts[path.parent] = counts.get(path.parent, 0) + 1
    wrong = {
        str(folder.relative_to(ROOT)): count
        for folder, count in counts.items()
        if count > MAX_MODULES or (count == 1 and not any(p.is_dir() for p in folder.iterdir()))
    }
    assert wrong == {}


def test_no_module_is_named_like_a_test():
    assert [str(p) for p in MODULES if re.match(r"test_|.*_test$", p.stem)] == []


def test_no_top_level_name_hides_a_library():
    ours = {path.stem for path in ROOT.glob("*.py")} | {
        path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()
    }
    assert ours & (set(sys.stdlib_module_names) | {"datasets", "ray", "requests"}) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_libraries_and_not_its_own_folder(command):
    """eval/ has folders such as `models`: first on sys.path they would hide libraries."""
    (ROOT / "eval" / command).read_text(encoding="utf-8")
    code = (
        "import runpy, sys; sys.argv = [sys.argv[1], '--help']\n"
        f"sys.path[0] = {str(ROOT / 'eval')!r}\n"
        "try: runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "except SystemExit: pass\n"
        "print(sys.path)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "eval" / command)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "usage:" in done.stdout
    paths = ast.literal_eval(done.stdout.splitlines()[-1])
    assert str(ROOT / "eval") not in paths and paths[0] == str(ROOT)


DOUBLES = """
import importlib, pkgutil, sys
sys.path[0] = {root!r}
import sandbox.doctor, eval.results.records, checkers
import gradebox.sandbox.doctor, gradebox.eval.results.records
import gradebox
for module in {modules!r}:
    importlib.import_module(module)
files = {{}}
for name, module in sorted(sys.modules.items()):
    file = getattr(module, "__file__", None)
    if file and name.partition(".")[0] in ("gradebox", "eval", "checkers", "sandbox"):
        import os
        files.setdefault(os.path.realpath(file), set()).add(id(module))
print([file for file, loaded in files.items() if len(loaded) > 1])
print(sandbox.doctor is gradebox.sandbox.doctor, sandbox.doctor.__spec__.name)
"""


def test_no_module_is_loaded_twice():
    """In a checkout's root `sandbox.doctor` and `gradebox.sandbox.doctor` are one module."""
    modules = ["gradebox.eval.cli.grade", "gradebox.eval.api.grader", "gradebox.sandbox.opening"]
    done = subprocess.run(
        [sys.executable, "-c", DOUBLES.format(root=str(ROOT), modules=modules)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["[]", "True gradebox.sandbox.doctor"]


def test_modules_run_by_their_name_in_a_checkout():
    for name in ("sandbox.doctor", "sandbox.server", "sandbox.container"):
        done = subprocess.run(
            [sys.executable, "-m", name, "--help"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "usage:" in done.stdout and done.stderr == ""

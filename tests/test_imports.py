"""Imports go down only, and every module has one name."""

import ast
import graphlib
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from testing.commands import ROOT, run_command

# A package may import packages of its own layer and of the layers below it.
LAYERS = (
    ("gradebox.sandbox",),
    ("gradebox.checkers",),
    ("gradebox.eval.common",),
    ("gradebox.eval.results", "gradebox.eval.problems", "gradebox.eval.solutions",
     "gradebox.eval.models"),
    ("gradebox.eval.grading",),
    ("gradebox.eval.debugging", "gradebox.eval.reporting"),
    ("gradebox.eval.cli", "gradebox.eval.api"),
    ("gradebox.eval.frameworks",),
    ("gradebox.eval", "gradebox"),
)  # fmt: skip
LAYER_OF = {folder: layer for layer, packages in enumerate(LAYERS) for folder in packages}
FOLDERS = ("eval", "checkers", "sandbox")
COMMANDS = sorted(path.name for path in (ROOT / "eval").glob("*.py") if path.stem != "__init__")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
MAX_MODULES = 15
OTHER_SPELLING = re.compile(
    rf"^\s*(?:from|import)\s+(?:[\w. ]+,\s*)*(?:{'|'.join(FOLDERS)})\b", re.MULTILINE
)


def layer_of(module: str) -> int | None:
    """The layer of a module of ours; None for a library's."""
    parts = module.split(".")
    prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((LAYER_OF[prefix] for prefix in prefixes if prefix in LAYER_OF), None)


Import = ast.Import | ast.ImportFrom


@cache
def imports(path: Path) -> list[tuple[Import, bool]]:
    """Return each import of a file, and whether it is for type checking only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return list(imports_among(tree.body))


def imports_among(
    statements: Sequence[ast.AST], types: bool = False
) -> Iterator[tuple[Import, bool]]:
    """Yield the imports in statements and in those within them: expressions hold none."""
    for node in statements:
        if isinstance(node, Import):
            yield node, types
            continue
        for block in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, block, ())
            checked = block == "body" and isinstance(node, ast.If) and is_type_checking(node.test)
            yield from imports_among(inner, types or checked)


def is_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import of a file, those within functions included."""
    for node, _ in imports(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif node.module == "gradebox.eval":
            yield from ((node.lineno, f"gradebox.eval.{alias.name}") for alias in node.names)
        else:
            yield node.lineno, node.module or ""


def module_of(path: Path) -> str:
    return ".".join(("gradebox", *path.relative_to(ROOT).with_suffix("").parts))


def test_imports_go_down_only():
    wrong = []
    for path in MODULES:
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
    for node, for_types in imports(path):
        if for_types:
            continue
        if isinstance(node, ast.Import):
            names = [module_named(alias.name, "") for alias in node.names]
        else:
            names = [module_named(node.module or "", alias.name) for alias in node.names]
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
    others = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in [*MODULES, *filter(may_import_a_folder, others)]
        for line, module in imported(path)
        if module.partition(".")[0] in FOLDERS
    ]
    assert wrong == []


def may_import_a_folder(path: Path) -> bool:
    """Whether a file is worth parsing, which takes longer than this search."""
    return bool(OTHER_SPELLING.search(path.read_text(encoding="utf-8")))


def test_the_top_of_eval_holds_only_commands():
    for name in COMMANDS:
        text = (ROOT / "eval" / name).read_text(encoding="utf-8")
        assert text.rpartition("\n\n")[2].startswith('    sys.exit(run("gradebox.eval.cli.'), name
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


EACH_COMMAND = """
import runpy, sys
commands, path = sys.argv[1:], sys.path[1:]
for command in commands:
    sys.argv, sys.path[:] = [command, "--help"], [{eval!r}, *path]
    try: runpy.run_path(command, run_name="__main__")
    except SystemExit: pass
    print("PATH", sys.path[0], {eval!r} in sys.path)
"""


def test_a_command_imports_libraries_and_not_its_own_folder():
    """eval/ has folders such as `models`: first on sys.path they would hide libraries."""
    eval_folder = str(ROOT / "eval")
    done = run_command(
        [
            *(sys.executable, "-c", EACH_COMMAND.format(eval=eval_folder)),
            *(str(ROOT / "eval" / command) for command in COMMANDS),
        ],
        check=True,
    )
    assert done.stdout.count("usage:") == len(COMMANDS)
    paths = re.findall("^PATH .*", done.stdout, re.MULTILINE)
    assert paths == [f"PATH {ROOT}/src False"] * len(COMMANDS)


DOUBLES = """
import importlib, pkgutil, sys
sys.path[:1] = [{root!r}, {root!r} + "/src"]
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


@pytest.mark.slow(seconds=1)
def test_no_module_is_loaded_twice():
    """In a checkout's root `sandbox.doctor` and `gradebox.sandbox.doctor` are one module."""
    modules = ["gradebox.eval.cli.grade", "gradebox.eval.api.grader", "gradebox.sandbox.opening"]
    done = run_command(
        [sys.executable, "-c", DOUBLES.format(root=str(ROOT), modules=modules)], check=True
    )
    assert done.stdout.splitlines() == ["[]", "True gradebox.sandbox.doctor"]


@pytest.mark.slow(seconds=1)
def test_modules_run_by_their_name_in_a_checkout():
    for name in ("sandbox.doctor", "sandbox.server", "sandbox.container"):
        done = run_command([sys.executable, "-m", name, "--help"], check=True)
        assert "usage:" in done.stdout and done.stderr == ""

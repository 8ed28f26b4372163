"""Every module that imports or calls an interpreter of text is listed, with where it runs.

What a stranger wrote is interpreted in a box or in a worker with limits; elsewhere each use has a
bound. A new one fails here until its line says which.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.commands import run_command
from tests.test_imports import MODULES, ROOT, imports, module_of

MODULES_THAT_INTERPRET = frozenset(
    (
        *("_ast", "ast", "code", "codeop", "marshal", "pickle", "pickletools", "runpy", "shelve"),
        *("bz2", "gzip", "lzma", "tarfile", "tokenize", "zipfile", "zlib"),
        *("configparser", "csv", "email", "html.parser", "plistlib", "tomllib", "xml", "yaml"),
        *("decimal", "fractions", "sympy"),
    )
)
CALLS_THAT_INTERPRET = frozenset(("eval", "exec", "compile", "__import__"))
MAY_CALL = re.compile(rf"(?<![\w.])(?:{'|'.join(CALLS_THAT_INTERPRET)})\(")  # parsing takes longer
IN_A_BOX, IN_A_WORKER = "in a box", "in a worker"
# A file, or a folder with a slash behind it: where it runs, or what bounds the text.
ALLOWED = {
    "checkers/math/compare/": IN_A_WORKER,
    "checkers/math/compare/exact.py": "64 characters of an answer",
    "checkers/math/read/": IN_A_WORKER,
    "checkers/math/read/units.py": "a table of our own",
    "checkers/math/workers/answers.py": "loaded on both sides; sympy in a worker",
    "checkers/math/workers/no_eval.py": IN_A_WORKER,
    "checkers/values/codec.py": "expected values of at most 16 KB are written; values are read "
    "in boxes and workers",
    "checkers/values/joined_side.py": IN_A_BOX,
    "checkers/values/judging.py": "loaded on both sides; values are read in a worker",
    "checkers/values/unittest_side.py": IN_A_BOX,
    "checkers/values/outputs.py": "outputs of at most 16 KB; longer ones in a worker",
    "checkers/values/tester_side.py": IN_A_BOX,
    "eval/api/dialects/cell.py": IN_A_BOX,
    "eval/reporting/comparison.py": "a checksum",
    "eval/debugging/export.py": "our own modules",
    "eval/frameworks/inspect/in_the_box.py": "an archive is written, none is read",
    "eval/grading/drivers/driver.py": "between our own processes, which run no program",
    "eval/models/benchmarks/summary.py": "a table is written, none is read",
    "eval/problems/formats/asserts.py": "4,000 characters; longer ones in a worker",
    "eval/problems/formats/suites.py": "4,000 characters; longer ones in a worker",
    "eval/problems/formats/livecodebench.py": "2.5 times its size, 65,536 commas and 15 ms of CPU "
    "time a megabyte; a worker reads longer ones, and pickles",
    "eval/problems/formats/pairs.py": "4,000 characters; longer ones in a worker",
    "eval/problems/packages/files.py": "50,000 files, 8 GiB unpacked; YAML of 256 KB without "
    "aliases, 32 deep; XML of 16 MB with 400,000 tags and without a DOCTYPE",
    "eval/problems/packages/polygon.py": "what files.py has read",
    "eval/problems/rows.py": "4 GiB unpacked, in a file",
    "eval/problems/selection.py": "our own fractions",
    "eval/results/cache.py": "the user's own folder",
    "eval/reporting/page.py": "our own JSON is compressed, none is read",
    "eval/solutions/files.py": "the user's own file, a line of 64 MB at a time",
    "sandbox/box/python/prelude.py": IN_A_BOX,
    "sandbox/common/retry_after.py": "a date in a header",
    "sandbox/piston/box_launcher.py": IN_A_BOX,
    "sandbox/server/connect.py": "compiles in the sandbox",
}
# What a server and a run load before any program has run.
LOAD = """
import sys
import gradebox.checkers.math, gradebox.eval.api.rewards, gradebox.eval.api.service
import gradebox.eval.cli.run, gradebox.sandbox.server.app
from gradebox.checkers.math import grade
print("1" if grade("1", "so it is \\\\boxed{1}") else "0", *sys.modules)
"""


def interpreters(path: Path) -> Iterator[str]:
    """Yield the interpreters that a module imports, but for type checking, or calls."""
    for node, for_types in imports(path):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
        for name in [] if for_types else filter(None, names):
            if {name, name.partition(".")[0]} & MODULES_THAT_INTERPRET:
                yield name
    text = path.read_text(encoding="utf-8")
    for call in ast.walk(ast.parse(text)) if MAY_CALL.search(text) else ():
        called = call.func if isinstance(call, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in CALLS_THAT_INTERPRET:
            yield f"{called.id}()"


def listed(name: str) -> str | None:
    """Return the entry of a file: its own, or that of the nearest folder."""
    folders = [name[:at] for at in range(len(name), 0, -1) if name[at - 1] == "/"]
    return next((entry for entry in (name, *folders) if entry in ALLOWED), None)


@pytest.mark.slow(seconds=1)
def test_every_interpreter_of_text_has_a_place_or_a_bound():
    found, used = {}, set()
    for path in MODULES:
        name = path.relative_to(ROOT).as_posix()
        names = sorted(set(interpreters(path)))
        entry = listed(name) if names else None
        if entry:
            used.add(entry)
        elif names:
            found[name] = names
    assert found == {}
    assert ALLOWED.keys() - used == set()  # an entry that nothing needs


@pytest.mark.slow(seconds=1)
def test_what_runs_in_a_worker_is_not_loaded_by_the_grader():
    done = run_command([sys.executable, "-c", LOAD], check=True)
    equal, *loaded = done.stdout.split()
    assert equal == "1"
    elsewhere = {
        module_of(path)
        for path in MODULES
        if ALLOWED.get(listed(path.relative_to(ROOT).as_posix()) or "") in (IN_A_BOX, IN_A_WORKER)
        and list(interpreters(path))
    }
    assert len(elsewhere) > 12
    assert {"sympy", *elsewhere}.intersection(loaded) == set()

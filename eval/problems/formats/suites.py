"""Tests that are files of pytest (KodCode) or classes of unittest (BigCodeBench, ClassEval).

KodCode's are functions without arguments:

    from solution import add            names of the solution
    def test_add():                     called, in the order of the file
        assert add(1, 2) == 3

A copy of the tested function in the file is left out: it would be tested in the place of the
solution's. `pytest.raises` and `pytest.approx` are replaced. Fixtures, decorators, classes of
tests and the rest of pytest are not translated: their rows say so.

BigCodeBench  one class, TestCases, for a function; needs the libraries that `libs` names
ClassEval     a class for each method and one for all, each a test of its own
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from gradebox.eval.common.errors import RowError, shown
from gradebox.eval.problems.formats.row_format import (
    Judge,
    Row,
    RowFormat,
    assert_test,
    asserted,
    fields,
    label,
    of,
    text,
    text_with,
    texts,
)
from gradebox.eval.problems.row.row_workers import interpret

TEST_S, MOST_S, MEMORY_MB = 5.0, 60.0, 1024.0  # the original: 5 s of wall time a test function
MOST_READ = 1 << 17  # characters

_PYTEST = """\
class pytest:
    class raises:
        def __init__(self, kinds, match=None):
            self.kinds, self.match = kinds, match
        def __enter__(self):
            return self
        def __exit__(self, kind, value, trace):
            import re
            assert kind is not None, f"{self.kinds} was not raised"
            self.type, self.value = kind, value
            return issubclass(kind, self.kinds) and (
                self.match is None or re.search(self.match, str(value)) is not None)
    class approx:
        def __init__(self, wanted, rel=1e-6, abs=1e-12):
            self.wanted, self.rel, self.abs = wanted, rel, abs
        def same(self, found, wanted):
            if isinstance(wanted, dict):
                return isinstance(found, dict) and found.keys() == wanted.keys() and all(
                    self.same(found[key], wanted[key]) for key in wanted)
            if isinstance(wanted, (list, tuple)):
                return isinstance(found, (list, tuple)) and len(found) == len(wanted) and all(
                    map(self.same, found, wanted))
            if found == wanted:
                return True
            size = found - wanted if found >= wanted else wanted - found
            most = max(self.abs, self.rel * (wanted if wanted >= 0 else -wanted))
            return size <= most < float("inf")  # nothing but itself is close to infinity
        def __eq__(self, found):
            return self.same(found, self.wanted)
        __hash__ = None
"""
_HAD = frozenset({"raises", "approx"})
_DEFINED = re.compile(r"^def[ \t]+(\w+)", re.MULTILINE)
Translated = tuple[str, list[str], int, bool]


def _kodcode(row: Row, _judge: Judge) -> dict[str, Any]:
    code, solution = text(row, "test_code"), text(row, "solution")
    tested = sorted(_tested(row, code, solution))
    found = interpret(translated, [code, tested]) if code.strip() else ("", [], 0, False)
    body, names, functions, uses_pytest = found
    prompt = _PYTEST if uses_pytest else ""
    tests = assert_test(body, "", names, prompt) if functions else []
    seconds = min(TEST_S * max(functions, 1), MOST_S)
    return asserted(tests, seconds, MEMORY_MB, solution, title=row.get("question_id"))


def _tested(row: Row, code: str, solution: str) -> frozenset[str]:
    """Return the names of the functions under test: as the row says, else those of its solution."""
    info = row.get("test_info")
    entries = [e for e in info if isinstance(e, dict)] if isinstance(info, list) else []
    names = frozenset(str(entry.get("function_name")) for entry in entries)
    if names or "from solution import" in code:
        return names
    return frozenset(_DEFINED.findall(solution))


def translated(given: tuple[str, Sequence[str]]) -> Translated:
    """Return a pytest file as a text that runs its tests, its lines where they were.

    given  the file, and the functions under test, of which it may have copies

    The other values: names of the solution, the number of test functions, whether it uses pytest.
    Raises RowError for what is not translated.
    """
    code, tested = given
    if len(code) > MOST_READ:
        raise RowError(f"test_code has {len(code)} characters: at most {MOST_READ} are translated")
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RowError(f"test_code is no Python: {str(error)[:100]}") from None
    lines = code.splitlines()
    names: list[str] = []
    calls: list[str] = []
    tests = (node for node in tree.body if getattr(node, "name", "").startswith("test"))
    walked = (name for test in tests for name in ast.walk(test))
    called = {name.id for name in walked if isinstance(name, ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "solution":
            names += [alias.name for alias in node.names if alias.name != "*"]
            renamed = [f"{a.asname} = {a.name}" for a in node.names if a.asname]
            _replace(lines, node, "; ".join(renamed))
        elif _is_import(node, "pytest") or _is_main(node):
            _replace(lines, node, "")
        elif _is_import(node, "solution") or isinstance(node, ast.AsyncFunctionDef):
            raise RowError("test_code imports the module solution, or awaits: not translated")
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            raise RowError(f"test_code has a class of tests, {node.name}: not translated")
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            if node.args.args or node.args.kwonlyargs or node.decorator_list:
                raise RowError(f"{node.name} has arguments or a decorator: not translated")
            calls.append(f"{node.name}()")
        elif isinstance(node, ast.FunctionDef) and node.name in called.intersection(tested):
            names.append(node.name)
            _replace(lines, node, "")
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "pytest"
    } - {"main"}
    if not used <= _HAD:
        raise RowError(f"test_code uses pytest.{min(used - _HAD)}: not translated")
    return "\n".join([*lines, *calls, ""]), names, len(calls), bool(used)


def _is_import(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.Import) and any(alias.name == name for alias in node.names)


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)


def _replace(lines: list[str], node: ast.stmt, by: str) -> None:
    start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    end = node.end_lineno or node.lineno
    lines[start - 1 : end] = [by, *[""] * (end - start)]


KODCODE = RowFormat(
    name="kodcode",
    needs=fields("question_id question solution test_code"),
    content={"test_code": text_with(r"\bassert\b|\bdef test|\bsolution\b", "has no test")},
    ids={"id": of("question_id"), "difficulty": of("gpt_difficulty", read=label)},
    uses=("test_info",),
    convert=_kodcode,
)
# ---- classes of unittest ----

# The originals have wall time: 240 s at least for a problem, 5 s for a class of tests; 30 GiB, none
BIGCODEBENCH_S, BIGCODEBENCH_MB = 60.0, 8192.0
CLASSEVAL_S, CLASSEVAL_MB = 5.0, 1024.0
MOST_LIBRARIES = 10_000  # characters of `libs`
_NAME = re.compile(r"\w+")
_CLASS = re.compile(r"^class[ \t]+(\w+)[ \t]*\(", re.MULTILINE)


def _libraries(value: Any) -> str:
    """Return the names in a list of libraries, or in its text, with commas between them."""
    names = " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value or "")
    return ",".join(_NAME.findall(names[:MOST_LIBRARIES]))


def _bigcodebench(row: Row, _judge: Judge) -> dict[str, Any]:
    entry, prompt = text(row, "entry_point", needed=True), text(row, "complete_prompt")
    begun = text(row, "code_prompt").rstrip()
    before = f"{begun}\n    pass\n" if begun else ""
    test = text(row, "test")
    tests = assert_test(test, entry, [], before, classes=["TestCases"], together=True)
    more = {"title": entry, "entry_point": entry, "prompt": prompt}
    gold = text(row, "canonical_solution")
    return asserted(tests, BIGCODEBENCH_S, BIGCODEBENCH_MB, gold, **more)


def _classeval(row: Row, _judge: Judge) -> dict[str, Any]:
    entry, test = text(row, "class_name", needed=True), text(row, "test")
    classes = [name.strip() for name in texts(row, "test_classes")]  # one has a blank before it
    prompt = "\n".join(texts(row, "import_statement"))
    if missing := set(classes) - set(_CLASS.findall(test)):
        raise RowError(f"test_classes has {shown(min(missing))}, which test does not define")
    tests = [one for name in classes for one in assert_test(test, "", [], prompt, classes=[name])]
    more = {"title": entry, "entry_point": entry, "prompt": prompt and f"{prompt}\n"}
    tests = [{**one, "name": name} for one, name in zip(tests, classes, strict=True)]
    return asserted(tests, CLASSEVAL_S, CLASSEVAL_MB, text(row, "solution_code"), **more)


BIGCODEBENCH = RowFormat(
    name="bigcodebench",
    needs=fields("task_id entry_point canonical_solution test code_prompt"),
    content={"test": text_with(r"^class TestCases\(", "does not define the class TestCases")},
    ids={"id": of("task_id"), "libraries": of("libs", read=_libraries)},
    uses=("complete_prompt",),
    convert=_bigcodebench,
)
CLASSEVAL = RowFormat(
    name="classeval",
    needs=fields("task_id class_name test_classes solution_code test"),
    content={"test": text_with(r"^class \w+\(", "does not define a class of tests")},
    ids={"id": of("task_id")},
    uses=("import_statement",),
    convert=_classeval,
)
FORMATS = (KODCODE, BIGCODEBENCH, CLASSEVAL)

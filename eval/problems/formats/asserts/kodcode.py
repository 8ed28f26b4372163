"""KodCode: pytest files whose tests are functions without arguments.

    from solution import add            names of the solution
    def test_add():                     called, in the order of the file
        assert add(1, 2) == 3

`pytest.raises` and `pytest.approx` are replaced. Fixtures, decorators, classes of tests and the
rest of pytest are not translated: their rows say so.
"""

from __future__ import annotations

import ast
from typing import Any

from gradebox.eval.problems.formats.row_format import Judge, Row, RowFormat
from gradebox.eval.problems.formats.values import assert_test, text
from gradebox.eval.problems.row import RowError

TEST_S, MOST_S, MEMORY_MB = 5.0, 60.0, 1024.0  # the original: 5 s of wall time a test function

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
            return size <= max(self.abs, self.rel * (wanted if wanted >= 0 else -wanted))
        def __eq__(self, found):
            return self.same(found, self.wanted)
        __hash__ = None
"""
_HAD = frozenset({"raises", "approx"})


def _ids(row: Row) -> dict[str, Any]:
    return {"id": row.get("question_id"), "difficulty": str(row.get("gpt_difficulty") or "")}


def _convert(row: Row, _judge: Judge) -> dict[str, Any]:
    code = text(row, "test_code")
    body, names, functions, uses_pytest = translated(code) if code.strip() else ("", [], 0, False)
    prompt = _PYTEST if uses_pytest else ""
    return {
        "title": row.get("question_id"),
        "test_kind": "assert",
        "time_limit": min(TEST_S * max(functions, 1), MOST_S),
        "memory_limit": MEMORY_MB,
        "official_tests": assert_test(body, "", names, prompt) if functions else [],
        "gold_solutions": [{"code": text(row, "solution"), "expect": "passed"}],
    }


def translated(code: str) -> tuple[str, list[str], int, bool]:
    """Return a pytest file as a text that runs its tests, its lines where they were.

    The other values: names of the solution, the number of test functions, whether it uses pytest.
    Raises RowError for what is not translated.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RowError(f"test_code is no Python: {str(error)[:100]}") from None
    lines = code.splitlines()
    names: list[str] = []
    calls: list[str] = []
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
    end = node.end_lineno or node.lineno
    lines[node.lineno - 1 : end] = [by, *[""] * (end - node.lineno)]


KODCODE = RowFormat(
    name="kodcode",
    needs=(frozenset({"question_id", "question", "solution", "test_code"}),),
    names=("question_id", "gpt_difficulty"),
    uses=("test_code", "solution"),
    ids=_ids,
    convert=_convert,
)

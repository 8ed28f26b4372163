"""A public class has a name of its own, so that a reader of any module knows which one it is."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("eval", "checkers", "sandbox")


def test_no_name_of_a_class_has_two_meanings():
    found: dict[str, set[str]] = defaultdict(set)
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].add(str(path.relative_to(ROOT)))
    assert len(found) > 300
    assert {name: places for name, places in found.items() if len(places) > 1} == {}

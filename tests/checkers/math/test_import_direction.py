"""Modules of gradebox.checkers.math import only from the levels below their own."""

import re
from pathlib import Path

import gradebox.checkers.math as package

# the drawing in the package's docstring, lowest level first
LEVELS = (
    {"policy"},
    {"read"},
    {"extract", "compare"},
    {"first_tier"},
    {"workers"},
    {"grading"},
    {"evaluator"},
    {"__init__"},
)
LEVEL_OF = {name: level for level, names in enumerate(LEVELS) for name in names}


def test_imports_go_down():
    root = Path(package.__file__).parent
    upward = []
    for path in root.rglob("*.py"):
        room = path.relative_to(root).parts[0].removesuffix(".py")
        for name in re.findall(r"gradebox\.checkers\.math(?:\.| import )(\w+)", path.read_text()):
            if not (LEVEL_OF.get(name, -1) < LEVEL_OF[room] or name == room):
                upward.append(f"{path.relative_to(root)} imports {name}")
    assert upward == []

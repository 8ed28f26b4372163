"""The C files of the launcher depend on each other in one direction only."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from gradebox.sandbox.box import build

# At the start of a line: a definition `type name(…) {`, or a variable `struct x name` that is not
# static. A declaration of a function ends with a semicolon.
DEFINITION = re.compile(r"^(?!static|extern|enum|union|typedef)[a-z].*?\b(\w+)\(.*\) \{", re.M)
VARIABLE = re.compile(r"^struct \w+ (\w+)(?: =.*)?;", re.M)
INCLUDE = re.compile(r'^#include "(\w+)\.h"', re.M)


def uses(folder: Path) -> dict[str, set[str]]:
    """Return for each part (a .c file with its header) the other parts that it uses."""
    parts: dict[str, str] = {}
    for path in sorted((*folder.glob("*.c"), *folder.glob("*.h"))):
        parts[path.stem] = parts.get(path.stem, "") + "\n" + path.read_text()
    code = {name: re.sub(r"/\*.*?\*/", "", text, flags=re.S) for name, text in parts.items()}
    owner = {
        symbol: name
        for name, text in code.items()
        for symbol in (*DEFINITION.findall(text), *VARIABLE.findall(text))
    }
    found: dict[str, set[str]] = {}
    for name, text in code.items():
        calls = {owner[word] for word in set(re.findall(r"\b\w+(?=\()", text)) & owner.keys()}
        variables = {owner[word] for word in set(re.findall(r"\b\w+(?=\.)", text)) & owner.keys()}
        found[name] = (calls | variables | set(INCLUDE.findall(text))) - {name}
    return found


def test_the_parts_of_the_launcher_have_no_cycle() -> None:
    order = list(TopologicalSorter(uses(build.HERE)).static_order())
    assert order.index("protocol") < order.index("run_group") < order.index("watch")
    assert order.index("watch") < order.index("launcher")
    assert order[-1] == "launcher"


def test_each_c_file_includes_its_own_header_and_is_short() -> None:
    for path in build.HERE.glob("*.c"):
        text = path.read_text()
        assert len(text.splitlines()) <= 400, path.name
        assert path.stem == "launcher" or f'#include "{path.stem}.h"' in text, path.name


@pytest.mark.parametrize("circle", ['#include "two.h"', "int one(void) { return two(); }"])
def test_a_cycle_of_includes_or_of_calls_is_found(tmp_path: Path, circle: str) -> None:
    (tmp_path / "one.c").write_text(f"{circle}\nint one_more(void) {{ return 0; }}\n")
    (tmp_path / "two.c").write_text("int two(void) { return one_more(); }\n")
    with pytest.raises(CycleError):
        list(TopologicalSorter(uses(tmp_path)).static_order())

"""The C files of the launcher depend on each other in one direction only."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

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
        if name == "box":  # declares what the parts offer each other
            found[name] = set(INCLUDE.findall(text))
            continue
        calls = {owner[word] for word in set(re.findall(r"\b\w+(?=\()", text)) & owner.keys()}
        variables = {owner[word] for word in set(re.findall(r"\b\w+(?=\.)", text)) & owner.keys()}
        found[name] = (calls | variables | set(INCLUDE.findall(text))) - {name}
    return found


def test_the_parts_of_the_launcher_have_no_cycle() -> None:
    order = list(TopologicalSorter(uses(build.HERE)).static_order())
    assert order.index("protocol") < order.index("run_group") < order.index("watch")
    assert order.index("watch") < order.index("launcher")
    assert order[-1] == "launcher"


def test_each_c_file_is_in_the_header_and_is_short() -> None:
    header = (build.HERE / "box.h").read_text()
    for path in build.HERE.rglob("*.c"):
        assert len(path.read_text().splitlines()) <= 400, path.name
        in_header = f"---- {path.name}:" in header
        assert in_header or path.name == "launcher.c" or path.parent != build.HERE, path.name

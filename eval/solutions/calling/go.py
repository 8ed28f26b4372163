"""Go: the program as package main, and a `main` that makes the calls.

What the prompt imports, testing and fmt, is imported where the program lacks it, and used.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from gradebox.checkers.values.literals import RESULTS
from gradebox.eval.solutions.calling.calls import Call, Parts, Source
from gradebox.sandbox.source_tokens import Style

STYLE: Style = "go"
_OWN = "".join(f'; import gradebox_{name} "{name}"' for name in ("fmt", "os"))
_MAIN = """
var _ = fmt.Sprint
var _ testing.T
func main() {
    gradebox_results := RESULTS
LINES    gradebox_os.Stdout.WriteString(gradebox_results)
}
"""


def defines(source: Source, entry: str) -> bool:
    """Return whether a source has the function."""
    return any(source.word(at + 2) in ("[", "(") for at in source.every("func", entry))


def files(parts: Parts, calls: Sequence[Call]) -> dict[str, str]:
    """Return the source of a program that writes the results of its calls."""
    lines = "".join(
        f'    gradebox_results += gradebox_fmt.Sprintf("%#v\\n", {parts.entry}({call.arguments}))\n'
        for call in calls
    )
    main = _MAIN.replace("RESULTS", json.dumps(RESULTS)).replace("LINES", lines)
    return {
        "main.go": _program(parts.code if parts.whole else f"{parts.prompt}{parts.code}") + main
    }


def _program(code: str) -> str:
    """Return a program of package main without a function `main`; the numbers of lines stay."""
    source = Source(code, STYLE)
    lacking = [name for name in ("fmt", "testing") if f'"{name}"' not in source.words]
    clause = f"package main{_OWN}{''.join(f'; import {json.dumps(n)}' for n in lacking)}"
    changes = {at + 1: "gradebox_own_main" for at in source.every("func", "main", "(")}
    package = next((at for at in source.first if source.word(at) == "package"), None)
    if package is None:
        return f"{clause}; {source.replaced(changes)}"
    return source.replaced({**changes, package: clause, package + 1: ""})

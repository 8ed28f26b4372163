"""Rust: the program, and a `main` that makes the calls."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from gradebox.checkers.values.literals import RESULTS
from gradebox.eval.solutions.calling.calls import Call, Parts, Source
from gradebox.sandbox.source_tokens import Style

STYLE: Style = "rust"
_MAIN = """
fn main() {
    use ::std::io::Write;
    let mut gradebox_results = ::std::string::String::from(RESULTS);
LINES    let mut gradebox_out = ::std::io::stdout().lock();
    gradebox_out.write_all(gradebox_results.as_bytes()).and_then(|_| gradebox_out.flush()).unwrap();
}
"""


def defines(source: Source, entry: str) -> bool:
    """Return whether a source has the function."""
    return source.holds("fn", entry)


def files(parts: Parts, calls: Sequence[Call]) -> dict[str, str]:
    """Return the source of a program that writes the results of its calls."""
    result = parts.signature.rpartition("->")[2].strip() if "->" in parts.signature else "()"
    lines = "".join(
        f"    {{ let gradebox_found: {result} = {parts.entry}({call.arguments});\n"
        '    gradebox_results += &::std::format!("{:?}\\n", gradebox_found); }\n'
        for call in calls
    )
    main = _MAIN.replace("RESULTS", json.dumps(RESULTS).replace("\\u001e", "\\x1e"))
    return {"main.rs": _program(parts) + main.replace("LINES", lines)}


def _program(parts: Parts) -> str:
    source = parts.whole
    if source is None:
        return f"{parts.prompt}{parts.code}\n}}\n"
    used = _used(source)
    lacking = [use for use in _uses(parts) if re.findall(r"\w+", use)[-1] not in used]
    return "\n".join([source.without_main("fn main (", "pub fn main ("), *lacking])


def _uses(parts: Parts) -> list[str]:
    return re.findall(r"^use .*;$", parts.preamble, re.MULTILINE)


def _used(source: Source) -> set[str]:
    """Return the words of a source's `use` declarations."""
    found: set[str] = set()
    used = False
    for word in source.words:
        used = word != ";" and (used or word == "use")
        if used:
            found.add(word)
    return found

"""Rewrite systems of equations and functions by cases, which LaTeX sets in rows, as lists."""

from __future__ import annotations

import re

TEXT_COMMANDS = (
    "text|textbf|textit|textrm|textsf|texttt|textnormal|textup|mbox|hbox|emph|textsc|underline"
)
TEXT = re.compile(rf"\\(?:{TEXT_COMMANDS})\s*\{{([^{{}}]*)\}}")
_SYSTEM = re.compile(  # `\begin{cases}x=1\\y=2\end{cases}`
    r"(?:\\left\s*\\\{\s*)?\\begin\s*\{(?P<kind>cases|aligned|align\*?|gathered|split|array)\}"
    r"(?:\s*\{[lcr| ]+\})?(?P<body>.*?)\\end\s*\{(?P=kind)\}(?:\s*\\right\s*\.)?",
    re.S,
)
_PIECE = re.compile(  # a row of a function by cases: `x, & \text{if } x > 0`
    r"([^&]+)&\s*(?:\\(?:text|mbox|textrm|mathrm)\s*\{\s*,?\s*(?:if|when|for|where)\s*\}"
    r"|,?\s*(?:if|when|for)\s)?"
    r"[\s,]*((?:\\text\s*\{)?\s*(?![=<>\s]|\\[lg]e)[^&]*?(?:[<>=]|\\[lg]e|\\ne|\\in"
    r"|otherwise|else|even|odd|mod|n?mid)[^&]*?)[\s,.;]*"
)


def _system_to_list(m: re.Match[str]) -> str:
    """Return the rows of a system of equations as a list; other arrays stay as they are.

    A function by cases becomes a list of (value; condition).
    """
    if m["kind"] == "array" and not re.search(r"[=<>]|\\[lg]eq?(?![A-Za-z])", m["body"]):
        return m[0]
    rows = [r.strip() for r in re.split(r"\\\\(?:\[[^\]]*\])?", m["body"]) if r.strip()]
    if m["kind"].startswith(("align", "split", "gather")):
        rows = _last_step(rows)
    pieces = [_PIECE.fullmatch(r) for r in rows]
    if all(pieces):
        found = [(p[1].strip(" ,"), TEXT.sub(r"\1", p[2])) for p in pieces if p]
        return ", ".join(f"({value}; {condition})" for value, condition in found)
    return ", ".join(r.replace("&", " ").strip(" ,;.") for r in rows)


def _last_step(rows: list[str]) -> list[str]:
    """Return the rows of a system; of a derivation (`3x &= 12 \\\\ x &= 4`) the last row only."""
    steps: list[str] = []
    for row in (r.replace("&", " ").strip(" ,;.") for r in rows):
        if row.startswith("=") and steps:
            steps[-1] += row
        elif row:
            steps.append(row)
    names = [re.match(r"\s*\\?[A-Za-z]+(?:_\{?\w+\}?)?\s*=", step) for step in steps]
    derived = len(steps) > 1 and names[-1] and not all(names)
    return steps[-1:] if derived else steps


def rows_to_lists(text: str) -> str:
    """Return a text with each of its systems as a list of its rows."""
    return _SYSTEM.sub(_system_to_list, text)

"""The page itself: template, style and script put together under a content security policy.

The policy allows one style and one script, by their hashes, and what that script loads
(`strict-dynamic`: the chunks). Nothing else runs, wherever hostile text might end up; and the
browser refuses to make markup or script of a string (trusted types).
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Template
from typing import Any

from eval.report_parts.script_json import script_json

PARTS = Path(__file__).resolve().parent
SCRIPTS = ("base", "text", "diff", "data", "plots", "summary", "case", "solution", "table", "app")
STYLES = ("page", "plots", "solutions")


def page(title: str, meta: Any, chunks: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The page in pieces, to be written one after the other.

    meta    what the script shows of the run; chunks  (name, JSON) that stand in the page
    """
    style = "\n".join((PARTS / f"{name}.css").read_text("utf-8") for name in STYLES)
    script = _script()
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src 'sha256-{_digest(script)}' 'strict-dynamic'",
            f"style-src 'sha256-{_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types gradebox",
        )
    )
    template = (PARTS / "page.html").read_text("utf-8")
    head, tail = template.split("$chunks")
    values = {"title": html.escape(title), "policy": html.escape(policy), "style": style}
    yield Template(head).substitute(values)
    yield _block("meta", script_json(meta))
    for name, text in chunks:
        yield _block(name, text)
    yield Template(tail).substitute(script=script)


def _script() -> str:
    parts = ((PARTS / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"


def _block(name: str, text: str) -> str:
    return f'<script type="application/json" id="data-{html.escape(name)}">{text}</script>\n'


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

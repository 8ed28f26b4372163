"""Assemble the page: template, style, script and data under a content security policy.

The policy allows one style and one script, by their hashes, and what that script loads
(`strict-dynamic`: the data files). Nothing else runs, wherever untrusted text might end up, and
the browser refuses to turn a string into markup or script (trusted types).
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template
from typing import Any

from gradebox.eval.reporting.data_chunks import script_json

STATIC = Path(__file__).resolve().parent / "static"
SCRIPTS = ("base", "text", "diff", "data", "plots", "summary", "case", "solution", "table", "app")
STYLES = ("page", "plots", "solutions")


def html_page(title: str, run: Any, chunks: Mapping[str, str]) -> Iterator[str]:
    """Yield the page in pieces.

    run     what the script needs of the run as a whole, as JSON values
    chunks  name ─▶ JSON of the data inside the page
    """
    style = "\n".join(_static(f"{name}.css") for name in STYLES)
    scripts = "\n".join(_static(f"{name}.js") for name in SCRIPTS)
    script = f'(() => {{\n"use strict";\n{scripts}\n}})();\n'
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
    head, tail = _static("page.html").split("$chunks")
    values = {"title": html.escape(title), "policy": html.escape(policy), "style": style}
    yield Template(head).substitute(values)
    yield _data_element("meta", script_json(run))
    for name, text in chunks.items():
        yield _data_element(name, text)
    yield Template(tail).substitute(script=script)


def _static(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


def _data_element(name: str, text: str) -> str:
    return f'<script type="application/json" id="data-{html.escape(name)}">{text}</script>\n'


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

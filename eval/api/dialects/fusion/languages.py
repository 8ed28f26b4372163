"""SandboxFusion's names of languages, and ours.

`None`: a language or way of running of theirs that this project has no row for.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find

NAMES: Mapping[str, str | None] = {
    "python": "python",
    "cpp": "c++17",
    "nodejs": "javascript",
    "go": "go",
    "java": "java",
    "csharp": "c#",
    "rust": "rust",
    "ruby": "ruby",
    **dict.fromkeys(
        (
            *("go_test", "php", "bash", "typescript", "sql", "cuda", "lua", "R", "perl", "D_ut"),
            *("scala", "julia", "pytest", "junit", "kotlin_script", "jest", "verilog"),
            *("python_gpu", "lean", "swift", "racket"),
            *("python2", "gtest", "react"),
        )
    ),
}
COMPILED = ("cpp", "go", "java")  # theirs: the languages with 10 s instead of 20 s a test


def is_name(name: str) -> bool:
    """Return whether a request may name this language: theirs, and those of our table."""
    if name in NAMES:
        return True
    try:
        find(name)
    except UnknownLanguage:
        return False
    return True


def row_of(name: str) -> str | None:
    """Return our name of a language, None for one that cannot run here at all."""
    return NAMES[name] if name in NAMES else find(name).name


def why_not_served(name: str, installed: Mapping[str, str]) -> str | None:
    """Return why no program of a language can run on this server; None when it can."""
    row = row_of(name)
    if row in installed:
        return None
    served = ", ".join(n for n, own in NAMES.items() if own in installed)
    if row is None:
        return f"the language {name} is not served; this server runs {served}"
    return (
        f"the language {name} is not installed on the server's machine ({find(row).install}); it "
        f"runs {served}"
    )

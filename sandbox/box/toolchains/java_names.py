"""The file name that a Java source needs, and the class that is run.

A public class must be in a file of its name, and the class to run is given by name. Both are found
in the source: names of top-level classes, outside comments and literals.

    package p;  class A {}  public class B { public static void main(…) }   ─▶  B.java, p.B
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DEFAULT = "Main"
# Comments, text blocks, strings and characters, in the order in which they are tried.
_COMMENT_OR_LITERAL = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"\"\".*?(?:\"\"\"|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?|\'(?:[^\'\\\n]|\\.)*\'?',
    re.DOTALL,
)
_TOKEN = re.compile(
    r"[{}]|\bpackage\s+([\w$.]+)|(?<![.\w$])(class|interface|enum|record)\s+([\w$]+)"
    r"|\bmain\s*\(|\bpublic\b|;"
)


@dataclass
class _Class:
    name: str
    public: bool
    main: bool = False


def names(source: bytes) -> tuple[str, str]:
    """Return (file name, class to run with its package) of a Java source of any bytes.

    The class is the first top-level class with a method called main, else the public one, else the
    first. The file is named after the public class, else after the class to run.
    """
    text = _COMMENT_OR_LITERAL.sub(" ", source.decode("utf-8", "replace"))
    package = ""
    classes: list[_Class] = []
    depth = 0
    public = False
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word == "{":
            depth += 1
        elif word == "}":
            depth -= 1
        elif token[1]:
            package = package or (token[1] if depth == 0 and not classes else "")
        elif token[3] and depth == 0:
            classes.append(_Class(token[3], public))
        elif depth == 1 and classes and word.startswith("main"):
            classes[-1].main = True
        public = word == "public"
    public_class = next((c for c in classes if c.public), None)
    to_run = next((c for c in classes if c.main), None) or public_class or next(iter(classes), None)
    main = to_run.name if to_run else DEFAULT
    file = public_class.name if public_class else main
    if len(file.encode()) > 200:
        file = DEFAULT
    return f"{file}.java", f"{package}.{main}" if package else main

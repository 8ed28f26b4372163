"""How a Java source wants its file named, and which of its classes is run.

A public class must lie in a file of its name, and the class that is run is asked for by
name. Both are read off the source: names of top-level classes, outside comments and
literals.

    package p;  class A {}  public class B { public static void main(…) }   ─▶  B.java, p.B
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DEFAULT = "Main"
# Comments, text blocks, strings and characters, in the order they are tried at each place.
_DARK = re.compile(
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
    """(file name, class to run with its package) of a Java source of any bytes.

    The class is the first top-level one with a method called main, else the public one,
    else the first; the file is named after the public one, else after the class to run.
    """
    text = _DARK.sub(" ", source.decode("utf-8", "replace"))
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
        elif word == "public" or word == ";":
            public = word == "public"
        elif token[1]:
            package = package or (token[1] if depth == 0 and not classes else "")
        elif token[3] and depth == 0:
            classes.append(_Class(token[3], public))
        elif depth == 1 and classes and word.startswith("main"):
            classes[-1].main = True
        if word != "public":
            public = False
    shown = next((c for c in classes if c.public), None)
    first = next((c for c in classes if c.main), None) or shown or next(iter(classes), None)
    main = first.name if first else DEFAULT
    file = shown.name if shown else main
    if len(file.encode()) > 200:
        file = DEFAULT
    return f"{file}.java", f"{package}.{main}" if package else main

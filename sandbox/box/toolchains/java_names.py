"""The file name that a Java source needs, and the class that is run.

A public class must be in a file of its name, and the class to run is given by name. Both are found
in the source: names of top-level classes, outside comments and literals.

    package p;  class A {}  public class B { public static void main(…) }   ─▶  B.java, p.B
"""

from __future__ import annotations

from dataclasses import dataclass

from gradebox.sandbox.source_tokens import tokens

DEFAULT = "Main"
MOST_PARTS = 100  # names and dots of a package
_KINDS = frozenset(("class", "interface", "enum", "record"))


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
    package: list[str] = []
    classes: list[_Class] = []
    depth = 0
    public = in_package = False
    last, before = "", ""
    for kind, word, _ in tokens(source.decode("utf-8", "replace"), "java"):
        if kind in ("comment", "string", "line"):
            continue
        depth += (word == "{") - (word == "}")
        if word == "package" and depth == 0 and not classes and not package:
            in_package = True
        elif in_package and len(package) < MOST_PARTS and (kind == "word" or word == "."):
            package.append(word)
        elif word == "(" and last == "main" and depth == 1 and classes:
            classes[-1].main = True
        elif kind == "word" and last in _KINDS and before != "." and depth == 0:
            classes.append(_Class(word, public))
            public = False
        else:
            in_package = False
            public = word == "public" or (public and word not in ("{", "}", ";"))
        before, last = last, word
    public_class = next((c for c in classes if c.public), None)
    to_run = next((c for c in classes if c.main), None) or public_class or next(iter(classes), None)
    main = to_run.name if to_run else DEFAULT
    file = public_class.name if public_class else main
    if len(file.encode()) > 200:
        file = DEFAULT
    return f"{file}.java", f"{''.join(package)}.{main}" if package else main

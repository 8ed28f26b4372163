"""The source files of C and C++ programs that have more than one."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Compilers, by `Language.family` → endings of what they compile; any other file is a header.
SOURCE_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "g++": (".cpp", ".cc", ".cxx", ".c++", ".c"),
    "gcc": (".c",),
}
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def included_names(source: bytes) -> list[str]:
    """Return the names in a source's `#include "…"`, in order."""
    return [name.decode("utf-8", "replace") for name in _INCLUDE.findall(source)]


def other_sources(family: str, files: Mapping[str, bytes]) -> list[str]:
    """Return the files that the compiler is given beside the first one, as `./name`.

    A source that another file includes is compiled as a part of that.
    """
    _, *others = files
    endings = SOURCE_ENDINGS.get(family, ())
    sources = [name for name in others if name.lower().endswith(endings)] if endings else []
    if not sources:
        return []
    included = {name for text in files.values() for name in included_names(text)}
    return [f"./{name}" for name in sources if name not in included]

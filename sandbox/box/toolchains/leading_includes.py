"""Which header text may precede a C++ source without a change of the program.

    pragmas, #include <cstdio>, #include <iostream>, #include <vector>, using namespace …
        ─▶ (pragmas + iostream + vector, pragmas + iostream)

A text repeats the first includes of the source, in their order: template-heavy programs differ in
the order of their functions when headers change places. Only headers of the C library may move
behind the text: they declare no templates. Nothing but comments and pragmas that are repeated
too may precede the last include of the text, so no macro of the source can change what it means.

For the same reason, there is no smaller bits/stdc++.h for sources that name nothing of <regex>,
<filesystem> and the like, though it would save a third more: these headers instantiate
vector<unsigned long>, and `vector<int> a; vector<unsigned long> b;` places its destructor first.
"""

from __future__ import annotations

import re

HEADER = "bits/stdc++.h"
PLAIN = f"#include <{HEADER}>\n".encode()
PRAGMA_BYTES = 400
MOST_INCLUDES = 16
SCANNED_BYTES = 65536

# Headers that may be included again without an effect (<cassert> redefines its macro, equally).
# Missing on purpose: deprecated ones, which warn, and <execution>, which changes <algorithm>.
CPP_NAMES = """
    algorithm any array atomic bit bitset charconv chrono cmath codecvt compare complex concepts
    condition_variable deque exception filesystem format forward_list fstream functional future
    initializer_list iomanip ios iosfwd iostream istream iterator limits list locale map memory
    memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex
    scoped_allocator set shared_mutex span sstream stack stdexcept streambuf string string_view
    system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility
    valarray variant vector
"""
C_NAMES = """
    cassert cctype cerrno cfloat cinttypes climits clocale cstdarg cstddef cstdint cstdio cstdlib
    cstring ctime cwchar cwctype
    assert.h ctype.h errno.h float.h inttypes.h limits.h locale.h stdarg.h stddef.h stdint.h
    stdio.h stdlib.h string.h time.h wchar.h wctype.h
"""
CPP = frozenset((*CPP_NAMES.split(), HEADER))
C = frozenset(C_NAMES.split())

INCLUDE = re.compile(rb'\s*#\s*include\s*<([^>\n"]+)>\s*')
ANY_INCLUDE = re.compile(rb'(?:#|%:|\?\?=)\s*include\s*[<"]?([^>"\n]*)')
# These may precede everything: they change how code is generated, not the header's meaning.
# No name=value (arch=, tune=): g++ refuses those when they appear twice.
PRAGMA = re.compile(
    rb'\s*#\s*pragma\s+GCC\s+(optimize|target)\s*\(\s*("[\w,+.-]*"(?:\s*,\s*"[\w,+.-]*")*)\s*\)\s*'
)
MACRO_USE = re.compile(rb"__[A-Z]|##|_options")
# Pragmas of other compilers, mostly linker options, which g++ ignores.
IGNORED = re.compile(rb'\s*#\s*pragma\s+comment\s*\(\s*\w+\s*(?:,\s*"[^"\n\\]*"\s*)?\)\s*')
# Comments that hold a backslash may end elsewhere than they seem to: they stay.
COMMENT = re.compile(rb'("[^"\n\\]*")|//[^\n\\]*(?=\n|$)|/\*[^\\]*?\*/')


def header_texts(source: bytes) -> tuple[bytes, ...]:
    """Return the header texts that may precede a source, the longest first; often none."""
    pragmas: list[bytes] = []
    includes: list[bytes] = []
    any_include = False
    for line in _lines(source):
        if not line.strip() or IGNORED.fullmatch(line):
            continue
        pragma = PRAGMA.fullmatch(line)
        if pragma and not any_include:
            pragmas.append(b"#pragma GCC %s(%s)\n" % (pragma[1], pragma[2]))
            continue
        name = _included(line)
        if name not in CPP | C:
            break
        any_include = True
        if name in CPP:
            includes.append(f"#include <{name}>\n".encode())
        if name == HEADER or len(includes) == MOST_INCLUDES:
            break
    head = b"".join(pragmas)
    if len(head) > PRAGMA_BYTES or (pragmas and _may_use_macros(source)):
        return ()
    return tuple(head + b"".join(includes[:n]) for n in range(len(includes), 0, -1))


def _included(line: bytes) -> str:
    found = INCLUDE.fullmatch(line)
    return found[1].decode("latin-1").strip() if found else ""


def _may_use_macros(source: bytes) -> bool:
    """Return whether a source may use the macros that pragmas define (__AVX2__, __FAST_MATH__).

    With g++ 12 these differ between a precompiled header and a plain one.
    """
    included = {name.decode("latin-1").strip() for name in ANY_INCLUDE.findall(source)}
    return bool(MACRO_USE.search(source)) or not included <= CPP | C


def _lines(source: bytes) -> list[bytes]:
    """Return the first lines with blank comments; unusual ones are left, which stops the scan."""
    if len(source) > SCANNED_BYTES:
        source = source[:SCANNED_BYTES].rpartition(b"\n")[0]
    if b"??/" in source:  # a backslash, before C++17
        return []
    return COMMENT.sub(lambda found: found[1] or b" ", source).split(b"\n")

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
from collections.abc import Iterator

from gradebox.sandbox.source_tokens import Token, lines

HEADER = "bits/stdc++.h"
PLAIN = f"#include <{HEADER}>\n".encode()
PRAGMA_BYTES = 400
MOST_INCLUDES = 16
SCANNED_BYTES = 65536
MOST_IN_LINE, MOST_TOKENS = 100, 4000  # in a line, in all

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

MACRO_USE = re.compile(rb"__[A-Z]|##|_options")
# These may precede everything: they change how code is generated, not the header's meaning.
# No name=value (arch=, tune=): g++ refuses those when they appear twice.
PRAGMAS = ("optimize", "target")
PRAGMA_LETTERS = frozenset("_,+.-")


def header_texts(source: bytes) -> tuple[bytes, ...]:
    """Return the header texts that may precede a source, the longest first; often none."""
    pragmas: list[bytes] = []
    includes: list[bytes] = []
    any_include = False
    for line in _lines(source):
        if not line or _is_ignored(line):
            continue
        pragma = _pragma(line)
        if pragma and not any_include:
            pragmas.append(pragma)
            continue
        name = _included(source, line)
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


def _included(source: bytes, line: list[Token]) -> str:
    """Return the name in a line `#include <name>`, "" for any other."""
    if len(line) < 5 or [text for _, text, _ in line[:3]] != ["#", "include", "<"]:
        return ""
    end = line[-1]
    return source[line[2][2] + 1 : end[2]].decode("latin-1").strip() if end[1] == ">" else ""


def _pragma(line: list[Token]) -> bytes:
    """Return a line `#pragma GCC optimize("O3", "unroll-loops")`, b"" for any other."""
    words = [text for _, text, _ in line]
    values = words[5:-1]
    if words[:3] != ["#", "pragma", "GCC"] or words[3:5] not in [[p, "("] for p in PRAGMAS]:
        return b""
    if words[-1] != ")" or len(values) % 2 == 0 or any(v != "," for v in values[1::2]):
        return b""
    if not all(map(_is_option, values[::2])):
        return b""
    return f"#pragma GCC {words[3]}({''.join(values)})\n".encode()


def _is_option(text: str) -> bool:
    inner = text[1:-1]
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return quoted and inner.isascii() and all(c.isalnum() or c in PRAGMA_LETTERS for c in inner)


def _is_ignored(line: list[Token]) -> bool:
    """Return whether a line is a pragma of other compilers, mostly for linkers: g++ ignores it."""
    words = [text for _, text, _ in line]
    kinds = [kind for kind, _, _ in line[4:]]
    if words[:4] != ["#", "pragma", "comment", "("] or words[-1] != ")":
        return False
    return kinds == ["word", "sign"] or (
        kinds == ["word", "sign", "string", "sign"]
        and words[5] == ","
        and words[6][0] == '"'
        and "\\" not in words[6]
    )


def _may_use_macros(source: bytes) -> bool:
    """Return whether a source may use the macros that pragmas define (__AVX2__, __FAST_MATH__).

    With g++ 12 these differ between a precompiled header and a plain one.
    """
    if len(source) > SCANNED_BYTES or MACRO_USE.search(source):
        return True
    before, *others = source.split(b"include")
    for text in others:
        if before.rstrip().endswith((b"#", b"%:", b"??=", b"*/")):
            name, end, _ = text.lstrip()[:200].partition(b">")
            if not end or name[:1] != b"<" or name[1:].strip().decode("latin-1") not in CPP | C:
                return True
        before = text
    return False


def _lines(source: bytes) -> Iterator[list[Token]]:
    """Yield the first lines as tokens without comments; anything unusual ends them."""
    if len(source) > SCANNED_BYTES:
        source = source[:SCANNED_BYTES].rpartition(b"\n")[0]
    if b"??/" in source:  # a backslash, before C++17
        return
    for line in lines(source.decode("ascii", "replace"), "c++", MOST_TOKENS):
        # A comment with a backslash may end elsewhere than it seems to.
        if len(line) > MOST_IN_LINE or any(map(_is_odd, line)):
            return
        yield [token for token in line if token[0] != "comment"]


def _is_odd(token: Token) -> bool:
    kind, text, _ = token
    unended = text[:2] == "/*" and (len(text) < 4 or text[-2:] != "*/")
    return kind == "rest" or (kind == "comment" and ("\\" in text or unended))

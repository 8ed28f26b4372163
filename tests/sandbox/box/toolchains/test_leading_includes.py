"""Which header texts may precede a source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.sandbox.box.toolchains.gcc import (
    MOST_INCLUDES,
    PLAIN,
    SCANNED_BYTES,
    header_texts,
)

BITS = "#include <bits/stdc++.h>\n"
IO, VEC, MAP = "#include <iostream>\n", "#include <vector>\n", "#include <map>\n"
O3, AVX = '#pragma GCC optimize("O3")\n', '#pragma GCC target("avx2,bmi")\n'
TEXTS = [
    # beginning of the source, the longest header that may precede it (None: none)
    (BITS, BITS),
    ("// a\n/* b\n c */\n  #  include < bits/stdc++.h >\n", BITS),
    (BITS + MAP + "int x;\n", BITS),
    (IO + "int main() {}\n", IO),
    (IO + VEC + "using namespace std;\n" + MAP, IO + VEC),
    (VEC + IO, VEC + IO),  # in the source's order: in another one, functions change places
    (IO + VEC + BITS, IO + VEC + BITS),
    ("#include <assert.h>\n" + BITS, BITS),  # headers of C declare no templates
    ("#include <cstdio>\n" + IO + "#include<cstring> // c\n" + VEC, IO + VEC),
    ("#include <cstdio>\n", None),
    (O3 + BITS, O3 + BITS),
    (O3 + AVX + BITS, O3 + AVX + BITS),
    (AVX + VEC + BITS, AVX + VEC + BITS),
    (
        '# pragma  GCC optimize ( "Ofast" , "unroll-loops" ) // x\n' + BITS,
        '#pragma GCC optimize("Ofast","unroll-loops")\n' + BITS,
    ),
    ('#pragma comment(linker, "/STACK:268435456")\n' + BITS, BITS),
    (BITS + O3, BITS),  # code after the include does not matter
    (VEC + O3 + BITS, VEC),  # the pragma holds for one header, not the other
    ("#include <cstdio>\n" + O3 + BITS, None),
    ('#pragma GCC target("arch=haswell")\n' + BITS, None),
    ('#pragma GCC target("tune=native")\n' + BITS, None),
    ("#pragma GCC optimize(O3)\n" + BITS, None),
    ("#pragma GCC push_options\n" + BITS, None),
    ("#pragma GCC poison vector\n" + IO, None),
    ("#pragma GCC system_header\n" + IO, None),
    ('#pragma push_macro("x")\n' + IO, None),
    ('_Pragma("pack(1)")\n' + IO, None),
    ("#pragma once\n" + BITS, None),
    ("#define int long long\n" + BITS, None),
    ("#define _GLIBCXX_DEBUG\n" + BITS, None),
    (IO + "#define _GLIBCXX_DEBUG\n" + VEC, IO),
    ("#undef __cplusplus\n" + VEC, None),
    ("#ifdef X\n" + BITS + "#endif\n", None),
    ("#if 0\n" + IO + "#endif\n", None),
    ('#include "mine.h"\n' + BITS, None),
    ("#include <../mine.h>\n" + BITS, None),
    ("#include <ext/pb_ds/assoc_container.hpp>\n" + IO, None),
    ("#include <execution>\n" + IO, None),  # <algorithm> differs after it
    ("#include_next <vector>\n", None),
    ("int x;\n" + BITS, None),
    # what looks like a comment or is one nevertheless
    ("// \\\n" + BITS, None),
    ("// ??/\n" + BITS, None),
    ("/* *\\\n/\n#define _GLIBCXX_DEBUG\n/* */\n" + BITS, None),
    ('#pragma comment(x, "/*")\n#define int long\n#pragma comment(x, "*/")\n' + BITS, None),
    ('#pragma comment(x, \'"\', "/*")\n#define int long\n/* */)\n' + BITS, None),
    ("#pragma comment(x) \\\n" + BITS, None),
    ("#include <vec\\\ntor>\n", None),
    ("/" + "*" * SCANNED_BYTES + "/" + BITS, None),
    ("//" + "*" * (SCANNED_BYTES - len(IO) - 1) + "\n" + IO[:-1] + "x\n", None),  # cut in a line
    (O3 * 40 + BITS, None),
    # after pragmas, macros differ between a precompiled header and a plain one
    (O3 + BITS + "#ifdef __AVX2__\n#endif\n", None),
    (O3 + BITS + "#include <immintrin.h>\n", None),
    (O3 + BITS + "# include <ext/pb_ds/assoc_container.hpp>\n", None),
    (O3 + BITS + "#define A(x) __A ## x\n", None),
    (O3 + BITS + "#pragma GCC pop_options\n", None),
    (O3 + BITS + VEC, O3 + BITS),
    (BITS + "#include <immintrin.h>\n#ifdef __AVX2__\n#endif\n", BITS),
    ("", None),
]


@pytest.mark.parametrize(("source", "header"), TEXTS)
def test_the_header_that_may_precede_a_source(source: str, header: str | None) -> None:
    texts = header_texts(source.encode())
    assert (texts[0].decode() if texts else None) == header


def test_shorter_headers_are_those_of_fewer_includes() -> None:
    texts = header_texts((O3 + IO + "#include <cmath>\n" + VEC + MAP).encode())
    cmath = IO + "#include <cmath>\n"
    expected = [O3 + cmath + VEC + MAP, O3 + cmath + VEC, O3 + cmath, O3 + IO]
    assert [text.decode() for text in texts] == expected


def test_the_number_of_includes_is_limited() -> None:
    texts = header_texts((IO * (MOST_INCLUDES + 9)).encode())
    assert len(texts) == MOST_INCLUDES


@given(st.binary(max_size=200))
def test_only_plain_pragmas_are_accepted(noise: bytes) -> None:
    for text in header_texts(b'#pragma GCC optimize("' + noise + b'")\n' + PLAIN):
        assert text.isascii() and text.count(b"\n") <= 8
        assert text.endswith(PLAIN)


@given(st.lists(st.sampled_from(["/*", "*/", "//", '"', "\\", "\n", "x", "'", IO, "#define x\n"])))
def test_a_macro_before_an_include_is_never_overlooked(parts: list[str]) -> None:
    """Compared with a scan by character, which knows comments, strings and spliced lines."""
    source = "".join(parts)
    if header_texts(source.encode()):
        code = _code(source)
        assert code.lstrip().startswith("#include <iostream>")


def _code(source: str) -> str:
    """Return a source without comments, as the preprocessor sees it."""
    text, out, i = source.replace("\\\n", ""), "", 0
    while i < len(text):
        if text.startswith("//", i):
            i = text.find("\n", i) if "\n" in text[i:] else len(text)
        elif text.startswith("/*", i):
            end = text.find("*/", i + 2)
            i, out = (len(text) if end < 0 else end + 2), out + " "
        elif text[i] in "\"'":
            quote, start = text[i], i
            i += 1
            while i < len(text) and text[i] not in (quote, "\n"):
                i += 1 + (text[i] == "\\")
            i += 1
            out += text[start:i]
        else:
            out, i = out + text[i], i + 1
    return out

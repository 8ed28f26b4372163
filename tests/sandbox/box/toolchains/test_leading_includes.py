"""Which header texts may precede a source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.sandbox.box.toolchains.gcc import (
    MOST_INCLUDES,
    PLAIN,
    SCANNED_BYTES,
    header_texts,
)
from testing.rows import rows

BITS = "#include <bits/stdc++.h>\n"
IO, VEC, MAP = "#include <iostream>\n", "#include <vector>\n", "#include <map>\n"
O3, AVX = '#pragma GCC optimize("O3")\n', '#pragma GCC target("avx2,bmi")\n'


TOO_LONG = [
    ("/" + "*" * SCANNED_BYTES + "/" + BITS, None),
    ("//" + "*" * (SCANNED_BYTES - len(IO) - 1) + "\n" + IO[:-1] + "x\n", None),  # cut in a line
]


# The beginning of a source, the longest header that may precede it (null: none).
@pytest.mark.parametrize(("source", "header"), [*rows(__file__, "texts"), *TOO_LONG])
def test_the_header_that_may_precede_a_source(source, header):
    texts = header_texts(source.encode())
    assert (texts[0].decode() if texts else None) == header


def test_shorter_headers_are_those_of_fewer_includes():
    texts = header_texts((O3 + IO + "#include <cmath>\n" + VEC + MAP).encode())
    cmath = IO + "#include <cmath>\n"
    expected = [O3 + cmath + VEC + MAP, O3 + cmath + VEC, O3 + cmath, O3 + IO]
    assert [text.decode() for text in texts] == expected


def test_the_number_of_includes_is_limited():
    texts = header_texts((IO * (MOST_INCLUDES + 9)).encode())
    assert len(texts) == MOST_INCLUDES


@given(st.binary(max_size=200))
def test_only_plain_pragmas_are_accepted(noise):
    for text in header_texts(b'#pragma GCC optimize("' + noise + b'")\n' + PLAIN):
        assert text.isascii() and text.count(b"\n") <= 8
        assert text.endswith(PLAIN)


@given(st.lists(st.sampled_from(["/*", "*/", "//", '"', "\\", "\n", "x", "'", IO, "#define x\n"])))
def test_a_macro_before_an_include_is_never_overlooked(parts):
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

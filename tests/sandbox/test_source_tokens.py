"""Tokens of sources, and that reading a source is linear in its length."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.solutions.program import hint
from gradebox.sandbox.box.toolchains.gcc import header_texts
from gradebox.sandbox.source_tokens import MOST_TOKENS, Style, java_names, lines, tokens
from testing.calls import calls_of
from testing.rows import rows

STYLES: list[Style] = ["c++", "java", "rust", "go", "javascript"]
UNITS = [
    *("/*", "*/", "//", "/* */", "/*/*", "*/ /*", "///", "//\n", "/", "*", "${", "`${", "`", "??/"),
    *('"', "'", '\\"', '"\\', "\\'", "\\", '"\\"', '"a"', "'a'", "'a", '""', '"""', '"O3",'),
    *('R"(', 'R"a(', ')a"', 'u8R"(', 'r#"', 'r##"', '"#', 'br"', "1'", "1'0", "#", "# ", "a", "a "),
    *("{", "}", "{}", "(", ")", ";", "\n", " \n", "\r\n", " ", "\t", "é", "\x00", "0", "#if WIN\n"),
    *("import (", "int f()\n", "main(/*a*/", "class A", "class ", "package a.", "public ", "enum "),
    *("#include <vector>\n", "#include <", "#include ", "#pragma GCC optimize(", '"%I64', "%I64d"),
    *("#pragma comment(a)\n", '#pragma GCC target("a")\n'),
]
SCANS: list[Callable[[str], Any]] = [
    *((lambda text, style=style: list(tokens(text, style))) for style in STYLES),
    lambda text: list(lines(text, "c++")),
    lambda text: header_texts(text.encode()),
    lambda text: header_texts(b'#pragma GCC optimize("O3")\n#include <map>\n' + text.encode()),
    lambda text: java_names(text.encode()),
    lambda text: hint(f"{text} I64", "c++17"),
]


@pytest.mark.parametrize(
    ("style", "source", "found"),
    rows(__file__, "tokens"),
)
def test_tokens_of_each_style(style, source, found):
    assert [text for _, text, _ in tokens(source, style)] == found


@given(st.text(st.sampled_from("/*\"'\\`R(#)ar\n {};1"), max_size=40), st.sampled_from(STYLES))
def test_tokens_cover_all_but_white_space(source, style):
    at = 0
    for _, text, start in tokens(source, style):
        assert text
        assert not source[at:start].strip()
        at = start + len(text)
        assert source[start:at] == text
    assert not source[at:].strip()


def test_what_is_behind_too_many_tokens_is_one():
    *first, (kind, text, start) = tokens(";" * (MOST_TOKENS + 9), "go")
    assert len(first) == start == MOST_TOKENS
    assert (kind, len(text)) == ("rest", 9)
    assert [kind for kind, _, _ in tokens('"' + "\\n" * 20_000 + '" a', "c++")] == ["rest"]


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("scan", SCANS)
def test_the_work_of_a_scan_is_linear(scan):
    for unit in UNITS:
        short, long = (calls_of(scan, unit * (size // len(unit))) for size in (1 << 9, 1 << 12))
        assert long <= 9 * short + 400, repr(unit)
    for unit in ("/* ", "{}"):
        long, longest = (calls_of(scan, unit * (size // len(unit))) for size in (1 << 15, 1 << 18))
        assert longest <= min(8 * long, 12 * MOST_TOKENS) + 400, repr(unit)

"""Programs are the same byte for byte with precompiled headers, and so are compilers' messages."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox import Program
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.toolchains import gcc
from gradebox.sandbox.box.toolchains.gcc import header_texts
from testing.submissions.codeforces.table import read_table
from tests.sandbox.levels import own_cache

pytestmark = [
    pytest.mark.slow(5),
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("precompiled headers"),
]
BITS = "#include <bits/stdc++.h>\n"
FEW = "#include <iostream>\n#include <vector>\n#include <cstdio>\n#include <cmath>\n"
# What may precede a header, and a program with what a header might change. Few: g++ takes seconds.
SOURCES = {
    "pushed options, macros of pragmas, and destructors that the header needs as well": (
        BITS,
        "#include <immintrin.h>\n#include <ext/pb_ds/assoc_container.hpp>\n"
        "using namespace __gnu_pbds;\ntypedef tree<int, null_type, std::less<int>, rb_tree_tag,"
        " tree_order_statistics_node_update> T;\n#pragma GCC push_options\n"
        '#pragma GCC optimize("O0")\nint slow(int n) { return n * 3; }\n#pragma GCC pop_options\n'
        "std::vector<int> a; std::vector<unsigned long> b;\n"
        "int main() {\n#ifdef __AVX2__\n"
        'puts("avx2");\n#endif\n#ifdef __FAST_MATH__\nputs("fast");\n#endif\n'
        "T t; for (int i = 0; i < 9; i++) t.insert(i * 7 % 9); std::bitset<1000> c(7);"
        " a.push_back(1); b.push_back(2);"
        " std::cout << *t.find_by_order(3) << slow(c.count()) << a.size() + b.size(); }",
    ),
    "an attribute, and a macro after the header": (
        '#pragma GCC target("sse4.2")\n#pragma GCC optimize("Os", "no-inline")\n' + FEW,
        "#define int long long\nusing namespace std;\n"
        '__attribute__((target("popcnt"))) int f(vector<int> &v)'
        " { int s = 0; for (int x : v) s += __builtin_popcount(x); return s; }\n"
        "float s; signed main() { vector<int> v{1, 2, 3}; for (int i = 0; i < 64; i++)"
        ' s += sqrtf(i) * (63 - i); printf("%lld %f", f(v), s); cout << typeid(int).name(); }',
    ),
}


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EmbeddedSandbox, ...]]:
    if not shutil.which("g++"):
        pytest.skip("no g++ on this machine: apt-get install g++")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADEBOX_CACHE", str(own_cache(tmp_path_factory.mktemp("same"))))
        with EmbeddedSandbox(1) as cheap, EmbeddedSandbox(1) as plain:
            plain._headers.enabled = False
            if not cheap._headers.enabled:
                pytest.skip("programs run as another user here, who cannot read the headers")
            yield cheap, plain


def with_header(cheap: EmbeddedSandbox, includes: str) -> None:
    """Have the header of a sequence of includes made, by a program that compiles quickly."""
    assert cheap.compile(Program("c++17", {"m": f"{includes}int main() {{}}".encode()})).ok
    cheap.wait_until_warm()
    made = {wanted.text for wanted, folder in cheap._headers._ready.items() if folder}
    assert header_texts(includes.encode())[0] in made


def assert_same(boxes: tuple[EmbeddedSandbox, ...], includes: str, text: str) -> None:
    with_header(boxes[0], includes)
    assert header_texts(text.encode())
    ours, theirs = (box.compile(Program("c++17", {"m": text.encode()})) for box in boxes)
    assert (ours.ok, ours.log) == (theirs.ok, theirs.log) and ours.ok, ours.log
    binaries = [
        Path(f"/proc/self/fd/{one.artifact.executable.fd}").read_bytes() for one in (ours, theirs)
    ]
    assert binaries[0] == binaries[1]


@pytest.mark.parametrize("name", SOURCES)
def test_binaries_are_the_same_byte_for_byte(boxes, name):
    head, text = SOURCES[name]
    assert_same(boxes, head, head + text)


def test_a_solution_that_includes_single_headers_is_the_same(boxes):
    rows = [row for row in read_table() if row.program.endswith("/right.cpp")]
    texts = [row.source.decode() for row in rows]
    text = next(text for text in texts if BITS not in text and header_texts(text.encode()))
    assert_same(boxes, header_texts(text.encode())[0].decode(), text)


def test_messages_about_a_header_are_those_of_a_plain_compilation(boxes):
    cheap, plain = boxes
    with_header(cheap, BITS)
    source = f"{BITS}int main() {{ std::vector<int> v; std::sort(v); }}\n"
    program = Program("c++17", {"m": source.encode()})
    ours, theirs = cheap.compile(program), plain.compile(program)
    assert not ours.ok and b"/algorithm" in ours.log and ours.log == theirs.log
    assert gcc.TEXT.encode() not in ours.log

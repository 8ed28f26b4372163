"""Programs are the same byte for byte with precompiled headers, and so are compilers' messages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox import Program
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.toolchains import gcc
from gradebox.sandbox.box.toolchains.gcc import header_texts
from testing.submissions.codeforces.table import PROGRAMS
from tests.sandbox.levels import own_cache

pytestmark = [
    pytest.mark.slow(12),
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("precompiled headers"),
]
BITS = "#include <bits/stdc++.h>\n"
SOURCES = {
    "containers": 'int main() { std::map<std::string, std::set<int>> m; m["a"].insert(1);'
    " std::vector<int> v(1000); std::iota(v.begin(), v.end(), 0); std::mt19937_64 r(5);"
    " std::shuffle(v.begin(), v.end(), r); std::sort(v.rbegin(), v.rend());"
    " std::cout << m.size() << v[3]; }",
    "an attribute": '__attribute__((target("popcnt"))) int f(std::vector<int> &v)'
    " { int s = 0; for (int x : v) s += __builtin_popcount(x); return s; }\n"
    "float s; int main() { std::vector<int> v{1, 2, 3}; for (int i = 0; i < 64; i++)"
    ' s += sqrtf(i) * (63 - i); printf("%d %f", f(v), s); }',
    "what the pragmas say": "#include <immintrin.h>\nint main() {\n#ifdef __AVX2__\n"
    'puts("avx2");\n#endif\n#ifdef __FAST_MATH__\nputs("fast");\n#endif\n#ifdef __OPTIMIZE__\n'
    'puts("opt");\n#endif\nfloat s = 0; for (int i = 0; i < 64; i++) s += sqrtf(i) * (63 - i);\n'
    'printf("%f", s); }',
    "trees with pushed options": "#include <ext/pb_ds/assoc_container.hpp>\n"
    "using namespace __gnu_pbds;\ntypedef tree<int, null_type, std::less<int>, rb_tree_tag,"
    " tree_order_statistics_node_update> T;\n#pragma GCC push_options\n"
    '#pragma GCC optimize("O0")\nint slow(int n) { return n * 3; }\n#pragma GCC pop_options\n'
    "int main() { T t; for (int i = 0; i < 9; i++) t.insert(i * 7 % 9); std::bitset<1000> b(7);"
    " std::cout << *t.find_by_order(3) << slow(b.count()); }",
    "destructors that the header needs as well": "std::vector<int> a; std::vector<unsigned long> b;"
    " int main() { a.push_back(1); b.push_back(2); return a.size() + b.size(); }",
    "a macro after it": "#define int long long\nusing namespace std;\n"
    "signed main() { int a = 1LL << 40; cout << a << typeid(int).name(); }",
}
FEW = "#include <iostream>\n#include <vector>\n#include <cstdio>\n#include <cmath>\n"
HEADS = {
    "none": BITS,
    "fast and target": '#pragma GCC optimize("Ofast")\n#pragma GCC target("avx2,bmi,bmi2")\n'
    + FEW
    + "".join(f"#include <{name}>\n" for name in ("algorithm", "map", "numeric", "random", "set")),
    "target first": '#pragma GCC target("sse4.2")\n#pragma GCC optimize("Os", "no-inline")\n' + FEW,
}
# Each source with one head, for g++ itself takes most of the time; with pragmas only those that a
# header may serve.
TOGETHER = {
    "none": (
        "what the pragmas say",
        "trees with pushed options",
        "destructors that the header needs as well",
    ),
    "fast and target": ("containers",),
    "target first": ("an attribute", "a macro after it"),
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


def with_header(cheap: EmbeddedSandbox, *includes: str) -> None:
    """Have the header of each sequence of includes made, by a program that compiles quickly."""
    for text in includes:
        assert cheap.compile(Program("c++17", {"m": f"{text}int main() {{}}".encode()})).ok
    cheap.wait_until_warm()
    made = {wanted.text for wanted, folder in cheap._headers._ready.items() if folder}
    for text in includes:
        assert header_texts(text.encode())[0] in made


@pytest.mark.parametrize("head", HEADS)
def test_binaries_are_the_same_byte_for_byte(boxes: tuple[EmbeddedSandbox, ...], head: str) -> None:
    cheap, plain = boxes
    with_header(cheap, HEADS[head])
    for name in TOGETHER[head]:
        text = (HEADS[head] + SOURCES[name]).encode()
        assert header_texts(text), name
        program = Program("c++17", {"m": text})
        ours, theirs = cheap.compile(program), plain.compile(program)
        assert (ours.ok, ours.log) == (theirs.ok, theirs.log) and ours.ok, name
        assert _bytes(ours.artifact.executable) == _bytes(theirs.artifact.executable), name


def _bytes(executable: object) -> bytes:
    return Path(f"/proc/self/fd/{executable.fd}").read_bytes()  # type: ignore[attr-defined]


def test_solutions_that_include_single_headers_are_the_same(
    boxes: tuple[EmbeddedSandbox, ...],
) -> None:
    cheap, plain = boxes
    texts = [path.read_bytes() for path in sorted(PROGRAMS.glob("*/right.cpp"))]
    some = [text for text in texts if BITS.encode() not in text and header_texts(text)]
    of_includes = {header_texts(text)[0]: text for text in some}
    chosen = dict(list(of_includes.items())[:3])  # making a header takes a second
    assert len(chosen) == 3
    with_header(cheap, *(includes.decode() for includes in chosen))
    for text in chosen.values():
        program = Program("c++17", {"m": text})
        ours, theirs = cheap.compile(program), plain.compile(program)
        assert (ours.ok, ours.log) == (theirs.ok, theirs.log) and ours.ok, text
        assert _bytes(ours.artifact.executable) == _bytes(theirs.artifact.executable), text


# In the opposite order or sorted, functions of this program change places.
INCLUDES = ("algorithm", "regex", "functional", "iostream", "map", "sstream", "random", "vector")
TEMPLATES = """
int main() {
    std::map<std::string, std::function<int(int)>> m;
    std::mt19937 r(7);
    std::regex e("(a+)b");
    std::smatch found;
    std::stringstream s;
    std::vector<int> v(9);
    for (int &x : v) x = std::uniform_int_distribution<>(0, 9)(r);
    std::sort(v.begin(), v.end());
    m["a"] = [&](int x) { return x + v[3]; };
    s << m["a"](2) << std::regex_replace(std::string("aab"), e, "$1");
    std::cout << s.str();
}
"""


def test_programs_with_many_templates_are_the_same(boxes: tuple[EmbeddedSandbox, ...]) -> None:
    cheap, plain = boxes
    includes = "".join(f"#include <{name}>\n" for name in INCLUDES)
    includes = f"#include <cstdio>\n{includes}"
    with_header(cheap, includes)
    program = Program("c++17", {"m": f"{includes}{TEMPLATES}".encode()})
    ours, theirs = cheap.compile(program), plain.compile(program)
    assert ours.ok and _bytes(ours.artifact.executable) == _bytes(theirs.artifact.executable)


def test_messages_about_a_header_are_those_of_a_plain_compilation(
    boxes: tuple[EmbeddedSandbox, ...],
) -> None:
    cheap, plain = boxes
    with_header(cheap, BITS)
    source = f"{BITS}int main() {{ std::vector<int> v; std::sort(v); }}\n"
    program = Program("c++17", {"m": source.encode()})
    ours, theirs = cheap.compile(program), plain.compile(program)
    assert not ours.ok and b"/algorithm" in ours.log and ours.log == theirs.log
    assert gcc.TEXT.encode() not in ours.log

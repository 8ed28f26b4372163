"""Precompiled headers: when they are used, how they are cached, and that binaries stay the same."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.sandbox import Limits, Program, SandboxError
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.toolchains import gcc
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.box.toolchains.gcc import AFTER_USES, PLAIN, PrecompiledHeaders, header_text
from gradebox.sandbox.model import Execution

BITS = "#include <bits/stdc++.h>\n"
O3, AVX = '#pragma GCC optimize("O3")\n', '#pragma GCC target("avx2,bmi")\n'
TEXTS = [
    # beginning of the source, header that may precede it (None: none)
    (BITS, BITS),
    ("// a\n/* b\n c */\n  #  include < bits/stdc++.h >\n", BITS),
    (f"#include <iostream>\n#include <vector>\n{BITS}", BITS),
    (O3 + BITS, O3 + BITS),
    (O3 + AVX + BITS, O3 + AVX + BITS),
    (AVX + "#include <vector>\n" + BITS, AVX + BITS),
    (
        '# pragma  GCC optimize ( "Ofast" , "unroll-loops" ) // x\n' + BITS,
        '#pragma GCC optimize("Ofast" , "unroll-loops")\n' + BITS,
    ),
    ('#pragma comment(linker, "/STACK:268435456")\n' + BITS, BITS),
    (BITS + O3, BITS),  # code after the include does not matter
    ("#include <vector>\n" + O3 + BITS, None),  # the pragma holds for one header, not the other
    ('#pragma GCC target("arch=haswell")\n' + BITS, None),
    ('#pragma GCC target("tune=native")\n' + BITS, None),
    ("#pragma GCC optimize(O3)\n" + BITS, None),
    ("#pragma GCC push_options\n" + BITS, None),
    ("#pragma once\n" + BITS, None),
    ("#define int long long\n" + BITS, None),
    ("#define _GLIBCXX_DEBUG\n" + BITS, None),
    ("#ifdef X\n" + BITS + "#endif\n", None),
    ("#include <cassert>\n" + BITS, None),
    ('#include "mine.h"\n' + BITS, None),
    ("int x;\n" + BITS, None),
    ("#include <iostream>\nint main() {}\n", None),
    ("// \\\n" + BITS, None),  # the comment goes on
    ("#pragma comment(x) \\\n" + BITS, None),
    (O3 * 40 + BITS, None),
    # after pragmas, macros differ between a precompiled header and a plain one
    (O3 + BITS + "#ifdef __AVX2__\n#endif\n", None),
    (O3 + BITS + "#include <immintrin.h>\n", None),
    (O3 + BITS + "# include <ext/pb_ds/assoc_container.hpp>\n", None),
    (O3 + BITS + "#define A(x) __A ## x\n", None),
    (O3 + BITS + "#pragma GCC pop_options\n", None),
    (O3 + BITS + "#include <vector>\n", O3 + BITS),
    (BITS + "#include <immintrin.h>\n#ifdef __AVX2__\n#endif\n", BITS),
    ("", None),
]


@pytest.mark.parametrize(("source", "header"), TEXTS)
def test_the_header_that_may_precede_a_source(source: str, header: str | None) -> None:
    text = header_text(source.encode())
    assert (text and text.decode()) == header


@given(st.binary(max_size=200))
def test_only_plain_pragmas_are_accepted(noise: bytes) -> None:
    text = header_text(b'#pragma GCC optimize("' + noise + b'")\n' + PLAIN)
    if text not in (None, PLAIN):
        assert text is not None and text.isascii() and text.count(b"\n") <= 8
        assert text.endswith(PLAIN)


class Making:
    """A compiler that makes headers of two bytes, and counts them."""

    def __init__(self) -> None:
        self.made: list[bytes] = []
        self.stop = threading.Event()
        self.slow = False

    def __call__(self, artifact: object, files: dict[str, bytes], *_: object) -> Execution:
        if self.slow and self.stop.wait(60):
            return Execution(None, 9, 0, 0, 0)
        self.made.append(files[gcc.TEXT])
        return Execution(0, None, 1, 1, 1, files={gcc.MADE: b"ok"})


@pytest.fixture
def making(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Making:
    monkeypatch.setenv("GRADEBOX_CACHE", str(tmp_path / "cache"))
    return Making()


TOOL = Tool("/usr/bin/g++", "g++ 12", ())


def used(headers: PrecompiledHeaders, source: bytes = PLAIN) -> bool:
    return bool(headers.flags(TOOL, ("-O2",), source))


def test_a_header_is_made_after_several_requests(making: Making) -> None:
    headers = PrecompiledHeaders(making)
    for _ in range(AFTER_USES - 1):
        assert not used(headers)
    assert not headers._making and not making.made
    assert not used(headers)  # the one that starts it does not wait
    headers.wait()
    assert used(headers) and making.made == [PLAIN]


def test_a_cached_header_is_used_at_once(making: Making) -> None:
    first = PrecompiledHeaders(making)
    assert not used(first)
    first.wait()
    assert used(PrecompiledHeaders(making)) and len(making.made) == 1


def test_a_changed_header_is_made_again(making: Making) -> None:
    first = PrecompiledHeaders(making)
    used(first)
    first.wait()
    (made,) = gcc.pch_root().glob("*/standard.h.gch")
    made.write_bytes(b"no")
    second = PrecompiledHeaders(making)
    assert not used(second)
    second.wait()
    assert used(second) and made.read_bytes() == b"ok"


def test_endless_different_pragmas_take_no_more_memory_and_headers(
    making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gcc, "MOST_COUNTED", 5)
    monkeypatch.setattr(gcc, "MOST_TRIED", 2)
    headers = PrecompiledHeaders(making)
    for i in range(20):
        for _ in range(AFTER_USES):
            used(headers, f'#pragma GCC optimize("x{i}")\n{BITS}'.encode())
    assert len(headers._uses) <= 5 and len(headers._making) <= 2
    headers.close()


@pytest.mark.slow
def test_a_header_that_is_deleted_meanwhile_is_not_the_programs_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADEBOX_CACHE", str(tmp_path / "cache"))
    tmp_path.chmod(0o755)
    with EmbeddedSandbox(1, allow_unsafe=True) as sandbox:
        headers = sandbox._compiler._headers
        if not headers.enabled:
            pytest.skip("headers are not used at this level for this user")
        sources = [f"{BITS}int main() {{ return {i}; }}".encode() for i in range(3)]
        assert sandbox.compile(Program("c++17", {"main.cpp": sources[0]})).ok
        headers.wait()
        assert sandbox.compile(Program("c++17", {"main.cpp": sources[1]})).ok
        for folder in gcc.pch_root().iterdir():
            shutil.rmtree(folder)
        assert sandbox.compile(Program("c++17", {"main.cpp": sources[2]})).ok


def test_headers_with_pragmas_are_limited_in_number(making: Making) -> None:
    headers = PrecompiledHeaders(making)
    sources = [f'#pragma GCC optimize("O{i}")\n{BITS}'.encode() for i in range(gcc.MOST_KEPT + 3)]
    for source in (*sources, PLAIN):
        assert not used(headers, source)
        headers.wait()
    assert [used(headers, source) for source in sources] == [True] * gcc.MOST_KEPT + [False] * 3
    assert used(headers)  # the one without pragmas is always available


def test_closing_aborts_a_header_that_is_being_made(making: Making) -> None:
    making.slow = True
    headers = PrecompiledHeaders(making, making.stop.set)
    for _ in range(AFTER_USES):
        used(headers)
    start = time.monotonic()
    headers.close()
    assert making.stop.is_set() and not making.made
    assert time.monotonic() - start < 30  # the run itself takes 60 s
    assert not used(headers)


def test_without_a_header_after_a_fault_of_the_machine(making: Making) -> None:
    def fails(*_: object) -> Execution:
        raise SandboxError("no box")

    headers = PrecompiledHeaders(fails)
    used(headers)
    headers.wait()
    assert not used(headers)


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
    "pushed options": "#pragma GCC push_options\n"
    '#pragma GCC optimize("O0")\nint slow(int n) { return n * 3; }\n'
    "#pragma GCC pop_options\nint main() { std::bitset<1000> b(7);"
    " std::cout << slow(b.count()); }",
    "trees": "#include <ext/pb_ds/assoc_container.hpp>\n"
    "using namespace __gnu_pbds;\ntypedef tree<int, null_type, std::less<int>, rb_tree_tag,"
    " tree_order_statistics_node_update> T;\nint main() { T t; for (int i = 0; i < 9; i++)"
    " t.insert(i * 7 % 9); std::cout << *t.find_by_order(3); }",
    "a macro after it": "#define int long long\nusing namespace std;\n"
    "signed main() { int a = 1LL << 40; cout << a << typeid(int).name(); }",
}
HEADS = {
    "none": "",
    "fast and target": '#pragma GCC optimize("Ofast")\n#pragma GCC target("avx2,bmi,bmi2")\n',
    "target first": '#pragma GCC target("sse4.2")\n#pragma GCC optimize("Os", "no-inline")\n',
}
# Each source with one head, for g++ itself takes most of the time; with pragmas only those that a
# header may serve.
TOGETHER = {
    "none": ("what the pragmas say", "pushed options", "trees", "a macro after it"),
    "fast and target": ("containers",),
    "target first": ("an attribute", "a macro after it"),
}


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EmbeddedSandbox, ...]]:
    if not shutil.which("g++"):
        pytest.skip("no g++ on this machine: apt-get install g++")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADEBOX_CACHE", str(tmp_path_factory.mktemp("cache")))
        with EmbeddedSandbox(1) as cheap, EmbeddedSandbox(1) as plain:
            plain._headers.enabled = False
            if not cheap._headers.enabled:
                pytest.skip("programs run as another user here, who cannot read the headers")
            yield cheap, plain


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.xdist_group("precompiled headers")
@pytest.mark.parametrize("head", HEADS)
def test_binaries_are_the_same_byte_for_byte(boxes: tuple[EmbeddedSandbox, ...], head: str) -> None:
    cheap, plain = boxes
    cheap.compile(Program("c++17", {"m": (HEADS[head] + BITS + "int main() {}").encode()}))
    cheap.wait_until_warm()
    assert header_text((HEADS[head] + BITS).encode()) in {
        wanted.text for wanted, made in cheap._headers._ready.items() if made
    }
    for name in TOGETHER[head]:
        text = (HEADS[head] + BITS + SOURCES[name]).encode()
        assert header_text(text) is not None, name
        program = Program("c++17", {"m": text})
        ours, theirs = cheap.compile(program), plain.compile(program)
        assert (ours.ok, ours.log) == (theirs.ok, theirs.log) and ours.ok, name
        assert _bytes(ours.artifact.executable) == _bytes(theirs.artifact.executable), name


def _bytes(executable: object) -> bytes:
    return Path(f"/proc/self/fd/{executable.fd}").read_bytes()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_closing_a_sandbox_does_not_wait_for_a_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++ on this machine: apt-get install g++")
    monkeypatch.setenv("GRADEBOX_CACHE", str(tmp_path / "cache"))
    box = EmbeddedSandbox(2)
    for i in range(AFTER_USES):
        program = Program(
            "c++17", {"m": f"#include <bits/stdc++.h>\nint main() {{}} // {i}".encode()}
        )
        assert box.compile(program).ok
    box.close()
    assert not list((tmp_path / "cache/pch").glob("*/*.gch"))
    assert not [t for t in threading.enumerate() if t.name == "gradebox-pch"]
    with EmbeddedSandbox(1) as another:
        assert another.run(another.compile(program), Limits()).exit_code == 0

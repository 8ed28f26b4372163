"""The cache of precompiled headers: when they are made, used and refused."""

import shutil
import threading
from pathlib import Path

import pytest

from gradebox.sandbox import Limits, Program
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.built_program import BuiltProgram
from gradebox.sandbox.box.toolchains import gcc
from gradebox.sandbox.box.toolchains.compiler import Compiler
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.box.toolchains.gcc import AFTER_USES, PLAIN, PrecompiledHeaders
from gradebox.sandbox.model import Execution
from tests.sandbox.levels import own_cache

BITS = "#include <bits/stdc++.h>\n"
IO, VEC = "#include <iostream>\n", "#include <vector>\n"


class Making:
    """A compiler that makes headers of two bytes, and counts them."""

    def __init__(self) -> None:
        self.made: list[bytes] = []
        self.stop = threading.Event()
        self.slow = False

    def __call__(self, artifact: object, files: dict[str, bytes], *_: object) -> Execution:
        if self.slow and self.stop.wait(1000):
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


def test_a_header_is_made_after_several_requests(making):
    headers = PrecompiledHeaders(making)
    for _ in range(AFTER_USES - 1):
        assert not used(headers)
    assert not headers._making and not making.made
    assert not used(headers)  # the one that starts it does not wait
    headers.wait()
    assert used(headers) and making.made == [PLAIN]


def test_a_cached_header_is_used_at_once(making):
    first = PrecompiledHeaders(making)
    assert not used(first)
    first.wait()
    assert used(PrecompiledHeaders(making)) and len(making.made) == 1


def test_endless_different_pragmas_take_no_more_memory_and_headers(making, monkeypatch):
    monkeypatch.setattr(gcc, "MOST_COUNTED", 5)
    monkeypatch.setattr(gcc, "MOST_TRIED", 2)
    headers = PrecompiledHeaders(making)
    for i in range(20):
        for _ in range(AFTER_USES):
            used(headers, f'#pragma GCC optimize("x{i}")\n{BITS}'.encode())
    assert len(headers._uses) <= 5 and len(headers._making) <= 2
    headers.close()


@pytest.mark.slow
def test_a_header_that_is_deleted_meanwhile_is_not_the_programs_fault(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADEBOX_CACHE", str(own_cache(tmp_path)))
    tmp_path.chmod(0o755)
    with EmbeddedSandbox(1, allow_unsafe=True) as sandbox:
        headers = sandbox._compiler._headers
        if not headers.enabled:
            pytest.skip("headers are not used at this level for this user")
        sources = [f"{IO}int main() {{ return {i}; }}".encode() for i in range(4)]
        assert sandbox.compile(Program("c++17", {"main.cpp": sources[0]})).ok
        headers.wait()
        assert sandbox.compile(Program("c++17", {"main.cpp": sources[1]})).ok
        root, copy = gcc.pch_root(), tmp_path / "copy"
        shutil.copytree(root, copy)
        shutil.rmtree(root)
        shutil.copytree(copy, root)  # as if made by another process: boxes see the old folder
        assert sandbox.compile(Program("c++17", {"main.cpp": sources[2]})).ok
        shutil.rmtree(root)
        assert sandbox.compile(Program("c++17", {"main.cpp": sources[3]})).ok


def several(headers: PrecompiledHeaders, source: str) -> None:
    """Request the headers of a source until the longest is worth making, and wait for it."""
    for _ in range(AFTER_USES):
        used(headers, source.encode())
    for thread in list(headers._making.values()):
        thread.join()


def header_of(headers: PrecompiledHeaders, source: str) -> str:
    flags = headers.flags(TOOL, ("-O2",), source.encode())
    return Path(flags[1]).read_text() if flags else ""


def test_the_longest_sequence_seen_three_times_is_made_and_the_longest_made_is_used(making):
    headers = PrecompiledHeaders(making)
    for other in ("<map>", "<set>", "<queue>"):
        used(headers, f"{IO}{VEC}#include {other}\n".encode())
    for thread in headers._making.values():
        thread.join()
    assert making.made == [(IO + VEC).encode()]
    assert header_of(headers, IO + VEC + "#include <map>\n") == IO + VEC
    assert header_of(headers, VEC + IO) == ""  # another order is another header
    assert header_of(headers, IO) == ""  # the made one has more than this source
    headers.wait()
    assert header_of(headers, IO + "#include <map>\n") == IO  # its count is four


def test_headers_are_limited_in_number(making, monkeypatch):
    monkeypatch.setattr(gcc, "MOST_KEPT", 4)
    headers = PrecompiledHeaders(making)
    sources = [f'#pragma GCC optimize("O{i}")\n{BITS}' for i in range(4 + 3)]
    for source in (*sources, BITS):
        several(headers, source)
    assert [bool(header_of(headers, s)) for s in sources] == [True] * 4 + [False] * 3
    assert used(headers)  # the one without pragmas is always available


def test_closing_aborts_a_header_that_is_being_made(making):
    making.slow = True
    headers = PrecompiledHeaders(making, making.stop.set)
    for _ in range(AFTER_USES):
        used(headers)
    headers.close()
    assert making.stop.is_set() and not making.made
    assert not used(headers)


MISMATCH = (
    b"inlining failed in call to 'always_inline' '~allocator()': target specific option mismatch"
)


@pytest.mark.parametrize(
    ("source", "log", "options"),
    [
        ('#pragma GCC target("avx2,bmi", "no-fma")  // "x"\n' + VEC, MISMATCH,
         "-mavx2 -mbmi -mno-fma"),
        ('# pragma GCC target ( "arch=skylake,tune=native" )\n' + VEC, MISMATCH,
         "-march=skylake -mtune=native"),
        ('#pragma GCC target("avx")\n#pragma GCC target("avx,-o/x,@f")\n' + VEC, MISMATCH,
         "-mavx"),
        (IO + '#pragma GCC target("avx2")\n', MISMATCH, None),
        ('#pragma GCC target("avx2")\n' + VEC, b"error: expected ';'", None),
        (VEC + "// _mm256_add_epi8 without a pragma", MISMATCH, None),
    ],
)  # fmt: skip
def test_a_target_that_newer_compilers_refuse_before_an_include_becomes_an_option(
    source, log, options, making
):
    commands = []

    def run(command: BuiltProgram, _files: object, _limits: object, collect: str) -> Execution:
        commands.append(command.argv)
        code = int(len(commands) == 1)
        return Execution(code, None, 0, 0, 0, stderr=log, files={} if code else {collect: b"ELF"})

    compiler = Compiler(run, lambda _row: TOOL, PrecompiledHeaders(making), in_memory=True)
    compiled = compiler.compile(Program("c++17", {"main.cpp": source.encode()}), None)
    compiler.close()
    assert compiled.ok == (options is not None)
    plain, *again = [{p for p in c if p.startswith("-m")} for c in commands]
    assert not plain
    assert again == ([] if options is None else [set(options.split())])


@pytest.mark.slow
def test_closing_a_sandbox_does_not_wait_for_a_header(tmp_path, monkeypatch):
    if not shutil.which("g++"):
        pytest.skip("no g++ on this machine: apt-get install g++")
    monkeypatch.setenv("GRADEBOX_CACHE", str(own_cache(tmp_path)))
    program = Program("c++17", {"m": b"#include <bits/stdc++.h>\nint main() {}"})
    with monkeypatch.context() as patch, EmbeddedSandbox(2) as box:
        patch.setattr(gcc, "AFTER_USES", 1)
        assert box.compile(program).ok
    assert not list((tmp_path / "cache/pch").glob("*/*.gch"))
    assert not [t for t in threading.enumerate() if t.name == "gradebox-pch"]
    with EmbeddedSandbox(1) as another:
        assert another.run(another.compile(program), Limits()).exit_code == 0

"""What the cache of compiled programs holds at most: bytes, entries and open files."""

import pytest

from gradebox.sandbox.box.toolchains import compiler
from gradebox.sandbox.box.toolchains.compiler import Compiler
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.model import Execution, Program

CACHE_BYTES = 10 * compiler.EXECUTABLE_BYTES


def cached(monkeypatch: pytest.MonkeyPatch, sources: list[bytes], output: bytes | None) -> int:
    """Return how many programs are still cached after each has been compiled once."""
    monkeypatch.setattr(compiler, "CACHE_BYTES", CACHE_BYTES)
    runs = []

    def run(command: object, files: dict[str, bytes], limits: object, collect: str) -> Execution:
        runs.append(files)
        made = {} if output is None else {collect: output}
        code = int(output is None)
        return Execution(code, None, 0.0, 0.0, None, stdout=b"", stderr=b"error", files=made)

    compiling = Compiler(run, lambda row: Tool("/bin/true", "1", ()), in_memory=True)
    try:
        for source in sources:
            compiling.compile(Program("rust", {"main.rs": source}), None)
        again = [
            compiling.compile(Program("rust", {"main.rs": source}), None)
            for source in reversed(sources)
        ]
        count = sum(program.cached for program in again)
    finally:
        compiling.close()
    return count


def test_small_executables_are_limited_by_their_open_files(monkeypatch):
    # Each keeps a descriptor open; by their bytes alone a million would fit.
    sources = [b"// %d" % i for i in range(25)]
    assert 5 <= cached(monkeypatch, sources, b"ELF") <= 10


def test_sources_count(monkeypatch):
    sources = [b"// %d" % i + b" " * (CACHE_BYTES // 4) for i in range(8)]
    assert cached(monkeypatch, sources, b"ELF") <= 4


def test_interpreted_programs_have_a_cache_of_their_own(monkeypatch):
    monkeypatch.setattr(compiler, "INTERPRETED_BYTES", 10 * compiler.ENTRY_BYTES)

    def run(command: object, files: dict[str, bytes], limits: object, collect: str) -> Execution:
        made = {collect: b"ELF"} if collect else {}
        return Execution(0, None, 0.0, 0.0, None, stdout=b"", stderr=b"", files=made)

    compiling = Compiler(run, lambda row: Tool("/bin/true", "1", ()), in_memory=True)
    rust = Program("rust", {"main.rs": b""})
    scripts = [Program("python", {"main.py": b"%d" % i}) for i in range(50)]
    for program in (rust, *scripts):
        compiling.compile(program, None)
    again = [compiling.compile(program, None).cached for program in reversed(scripts)]
    assert again[0] and sum(again) < 10
    assert compiling.compile(rust, None).cached
    compiling.close()

"""Every language at every level that this machine offers, with one program for each language.

programs/main.*   hello · sum (10^5 numbers) · crash · error · memory · spin · deep
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gradebox.sandbox import (
    Compiled,
    Execution,
    Limits,
    MissingToolchain,
    Program,
    SandboxUnavailable,
)
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import MIB
from tests.sandbox.levels import skip_equal

PROGRAMS = Path(__file__).parent / "programs"
LEVELS = ("full", "delegated", "userns", "landlock")
LIMITS = Limits(cpu_s=20, wall_s=120, processes=1)
NUMBERS = [(i * 7919) % 200_003 - 100_000 for i in range(100_000)]
SIGABRT = 6


@dataclass(frozen=True)
class Row:
    """(exit code, signal) of a language's program after a crash and after an error."""

    crash: tuple[int | None, int | None]
    error: tuple[int | None, int | None]


CODE_134, ABORTED = (134, None), (None, SIGABRT)
ENDS = {
    "c": Row(ABORTED, (3, None)),
    "c++17": Row(ABORTED, ABORTED),
    "python": Row(ABORTED, (1, None)),
    "pypy3": Row(ABORTED, (1, None)),
    "java": Row(CODE_134, (1, None)),
    "javascript": Row(ABORTED, (1, None)),
    "go": Row(CODE_134, (2, None)),
    "rust": Row(ABORTED, (101, None)),
    "kotlin": Row(CODE_134, (1, None)),
    "c#": Row(CODE_134, (1, None)),
    "ruby": Row(CODE_134, (1, None)),
}


def needs(language: str) -> pytest.MarkDecorator:
    return pytest.mark.needs(*find(language).tool)


@functools.cache
def opened(level: str) -> EmbeddedSandbox | str:
    try:
        return EmbeddedSandbox(2, level=level)
    except SandboxUnavailable as error:
        return str(error)


@pytest.fixture(scope="module", autouse=True)
def boxes_are_closed() -> Iterator[None]:
    yield
    for level in LEVELS:
        box = opened(level)
        if isinstance(box, EmbeddedSandbox):
            box.close()
    opened.cache_clear()


@functools.cache
def made(level: str, language: str) -> Compiled | str:
    """Return the language's program, compiled at that level, or the reason why it is missing."""
    box = opened(level)
    if isinstance(box, str):
        return box
    source = (PROGRAMS / find(language).source).read_bytes()
    try:
        return box.compile(Program(language, {"program": source}))
    except MissingToolchain as error:
        return str(error)


def ran(level: str, language: str, what: str, limits: Limits = LIMITS) -> Execution:
    skip_equal(level)
    compiled = made(level, language)
    if isinstance(compiled, str):
        pytest.skip(compiled)
    assert compiled.ok, compiled.log.decode(errors="replace")
    box = opened(level)
    assert isinstance(box, EmbeddedSandbox)
    return box.run(compiled, limits, stdin=what.encode())


OLD_C = b"""#include <stdio.h>
int twice(x);
say(x) { int *p = x; x = p; printf("%d", x); return; }
void nothing() { return sqrt(4); }
int main() { say(twice(21)); return 0; }
int twice(x) { return 2 * x; }
"""


@needs("c")
def test_c_that_compilers_before_gcc_14_accept_compiles():
    box = next(box for box in map(opened, LEVELS) if isinstance(box, EmbeddedSandbox))
    compiled = box.compile(Program("c", {"program": OLD_C}))
    assert compiled.ok, compiled.log.decode(errors="replace")
    assert box.run(compiled, LIMITS).stdout == b"42"


MEMORY_MB = (16, 256, 2047, 2048, 64 << 10)


@pytest.mark.slow(seconds=1)
@pytest.mark.xdist_group("languages")
@pytest.mark.parametrize("language", [pytest.param(x, marks=needs(x)) for x in ENDS])
def test_it_starts_under_any_memory_limit_or_exceeds_it(language):
    """At 16 MB some runtimes exceed the limit, which is an MLE; no limit is too high to start."""
    level = next(level for level in LEVELS if isinstance(opened(level), EmbeddedSandbox))
    for megabytes in MEMORY_MB:
        limits = replace(LIMITS, memory_bytes=megabytes * MIB)
        result = ran(level, language, "hello\n", limits)
        if megabytes < 256 and "memory" in result.limits_hit:
            continue
        assert (result.exit_code, result.stdout, result.stderr) == (0, b"hello\n", b""), megabytes


# Kotlin's compiler takes six seconds and its programs run on the JVM: two levels suffice.
ROWS = [
    pytest.param(level, language, marks=needs(language))
    for level in LEVELS
    for language in ENDS
    if language != "kotlin" or level in ("full", "landlock")
]


@pytest.mark.slow
@pytest.mark.parametrize(("level", "language"), ROWS)
@pytest.mark.xdist_group("languages")
@pytest.mark.levels()
class TestEveryLanguage:
    @pytest.mark.levels("userns", "landlock")
    def test_prints(self, level, language):
        result = ran(level, language, "hello\n")
        assert (result.exit_code, result.stdout, result.stderr) == (0, b"hello\n", b"")

    def test_reads_many_numbers(self, level, language):
        text = f"sum {len(NUMBERS)}\n" + " ".join(map(str, NUMBERS)) + "\n"
        result = ran(level, language, text)
        assert (result.exit_code, result.stdout) == (0, f"{sum(NUMBERS)}\n".encode())

    def test_a_crash_is_reported(self, level, language):
        result = ran(level, language, "crash\n")
        assert (result.exit_code, result.signal) == ENDS[language].crash
        assert result.killed_for is None

    def test_an_error_is_the_programs_fault(self, level, language):
        result = ran(level, language, "error\n")
        assert (result.exit_code, result.signal) == ENDS[language].error
        assert result.killed_for is None
        assert result.stderr or language == "c"

    @pytest.mark.levels("userns", "landlock")
    def test_too_much_memory_is_the_memory_limit(self, level, language):
        result = ran(level, language, "memory\n")
        assert "memory" in result.limits_hit, result
        assert result.killed_for in ("memory", None)
        assert result.cpu_s < LIMITS.cpu_s

    def test_too_much_time_is_the_cpu_limit(self, level, language):
        start_s = ran(level, language, "hello\n").cpu_s  # of the runtime, before it spins
        limit_s = start_s + 0.2
        result = ran(level, language, "spin\n", Limits(cpu_s=limit_s, wall_s=60, processes=1))
        assert result.killed_for == "cpu"
        assert result.cpu_s >= limit_s

    def test_recursion_goes_deep(self, level, language):
        result = ran(level, language, "deep\n")
        assert (result.exit_code, result.stdout) == (0, b"50000\n"), result.stderr[-500:]

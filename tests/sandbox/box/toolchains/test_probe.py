"""A language that does not work is the fault of the machine, at every level and at every moment.

The languages here are two of our own: one whose interpreter needs a library that only
LD_LIBRARY_PATH finds, and one whose compiler and runtime are shell scripts.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox import Limits, MissingToolchain, Program, SandboxError, languages
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.toolchains import find, probe
from gradebox.sandbox.languages import Language, register
from tests.sandbox.levels import box_at

# The first character of a script: print a line, end with 1, or end as a lost library would.
LIBRARY = """
#include <stdio.h>
#include <string.h>
int run(const char *path) {
    char what[99] = "", line[99] = "";
    FILE *script = fopen(path, "r");
    if (!script || !fgets(what, 99, script)) return 2;
    if (*what == 'x') return 1;
    if (*what == 'l') return fputs("libgbx.so: cannot open shared object file\\n", stderr), 127;
    return !fgets(line, 99, stdin) || fputs(line, stdout) < 0;
}
"""
MAIN = "int run(const char *); int main(int n, char **v) { return n > 1 ? run(v[n - 1]) : 0; }"
INTERPRETED = Language(
    name="gbx",
    aliases=(),
    source="main.gbx",
    tool=("gbx-tool",),
    compile=None,
    run=("{tool}", "{source}"),
    install="make it",
    hello="print\n",
)
COMPILED = Language(
    name="gbxc",
    aliases=(),
    source="main.sh",
    tool=("gbx-cc",),
    compile=("{source}", "{binary}"),
    run=("{runtime}", "{binary}"),
    runtime=("sh",),
    output="made.sh",
    install="make it",
    hello="read line; echo $line\n",
)
COMPILER = (
    '#!/bin/sh\n[ "$1" = --version ] && echo 1 && exit\n! grep -q wrong "$1" && cat "$1" > "$2"\n'
)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that every user may enter, with both tools; nothing is remembered of others."""
    folder = Path(tempfile.mkdtemp(prefix="gbx-tools-"))
    folder.chmod(0o755)
    for name in ("bin", "libs"):
        (folder / name).mkdir()
    compiler = folder / "bin/gbx-cc"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}/bin:/usr/bin:/bin")
    monkeypatch.setattr(languages, "TABLE", {})
    monkeypatch.setattr(probe, "AGAIN_S", 0.0)
    find._resolve.cache_clear()
    find._known.cache_clear()
    register(INTERPRETED)
    register(COMPILED)
    yield folder
    find._resolve.cache_clear()
    find._known.cache_clear()
    shutil.rmtree(folder)


@pytest.fixture
def interpreter(place: Path) -> Path:
    """The library of the interpreter."""
    library, tool = place / "libs/libgbx.so", place / "bin/gbx-tool"
    for source, options in (
        (LIBRARY, ["-shared", "-fPIC", "-o", str(library)]),
        (MAIN, ["-o", str(tool), f"-L{place}/libs", "-lgbx"]),
    ):
        command = ["gcc", "-x", "c", "-", "-x", "none", *options]
        subprocess.run(command, input=source.encode(), check=True)
    return library


LEVELS = ("full", "delegated", "userns", "landlock", "none")


def box(level: str) -> EmbeddedSandbox:
    return box_at(level, allow_unsafe=level == "none", python_start="exec")


def program(what: str, language: str = "gbx") -> Program:
    return Program(language, {"main": what.encode()})


@pytest.mark.slow(seconds=0.5)
@pytest.mark.levels("landlock")
@pytest.mark.parametrize("level", LEVELS)
def test_libraries_of_ld_library_path_are_visible(level, interpreter, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{interpreter.parent}")
    with box(level) as sandbox:
        result = sandbox.run(sandbox.compile(program("print")), Limits(), stdin=b"7\n")
        assert (result.exit_code, result.stdout) == (0, b"7\n"), result.stderr


@pytest.mark.slow(seconds=0.5)
@pytest.mark.levels()
@pytest.mark.parametrize("level", LEVELS)
def test_an_interpreter_without_its_library_is_a_fault_with_a_remedy(
    level, interpreter, monkeypatch
):
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    with box(level) as sandbox, pytest.raises(MissingToolchain) as caught:
        sandbox.compile(program("print"))
    said = str(caught.value)
    assert "gbx-tool does not work in the sandbox: repair it (make it)" in said
    assert "LD_LIBRARY_PATH" in said and "Exit code 127" in said and "libgbx.so" in said
    assert "\n" not in said


@pytest.fixture
def sandbox(interpreter: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedSandbox]:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(interpreter.parent))
    with EmbeddedSandbox(1, python_start="exec", allow_unsafe=True) as sandbox:
        yield sandbox


def test_a_program_that_looks_like_a_lost_library_has_failed_itself(sandbox):
    result = sandbox.run(sandbox.compile(program("lost")), Limits())
    assert (result.exit_code, result.stderr) == (
        127,
        b"libgbx.so: cannot open shared object file\n",
    )


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("many", [False, True])
def test_a_library_that_vanishes_in_mid_run_fails_nobody(many, sandbox, interpreter):
    good, bad = sandbox.compile(program("print")), sandbox.compile(program("x"))

    def run(compiled):  # type: ignore[no-untyped-def]
        if many:
            found = sandbox.run_many(compiled, [Limits()] * 3, [b"7\n"] * 3)
            return [one.exit_code for group in found for one in group]
        return [sandbox.run(compiled, Limits(), stdin=b"7\n").exit_code]

    assert run(good) == [0] * (3 if many else 1)
    assert run(bad) == [1]
    gone = interpreter.rename(interpreter.with_suffix(".gone"))
    for compiled in (good, bad):
        with pytest.raises(SandboxError, match="does not work in the sandbox") as caught:
            run(compiled)
        assert not caught.value.lasting  # an upgrade ends, so callers try again
    gone.rename(interpreter)
    assert run(good) == [0] * (3 if many else 1)
    assert run(bad) == [1]


@pytest.mark.slow(seconds=0.5)
def test_a_compiler_that_breaks_in_mid_run_rejects_nobody(place):
    compiler = place / "bin/gbx-cc"
    with EmbeddedSandbox(1, python_start="exec", allow_unsafe=True) as sandbox:
        assert sandbox.compile(program("echo 1", "gbxc")).ok
        assert not sandbox.compile(program("wrong 1", "gbxc")).ok
        compiler.rename(compiler.with_suffix(".gone"))
        compiler.write_text("#!/bin/sh\necho cc1: cannot execute >&2; exit 1\n")
        compiler.chmod(0o755)
        for source in ("echo 2", "wrong 2"):
            with pytest.raises(SandboxError, match="does not compile a program"):
                sandbox.compile(program(source, "gbxc"))
        compiler.with_suffix(".gone").rename(compiler)
        assert sandbox.compile(program("echo 2", "gbxc")).ok
        assert not sandbox.compile(program("wrong 2", "gbxc")).ok

"""A Python program is compiled by its interpreter, which never runs it for that."""

import io
import marshal
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib.util import MAGIC_NUMBER
from typing import Any

import pytest

from gradebox.sandbox import Compiled, Execution, Limits, Program, Sandbox, SandboxError
from gradebox.sandbox.box.built_program import BuiltProgram
from gradebox.sandbox.box.toolchains.compiler import Compiler
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.piston import PistonSandbox
from testing.rows import rows
from tests.sandbox.backends import open_backend
from tests.sandbox.piston.fake_piston import FakePiston

ERRORS = (b"SyntaxError", b"IndentationError", b"TabError")


def archive() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("__main__.py", "print('RAN')")
        file.writestr("runpy.py", "import os\nos._exit(62)\n")
    return data.getvalue()


def programs(kind: str) -> dict[str, bytes]:
    """Return the programs of a kind, which the file beside this one has as Latin-1."""
    found = rows(__file__, "programs")
    return {name: source.encode("latin-1") for of, name, source in found if of == kind}


BROKEN = {**programs("broken"), "an error of one long line": b"x = (" + b"1 + " * 100_000}
SOUND = {**programs("sound"), "many lines": b"x = 1\n" * 20_000, "archive": archive()}
# The interpreter fails with another error, or crashes, and some versions compile these.
TOO_DEEP = {
    **programs("too_deep"),
    "minus signs": b"-" * 100_000 + b"1",
    "sums": b"1 + " * 100_000 + b"1",
    "attributes": b"x" + b".x" * 100_000,
    "compiled": MAGIC_NUMBER + bytes(12) + marshal.dumps(compile("print('RAN')", "m", "exec")),
}
# The box shows what the interpreter does with each program; the others, that its answer arrives.
ARRIVES = ("parenthesis", "bytes that are not UTF-8", "prints", "null byte")


def each(names: Iterable[str]) -> pytest.MarkDecorator:
    """Repeat a test for all of these programs in the box, and for some of them elsewhere."""
    rows = [("box", name) for name in names]
    rows += [(other, name) for other in ("server", "piston") for name in names if name in ARRIVES]
    return pytest.mark.parametrize(("sandbox", "name"), rows, indirect=["sandbox"])


@pytest.fixture(scope="module")
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param != "piston":
        with open_backend(request.param, slots=1) as opened:
            yield opened
        return
    with FakePiston() as server, PistonSandbox([server.url], slots=1) as client:
        yield client


def python(source: bytes) -> Program:
    return Program("python", {"main.py": source})


def plainly_rejected(sandbox: Sandbox, source: bytes) -> bytes | None:
    """Return the message of a plain start that reports a syntax error and runs nothing."""
    run = sandbox.run(sandbox.compile(python(source), interpreted=False), Limits(cpu_s=30))
    last = run.stderr.strip().splitlines()[-1:]
    before = run.stderr.startswith(b"Traceback") or run.stdout
    if run.exit_code == 1 and not before and last and last[0].split(b":")[0] in ERRORS:
        return last[0]
    return None


def without_folder(message: bytes) -> bytes:
    """Leave out the working folder, which on a Piston server is another one in each run."""
    return re.sub(rb"\S*main\.py", b"main.py", message)


@pytest.mark.slow
@each(BROKEN)
def test_a_program_that_does_not_compile_is_rejected_with_pythons_words(sandbox, name):
    compiled = sandbox.compile(python(BROKEN[name]))
    assert not compiled.ok
    message = plainly_rejected(sandbox, BROKEN[name])
    assert message is not None
    assert without_folder(compiled.log.strip().splitlines()[-1]) == without_folder(message)
    assert b'main.py", line ' in compiled.log or b"main.py" in message or b"encoding" in message
    assert len(compiled.log) < 9000
    assert sandbox.compile(python(BROKEN[name])).cached


@pytest.mark.slow
@each(SOUND)
def test_a_program_that_compiles_is_not_run_for_that(sandbox, name):
    compiled = sandbox.compile(python(SOUND[name]))
    assert compiled.ok, compiled.log
    assert b"RAN" not in compiled.log
    assert plainly_rejected(sandbox, SOUND[name]) is None
    assert b"Error" in SOUND[name] or sandbox.run(compiled, Limits()).signal in (None, 9)


@pytest.mark.slow
@each(TOO_DEEP)
def test_only_a_syntax_error_rejects(sandbox, name):
    source = TOO_DEEP[name]
    compiled = sandbox.compile(python(source))
    assert compiled.ok == (plainly_rejected(sandbox, source) is None)


PIECES = [b"\xc3\xa9", *(bytes([byte]) for byte in b"():\n\t '\"\\\0\xff=")]
PIECES += [b"else", b"return ", b"yield ", b"await ", b"# coding: ascii\n", b"\xef\xbb\xbf", b"1_"]


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_backend("box", slots=1) as opened:
        yield opened


# ---- faults of the step ----


def ended(**fields: Any) -> Execution:
    return Execution(**{"exit_code": 61, "signal": None, "cpu_s": 0.01, "wall_s": 0.01,
                        "memory_bytes": 1, **fields})  # fmt: skip


class Step:
    """Stands for the run of the interpreter: gives each answer in turn."""

    def __init__(self, *answers: Execution | SandboxError) -> None:
        self.answers = list(answers)
        self.commands: list[BuiltProgram] = []

    def __call__(
        self, program: BuiltProgram, files: dict[str, bytes], limits: Limits, collect: str
    ) -> Execution:
        self.commands.append(program)
        answer = self.answers.pop(0)
        if isinstance(answer, SandboxError):
            raise answer
        return answer


def compiled_with(step: Step, language: str = "python") -> Compiled:
    compiler = Compiler(step, lambda row: Tool(sys.executable, "3", ()))
    return compiler.compile(Program(language, {"main.py": b"x"}), None)


@pytest.mark.parametrize(
    "end",
    [
        ended(),
        ended(exit_code=0),
        ended(exit_code=1, stderr=b"SyntaxError: invalid syntax\n"),
        ended(exit_code=63, stderr=b"SyntaxError: invalid syntax\n"),
        ended(exit_code=None, signal=11),
        ended(exit_code=None, signal=9, killed_for="memory"),
        ended(exit_code=None, signal=9, killed_for="cpu"),
        SandboxError("the box died"),
    ],
)
def test_any_other_end_leaves_the_answer_to_the_runs(end):
    assert compiled_with(Step(end)).ok


def test_a_fault_is_not_remembered_and_an_answer_is():
    step = Step(SandboxError("the box died"), ended(exit_code=62))
    compiler = Compiler(step, lambda row: Tool(sys.executable, "3", ()))
    assert [compiler.compile(python(b"x"), None).ok for _ in range(3)] == [True, False, False]
    assert not step.answers

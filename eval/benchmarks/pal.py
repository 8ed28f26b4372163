"""Programs a model wrote instead of an answer: put together, run in the sandbox, read.

output ─▶ program (its last `python` fence, or the body that continues the prompt)
       ─▶ a run in the sandbox ─▶ what solution() returns, or `answer` holds
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval.benchmarks.extraction.marks import after_thinking

if TYPE_CHECKING:
    from sandbox import Sandbox

MIB = 1 << 20
ANSWER_MARK = "gradebox-answer:"
_FENCE = re.compile(
    r"```[ \t]*(?:(?:python|py)\d?[ \t]*)?\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE
)
# The first line of a program, not of a sentence about one.
_STARTS = re.compile(
    r"(?:def|class|import|from)\s+\w|[ \t]+\S|[#@]|[A-Za-z_]\w*(?:[ \t]*=[^=]|(?:\.[\w.]*)?\()"
)

# Runs after the program and prints what it found; a result's own __str__ may do as it likes,
# there is nothing in the box that it could reach.
_EPILOGUE = f"""

if __name__ == "__main__":
    try:
        _gradebox_result = solution()
    except NameError as _gradebox_error:
        if "'solution'" not in str(_gradebox_error):
            raise
        _gradebox_result = answer
    if isinstance(_gradebox_result, (list, tuple, set)):
        _gradebox_result = ", ".join(str(x) for x in _gradebox_result)
    print()
    print({ANSWER_MARK!r}, _gradebox_result)
"""


@dataclass(frozen=True)
class ProgramResult:
    """What became of a program: its answer, or why there is none.

    fault   True: the machine failed, and the program is not judged
    """

    answer: str
    error: str = ""
    fault: bool = False


def program_of(output: str) -> str | None:
    """The program in a model's output, ready to run; None without one.

    The prompt has opened the block: what stands before the first ``` is the program when it
    begins like one. Otherwise the last block is.
    """
    text = after_thinking(output)
    body = text.partition("```")[0].lstrip("\n")
    if not _STARTS.match(body):
        blocks = [block for block in _FENCE.findall(text) if block.strip()]
        if not blocks:
            return None
        body = blocks[-1]
    if not body.strip():
        return None
    if body[0] in " \t" and "def solution" not in body:
        # The prompt ended with the first line of the function.
        body = "def solution():\n" + body
    return body.rstrip() + "\n" + _EPILOGUE


def run_programs(
    sandbox: Sandbox, outputs: list[str], *, cpu_s: float = 5.0, memory_bytes: int = 512 * MIB
) -> list[ProgramResult]:
    """Runs the program of every output, as many at once as the sandbox does."""
    with ThreadPoolExecutor(max(1, sandbox.slots)) as pool:
        return list(pool.map(lambda o: run_program(sandbox, o, cpu_s, memory_bytes), outputs))


def run_program(
    sandbox: Sandbox, output: str, cpu_s: float, memory_bytes: int, tries: int = 3
) -> ProgramResult:
    """Runs one; a fault of the machine is tried again, and never held against the program."""
    from sandbox import Limits, Program, SandboxError

    source = program_of(output)
    if source is None:
        return ProgramResult("", "no program in the output")
    files = {"main.py": source.encode("utf-8", "replace")}
    limits = Limits(
        cpu_s=cpu_s, wall_s=3 * cpu_s + 2, memory_bytes=memory_bytes, output_bytes=1 * MIB
    )
    error = ""
    for _ in range(tries):
        try:
            compiled = sandbox.compile(Program("python", files))
            if not compiled.ok:
                return ProgramResult("", _last_line(compiled.log) or "it does not compile")
            try:
                return _read(sandbox.run(compiled, limits))
            finally:
                compiled.close()
        except SandboxError as fault:
            error = str(fault)
    return ProgramResult("", error, fault=True)


def _read(execution: object) -> ProgramResult:
    from sandbox import Execution

    assert isinstance(execution, Execution)
    if execution.killed_for is not None:
        return ProgramResult("", f"ended for its {execution.killed_for} limit")
    if execution.exit_code != 0:
        last = _last_line(execution.stderr)
        return ProgramResult("", last or f"exit code {execution.exit_code}")
    _, mark, answer = execution.stdout.decode("utf-8", "replace").rpartition(ANSWER_MARK)
    if not mark:
        return ProgramResult("", "it ended before its answer was printed")
    return ProgramResult(answer.strip())


def _last_line(raw: bytes) -> str:
    lines = raw.decode("utf-8", "replace").strip().splitlines()
    return "".join(c if c.isprintable() else " " for c in lines[-1])[:300] if lines else ""

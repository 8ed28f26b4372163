"""Programs written by a model as its answer (program-aided language models).

output ─▶ program (its last `python` fence, or the code that continues the prompt)
       ─▶ a run in the sandbox ─▶ the value that solution() returns, or of `answer`
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradebox.eval.models.benchmarks.texts import after_thinking

if TYPE_CHECKING:
    from gradebox.sandbox import Execution, Sandbox

MIB = 1 << 20
CPU_S = 5.0
MEMORY_BYTES = 512 * MIB
ATTEMPTS = 3
ANSWER_MARKER = "gradebox-answer:"
_FENCE = re.compile(
    r"```[ \t]*(?:(?:python|py)\d?[ \t]*)?\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE
)
# The first line of a program, as opposed to a sentence about one.
_PROGRAM_START = re.compile(
    r"(?:def|class|import|from)\s+\w|[ \t]+\S|[#@]|[A-Za-z_]\w*(?:[ \t]*=[^=]|(?:\.[\w.]*)?\()"
)

# Runs after the program and prints its result. The result's __str__ is the model's code too;
# the sandbox has nothing that it could reach.
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
    print({ANSWER_MARKER!r}, _gradebox_result)
"""


@dataclass(frozen=True)
class ProgramResult:
    """The answer of a program, or the error that prevented one.

    fault   the machine failed, so the program is not judged
    """

    answer: str
    error: str = ""
    fault: bool = False


def find_program(output: str) -> str | None:
    """Return the program in a model's output with the code that prints its result, else None.

    The prompt has opened a code block, so the text before the first ``` is the program if it
    starts like one. Otherwise the last block is.
    """
    text = after_thinking(output)
    body = text.partition("```")[0].lstrip("\n")
    if not _PROGRAM_START.match(body):
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


def run_programs(sandbox: Sandbox, outputs: list[str]) -> list[ProgramResult]:
    """Run the program of every output, as many at once as the sandbox has slots."""
    with ThreadPoolExecutor(max(1, sandbox.slots)) as pool:
        return list(pool.map(lambda output: _run_program(sandbox, output), outputs))


def _run_program(sandbox: Sandbox, output: str) -> ProgramResult:
    """Run a program. A fault of the machine is retried and never counts against the program."""
    from gradebox.sandbox import Limits, Program, SandboxError

    source = find_program(output)
    if source is None:
        return ProgramResult("", "no program in the output")
    program = Program("python", {"main.py": source.encode("utf-8", "replace")})
    limits = Limits(
        cpu_s=CPU_S, wall_s=3 * CPU_S + 2, memory_bytes=MEMORY_BYTES, output_bytes=1 * MIB
    )
    error = ""
    for _ in range(ATTEMPTS):
        try:
            compiled = sandbox.compile(program)
            if not compiled.ok:
                return ProgramResult("", _last_line(compiled.log) or "it does not compile")
            return _read_result(sandbox.run(compiled, limits))
        except SandboxError as fault:
            error = str(fault)
    return ProgramResult("", error, fault=True)


def _read_result(execution: Execution) -> ProgramResult:
    if execution.killed_for is not None:
        return ProgramResult("", f"ended for its {execution.killed_for} limit")
    if execution.exit_code != 0:
        last_line = _last_line(execution.stderr)
        return ProgramResult("", last_line or f"exit code {execution.exit_code}")
    _, marker, answer = execution.stdout.decode("utf-8", "replace").rpartition(ANSWER_MARKER)
    if not marker:
        return ProgramResult("", "it ended before its answer was printed")
    return ProgramResult(answer.strip())


def _last_line(raw: bytes) -> str:
    lines = raw.decode("utf-8", "replace").strip().splitlines()
    return "".join(c if c.isprintable() else " " for c in lines[-1])[:300] if lines else ""

"""gradebox: grades what language models write. This module hands names on, nothing else.

    import gradebox

    records = gradebox.grade(solutions, problems, stop_on_first_failure=True)
    records = await gradebox.grade_async(solutions, problems)
    with gradebox.Grader("problems.jsonl", sandbox="local") as grader:
        records = grader.grade(solutions)
    execution = gradebox.run("print(input())", stdin="hello")
    GRPOTrainer(reward_funcs=[gradebox.rewards.codeforces], …)

docs/python-interface.md tells of each; everything is loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval import rewards
    from eval.calls import close, grade, grade_async, run, run_async
    from eval.client import Client
    from eval.grader import CompileError, Grader
    from eval.input_error import InputError
    from eval.records import latest_records, read_records, to_frame
    from sandbox.choose import open_sandbox
    from sandbox.errors import BadRequest, SandboxError
    from sandbox.model import Execution, Limits

__version__ = "0.1.0"
__all__ = [
    "BadRequest",
    "Client",
    "CompileError",
    "Execution",
    "Grader",
    "InputError",
    "Limits",
    "SandboxError",
    "close",
    "grade",
    "grade_async",
    "latest_records",
    "open_sandbox",
    "read_records",
    "rewards",
    "run",
    "run_async",
    "to_frame",
]

_HOMES: dict[str, str] = {
    "BadRequest": "sandbox.errors",
    "Client": "eval.client",
    "CompileError": "eval.grader",
    "Execution": "sandbox.model",
    "Grader": "eval.grader",
    "InputError": "eval.input_error",
    "Limits": "sandbox.model",
    "SandboxError": "sandbox.errors",
    "close": "eval.calls",
    "grade": "eval.calls",
    "grade_async": "eval.calls",
    "latest_records": "eval.records",
    "open_sandbox": "sandbox.choose",
    "read_records": "eval.records",
    "run": "eval.calls",
    "run_async": "eval.calls",
    "to_frame": "eval.records",
}


def __getattr__(name: str) -> Any:
    if name == "rewards":
        value = import_module("eval.rewards")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'gradebox' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

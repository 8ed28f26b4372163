"""gradebox: grade what language models write. This module re-exports the public names.

    import gradebox

    records = gradebox.grade(solutions, problems, stop_on_first_failure=True)
    records = await gradebox.grade_async(solutions, problems)
    with gradebox.Grader("problems.jsonl", sandbox="local") as grader:
        records = grader.grade(solutions)
    execution = gradebox.run("print(input())", stdin="hello")
    GRPOTrainer(reward_funcs=[gradebox.rewards.codeforces], …)

docs/python-interface.md describes each name. A name is loaded when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # nothing is imported here: a command handles signals after this module
if TYPE_CHECKING:
    from gradebox.eval.api import rewards
    from gradebox.eval.api.calls import close, grade, grade_async, run, run_async
    from gradebox.eval.api.client import Client
    from gradebox.eval.api.grader import CompileError, Grader
    from gradebox.eval.common.errors import InputError
    from gradebox.eval.results.record_objects import Case, Record
    from gradebox.eval.results.records import latest_records, read_records, to_frame
    from gradebox.sandbox.errors import BadRequest, SandboxError
    from gradebox.sandbox.model import Execution, Limits
    from gradebox.sandbox.opening import open_sandbox

# In a checkout the packages are folders at its top. They are found there whether or not the links
# beside this file exist (a zip archive has none), and tracebacks name the files that git knows.
if __file__.endswith("/src/gradebox/__init__.py"):
    __path__.insert(0, __file__.removesuffix("/src/gradebox/__init__.py"))

__version__ = "0.2.0"
__all__ = [
    "BadRequest",
    "Case",
    "Client",
    "CompileError",
    "Execution",
    "Grader",
    "InputError",
    "Limits",
    "Record",
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

# Module → the names it has.
_MODULES = {
    "gradebox.eval.api.calls": ("close", "grade", "grade_async", "run", "run_async"),
    "gradebox.eval.api.client": ("Client",),
    "gradebox.eval.api.grader": ("CompileError", "Grader"),
    "gradebox.eval.common.errors": ("InputError",),
    "gradebox.eval.results.record_objects": ("Case", "Record"),
    "gradebox.eval.results.records": ("latest_records", "read_records", "to_frame"),
    "gradebox.sandbox.errors": ("BadRequest", "SandboxError"),
    "gradebox.sandbox.model": ("Execution", "Limits"),
    "gradebox.sandbox.opening": ("open_sandbox",),
}


if not TYPE_CHECKING:  # for a type checker, a name that is not listed above is an error

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "rewards":
            value = import_module("gradebox.eval.api.rewards")
        else:
            module = next((module for module, names in _MODULES.items() if name in names), None)
            if module is None:
                raise AttributeError(f"module 'gradebox' has no attribute {name!r}")
            value = getattr(import_module(module), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

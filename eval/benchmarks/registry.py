"""Names → functions: the only way from a configuration to code.

A user's own function is added with `register(kind, name, function)` from a module named by
`--register module`.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

from eval.benchmarks.model import Evaluate, Extract, Process, Prompt
from eval.input_error import InputError
from eval.own_module import import_own

Kind = Literal["process_fn", "answer_extraction_fn", "eval_fn", "few_shot_prompt"]
F = TypeVar("F", bound=Callable[..., Any])

TABLES: dict[Kind, dict[str, Any]] = {
    "process_fn": {},
    "answer_extraction_fn": {},
    "eval_fn": {},
    "few_shot_prompt": {},
}
MODULES = (
    "process.choices",
    "process.math",
    "process.science",
    "extraction.chinese",
    "extraction.letters",
    "extraction.numbers",
    "extraction.words",
    "evaluators",
    "prompts",
)

# Names that configurations carry and that cannot be honoured here.
_PROOFS = "proofs need Isabelle to be judged, which gradebox does not run"
UNSUPPORTED = {
    "process_minif2f_isabelle": _PROOFS,
    "extract_minif2f_isabelle": _PROOFS,
    "eval_minif2f_isabelle": _PROOFS,
    "MiniF2FIsabellePrompt": _PROOFS,
}


def register(kind: Kind, name: str, value: Any) -> None:
    """Adds a function (or a Prompt) under a name, or replaces the one of that name."""
    if kind not in TABLES:
        raise ValueError(f"{kind!r} is no kind of function; there are {', '.join(TABLES)}")
    TABLES[kind][name] = value


def named(kind: Kind, *names: str) -> Callable[[F], F]:
    """Decorator: the function is known under these names."""

    def keep(function: F) -> F:
        for name in names:
            register(kind, name, function)
        return function

    return keep


def load(own_modules: Iterable[str] = ()) -> None:
    """Fills the tables: our modules, then the user's."""
    for module in MODULES:
        importlib.import_module(f"eval.benchmarks.{module}")
    for module in own_modules:
        import_own(
            module,
            f"--register {module}",
            "give a module on PYTHONPATH that calls eval.benchmarks.registry.register",
        )


def find_process(name: str) -> Process:
    """The function that turns a row of a file into a Sample."""
    found: Process = _find("process_fn", name)
    return found


def find_extract(name: str) -> Extract:
    """The function that reads the answers out of a model's output."""
    found: Extract = _find("answer_extraction_fn", name)
    return found


def find_evaluate(name: str) -> Evaluate:
    """The function that says whether the answers are right."""
    found: Evaluate = _find("eval_fn", name)
    return found


def find_prompt(name: str) -> Prompt:
    """The prompt of that name."""
    found: Prompt = _find("few_shot_prompt", name)
    return found


def _find(kind: Kind, name: str) -> Any:
    load()
    table = TABLES[kind]
    if name in table:
        return table[name]
    if name in UNSUPPORTED:
        raise InputError(f"{kind} {name!r}: {UNSUPPORTED[name]}; leave the benchmark out")
    near = difflib.get_close_matches(name, table, n=1)
    hint = f"; did you mean {near[0]!r}" if near else ""
    raise InputError(
        f"unknown {kind} {name!r}{hint}; {len(table)} are known "
        "(docs/benchmarks-by-configuration.md), others are added with --register MODULE"
    )

"""The tables of functions and prompts that configurations name.

To find how an answer is read out of a response of a benchmark, look up the benchmark's
`answer_extraction_fn` in the tables of `extraction`. A user's function is added with
`register(kind, name, function)` from a module named by `--register module`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, Literal

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.user_plugins import load_user_module
from gradebox.eval.models.benchmarks import choice_rows, rows
from gradebox.eval.models.benchmarks.evaluators import EVAL_FUNCTIONS
from gradebox.eval.models.benchmarks.extraction import choices, free_answers
from gradebox.eval.models.benchmarks.prompts import PROMPTS

Kind = Literal["process_fn", "answer_extraction_fn", "eval_fn", "few_shot_prompt"]

TABLES: dict[Kind, dict[str, Any]] = {
    "process_fn": {**rows.PROCESS_FUNCTIONS, **choice_rows.PROCESS_FUNCTIONS},
    "answer_extraction_fn": {
        **free_answers.EXTRACTION_FUNCTIONS,
        **choices.EXTRACTION_FUNCTIONS,
    },
    "eval_fn": dict(EVAL_FUNCTIONS),
    "few_shot_prompt": dict(PROMPTS),
}

_PROOFS = "proofs can be judged only by Isabelle, which gradebox does not run"
UNSUPPORTED = {
    "process_minif2f_isabelle": _PROOFS,
    "extract_minif2f_isabelle": _PROOFS,
    "eval_minif2f_isabelle": _PROOFS,
    "MiniF2FIsabellePrompt": _PROOFS,
}


def register(kind: Kind, name: str, value: Any) -> None:
    """Add a function or a Prompt under a name; a name that exists is replaced."""
    if kind not in TABLES:
        raise ValueError(f"unknown kind {kind!r}; use one of {', '.join(TABLES)}")
    TABLES[kind][name] = value


def load_user_modules(modules: Iterable[str]) -> None:
    """Import the modules of --register; raise InputError for one that can't be imported."""
    for module in modules:
        load_user_module(
            module,
            f"--register {module}",
            "give a module on PYTHONPATH that calls "
            "gradebox.eval.models.benchmarks.registry.register",
        )


def find(kind: Kind, name: str) -> Any:
    """Return the function or Prompt of a name.

    Raises InputError for an unknown name and suggests the most similar one.
    """
    table = TABLES[kind]
    if name in table:
        return table[name]
    if name in UNSUPPORTED:
        raise InputError(f"{kind} {name!r}: {UNSUPPORTED[name]}; remove the benchmark")
    near = difflib.get_close_matches(name, table, n=1)
    hint = f"; did you mean {near[0]!r}" if near else ""
    raise InputError(
        f"unknown {kind} {name!r}{hint}; see the {len(table)} known names in "
        "docs/benchmarks-by-configuration.md, or add yours with --register MODULE"
    )

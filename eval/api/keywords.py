"""Keywords of the Python interface: the flags of `Options` as types, and as a list in `help`.

    RequestFlags ─▶ Client      GraderFlags ─▶ Grader      Flags ─▶ grade, run and their like

A type checker cannot derive these from `Options`, so that they are written here once more: each
flag with its type there, a Path as any path. tests/eval/api/test_keywords.py compares both.
"""

from __future__ import annotations

import textwrap
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields
from os import PathLike
from typing import TYPE_CHECKING, TypedDict, TypeVar

from gradebox.eval.grading.options import FLAGS, Options

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack

    from gradebox.eval.grading.drivers.pool import DriverPool
    from gradebox.sandbox.protocol import Sandbox
else:
    Unpack = getattr(typing, "Unpack", tuple)  # Python 3.10 has none

T = TypeVar("T")


class RequestFlags(TypedDict, total=False):
    """Flags that a request to a server may set."""

    generated_tests_workers: int
    stop_on_first_failure: bool
    compare: str
    judge: str
    time_limit_scale: Mapping[str, float]
    repeat: int
    max_stored_output: int


class GraderFlags(RequestFlags, total=False):
    """Flags of a `Grader` beside its parameters."""

    dataset: str
    dataset_split: str
    dataset_subsets: Sequence[str]
    dataset_format: str | None
    endpoint: Sequence[str]
    endpoint_concurrency: int | None
    piston_package: str
    allow_unsafe_sandbox: bool
    python_start: str
    python: str | None
    generated_tests_dir: str | PathLike[str] | None
    max_generated_tests: int
    generated_tests_sample: float
    sort_generated_tests: str
    skip_large_inputs_over: int
    max_generated_bytes_per_problem: int
    workers: int
    checker: str | None
    testlib: str | None
    seed: int
    cache: str | PathLike[str] | None
    no_check_dataset: bool


class Flags(GraderFlags, total=False):
    """Flags of the functions that make a `Grader`."""

    sandbox: str | Sandbox | None
    drivers: int | DriverPool


def lists_flags(function: T) -> T:
    """Add the flags that `function` takes as keywords to its docstring, with their help."""
    if function.__doc__ is not None:  # it is without docstrings under `python -OO`
        lines = ["", "", "Flags:"]
        for field in fields(Options):
            flag = FLAGS[field.name]
            if flag.grader:
                default = "" if callable(field.default_factory) else f"={field.default!r}"
                values = f" ({', '.join(flag.choices)})" if flag.choices else ""
                lines.append(f"  {field.name}{default}")
                lines += textwrap.wrap(
                    f"{flag.help}{values}", 88, initial_indent=" " * 6, subsequent_indent=" " * 6
                )
        function.__doc__ = function.__doc__.rstrip() + "\n    ".join(lines)
    return function

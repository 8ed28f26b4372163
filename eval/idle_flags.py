"""Flags that were given and change nothing in this run: told, so that none is trusted in vain."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from eval.options import Options


def idle_flags(options: Options, *, boxed: bool) -> list[str]:
    """One line for each flag of another value than its default that has no effect.

    boxed  programs run in the embedded box, not on Piston servers
    """
    table = (
        (
            not options.max_generated_tests,
            ("generated_tests_sample", "sort_generated_tests"),
            "no generated test is taken; --generated-tests-dir DIR with "
            "--max-generated-tests -1 takes all",
        ),
        (
            boxed,
            ("endpoint_concurrency", "piston_package"),
            "programs run in the embedded box, not on Piston",
        ),
        (
            Path(options.dataset).expanduser().is_file(),
            ("dataset_split", "dataset_subsets"),
            "a file has neither splits nor subsets",
        ),
    )
    return [
        f"{flag} {value} changes nothing: {why}"
        for idle, names, why in table
        if idle
        for flag, value in _given(options, names)
    ]


def _given(options: Options, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Those of the fields that differ from their defaults, as typed on the command line."""
    defaults = {f.name: f.default for f in fields(Options)}
    found = []
    for name in names:
        value, default = _text(getattr(options, name)), _text(defaults[name])
        if value != default:
            found.append(("--" + name.replace("_", "-"), value))
    return found


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)

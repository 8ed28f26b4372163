"""A checker's or interactor's program as JSON, so that another gradebox can judge with it.

    ProgramChecker, Interactor ─ sent ─▶ {"role", "protocol", "files", …} ─ open_sent ─▶ the same

Files are text; bytes that are not UTF-8 are lone surrogates in it (Python's surrogateescape).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from gradebox.checkers.check import CheckerError
from gradebox.checkers.interactive import Interactor
from gradebox.checkers.programs import PROTOCOLS, ProgramChecker, ProgramRuns
from gradebox.sandbox.model import Program
from gradebox.sandbox.protocol import Sandbox


def sent(judge: ProgramChecker | Interactor) -> dict[str, Any]:
    """Return what `open_sent` opens the same judge from."""
    program = judge.runs.program
    return {
        "role": "interactor" if isinstance(judge, Interactor) else "checker",
        "protocol": judge.protocol.name,
        "args": list(judge.protocol.args),
        "extra_args": list(judge.extra_args),
        "full_points": judge.full_points,
        "name": judge.name,
        "language": program.language,
        "files": {n: c.decode("utf-8", "surrogateescape") for n, c in program.files.items()},
    }


def open_sent(value: Mapping[str, Any], sandbox: Sandbox) -> ProgramChecker | Interactor:
    """Return the judge that `sent` described. Raises CheckerError for anything else."""
    try:
        protocol = dataclasses.replace(PROTOCOLS[value["protocol"]], args=_texts(value["args"]))
        files = {n: c.encode("utf-8", "surrogateescape") for n, c in value["files"].items()}
        points, extra = value["full_points"], _texts(value["extra_args"])
        language, name = str(value["language"]), str(value["name"])
        if not files or not (points is None or type(points) in (int, float)):
            raise ValueError("it needs files, and full_points must be a number or null")
        if value["role"] != "interactor":
            return ProgramChecker(
                sandbox,
                protocol,
                Program(language, files),
                name=name,
                extra_args=extra,
                full_points=points,
            )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckerError(f"judge_program can't be used: {error!r:.200}") from None
    runs = ProgramRuns(sandbox, Program(language, files))
    return Interactor(protocol, runs, name=name, extra_args=extra, full_points=points)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError("args and extra_args are lists of texts")
    return tuple(value)

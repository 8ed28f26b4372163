"""Read the metrics beside a run's records, and report records of another shape."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.results.folder import METRICS_NAME
from gradebox.eval.results.record_shape import check_types


def read_metrics(folder: Path) -> dict[str, Any]:
    """Return the metrics of a results folder; {} when the run has not written them yet.

    Raises InputError when the file can't be read.
    """
    path = folder / METRICS_NAME
    try:
        metrics = json.loads(
            path.read_text(encoding="utf-8"),
            parse_float=_number,
            parse_int=lambda text: int(text) if _number(text) else 0,
            parse_constant=_number,
        )
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: the metrics can't be read: {error}; run the grader again to write them"
        ) from None
    return metrics if isinstance(metrics, dict) else {}


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is out of range")
    return value


@contextlib.contextmanager
def _reporting(what: str, remedy: str) -> Iterator[None]:
    """Turn the errors of code that meets an unexpected field into an InputError."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{what} was not written by the grader ({type(error).__name__}: "
            f"{shown(str(error))}); {remedy}"
        ) from None


def reporting_bad_metrics(folder: Path) -> AbstractContextManager[None]:
    """Turn the errors of code that meets an unexpected field of the metrics into an InputError."""
    return _reporting(str(folder / METRICS_NAME), "run the grader again to write it")


@contextlib.contextmanager
def reporting_bad_record(path: Path, record: Mapping[str, Any]) -> Iterator[None]:
    """Check the types of a record; turn the errors of code that meets others into an InputError."""
    what = f"{path}: the record of problem {shown(record.get('problem_id'))}"
    with _reporting(what, "remove its line"):
        check_types(record)
        yield

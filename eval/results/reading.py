"""Read the metrics beside a run's records, and report records of another shape."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.results.folder import METRICS_NAME


def read_metrics(folder: Path) -> dict[str, Any]:
    """Return the metrics of a results folder; {} when the run has not written them yet.

    Raises InputError when the file can't be read.
    """
    path = folder / METRICS_NAME
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: the metrics can't be read: {error}; run the grader again to write them"
        ) from None
    return metrics if isinstance(metrics, dict) else {}


@contextlib.contextmanager
def reporting_bad_record(path: Path, record: Mapping[str, Any]) -> Iterator[None]:
    """Turn the errors of code that meets an unexpected field into an InputError."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{path}: the record of problem {shown(record.get('problem_id'))} was not written by "
            f"the grader ({type(error).__name__}: {shown(str(error))}); remove its line"
        ) from None

"""Load a dataset with the Hugging Face `datasets` library, in a child process.

    caller ── name, subsets, split ──▶ child: import datasets, load
    caller ◀── Arrow files, or why each subset could not be loaded ──┘

The library keeps settings for its whole process (offline mode, progress bars) and reads
HF_HUB_OFFLINE only once, when it is imported. A child can be set offline, to save half a minute
of retries when the hub is unreachable, and nothing changes in the caller's process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.problems.arrow import load_arrow, one_line

_CHILD = Path(__file__).with_name("dataset_child.py")
# The child imports what the caller would import, not what is in the working folder.
_START = (
    "import sys; sys.path[:] = sys.argv[2:]; import runpy; "
    "runpy.run_path(sys.argv[1], run_name='__main__')"
)


@dataclass(frozen=True)
class LoadedTable:
    """A loaded split of a dataset. `open_table` maps its Arrow table and may be called again."""

    subset: str
    fingerprint: str
    open_table: Callable[[], Any]


def load_subsets(
    name: str, split: str, subsets: Sequence[str], cache_dir: str | Path | None = None
) -> tuple[list[LoadedTable], list[str]]:
    """Load a split of some subsets of a dataset on the hub, or of a folder of data files.

    Return the tables of the subsets that exist, and one line for each subset that failed.
    """
    return _run(name=name, split=split, subsets=list(subsets), cache_dir=cache_dir)


def load_saved(folder: Path, split: str) -> tuple[list[LoadedTable], list[str]]:
    """Load a folder that `Dataset.save_to_disk` wrote; return what `load_subsets` returns."""
    return _run(name=str(folder), split=split, subsets=None, cache_dir=None)


def is_saved_dataset(folder: Path) -> bool:
    """Return whether a folder was written by `save_to_disk`."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


def _run(**job: Any) -> tuple[list[LoadedTable], list[str]]:
    with tempfile.TemporaryDirectory(prefix="gradebox-dataset-") as folder:
        command = [sys.executable, "-c", _START, str(_CHILD), *filter(None, sys.path)]
        text = json.dumps({**job, "folder": folder}, default=str)
        child = subprocess.run(command, input=text, text=True, stdout=subprocess.DEVNULL)
        if child.returncode != 0:
            raise InputError(
                f"--dataset {job['name']}: the `datasets` library failed with exit status "
                f"{child.returncode} (its error is above); give a local .jsonl or .parquet file"
            )
        answer = json.loads((Path(folder) / "answer.json").read_text(encoding="utf-8"))
        failures = [one_line(why, 240) for why in answer["failures"]]
        return [_table(entry) for entry in answer["loaded"]], failures


def _table(entry: dict[str, Any]) -> LoadedTable:
    def map_files() -> Any:
        arrow = load_arrow()
        tables = []
        for file in entry["files"]:
            with arrow.memory_map(file) as source:
                tables.append(arrow.ipc.open_stream(source).read_all())
        return arrow.concat_tables(tables)

    if entry["temporary"]:  # the files are removed soon: map them once
        table = map_files()
        return LoadedTable(entry["subset"], entry["fingerprint"], lambda: table)
    return LoadedTable(entry["subset"], entry["fingerprint"], map_files)

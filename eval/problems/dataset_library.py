"""Load a dataset with the Hugging Face `datasets` library, in a child process.

    caller ── name, subsets, split ──▶ child: import datasets, load
    caller ◀── Arrow files, or why each subset could not be loaded ──┘
    caller ── name, files ──▶ child: import huggingface_hub, download ── paths ──▶ caller

The library keeps settings for its whole process (offline mode, progress bars) and reads
HF_HUB_OFFLINE only once, when it is imported. A child can be set offline, to save half a minute
of retries when the hub is unreachable, and nothing changes in the caller's process.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.arrow import load_arrow, one_line
from gradebox.sandbox.children.child import Child

MAIN = "gradebox.eval.problems.dataset_child:main"


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
    return _load(name=name, split=split, subsets=list(subsets), cache_dir=cache_dir)


def load_saved(folder: Path, split: str) -> tuple[list[LoadedTable], list[str]]:
    """Load a folder that `Dataset.save_to_disk` wrote; return what `load_subsets` returns."""
    return _load(name=str(folder), split=split, subsets=None, cache_dir=None)


def is_saved_dataset(folder: Path) -> bool:
    """Return whether a folder was written by `save_to_disk`."""
    return any((folder / name).is_file() for name in ("dataset_dict.json", "state.json"))


def download(name: str, files: Sequence[str]) -> list[Path]:
    """Return local copies of files of a data set on the hub, from the hub's own cache.

    Raises InputError.
    """
    answer = _answer(name=name, files=list(files))
    if why := answer.get("error"):
        raise InputError(
            f"--dataset {name}: {', '.join(files)} cannot be downloaded: {shown(why, 200)}; "
            "give a folder with these files"
        )
    return [Path(path) for path in answer["paths"]]


def _load(**job: Any) -> tuple[list[LoadedTable], list[str]]:
    with tempfile.TemporaryDirectory(prefix="gradebox-dataset-") as folder:
        answer = _answer(**job, folder=folder)
        failures = [one_line(why, 240) for why in answer["failures"]]
        return [_table(entry) for entry in answer["loaded"]], failures


def _answer(**job: Any) -> dict[str, Any]:
    """Return what the child answers. Raises InputError when it ends before."""
    with Child(MAIN, own_errors=False) as child:  # progress bars are for the user
        try:
            child.channel.send(json.dumps(job, default=str).encode())
            answer: dict[str, Any] = json.loads(child.channel.receive())
            return answer
        except (EOFError, OSError):
            raise InputError(
                f"--dataset {job['name']}: the `datasets` library failed with {child.end()} "
                "(its error is above); give a local .jsonl or .parquet file"
            ) from None


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

"""Load a dataset with the Hugging Face `datasets` library, in a child process.

The child answers one request. Both are JSON:

    {"name", "split", "subsets", "folder"}
        ─▶ {"loaded": [{"subset", "fingerprint", "files", "temporary"}],
            "failures": [one line for each subset]}
    {"name", "files"} ─▶ {"paths"} or {"error"}

`subsets` is null for a folder of `save_to_disk`. `folder` takes copies of rows that
are only a part of their files.

The library keeps settings for its whole process (offline mode, progress bars) and reads
HF_HUB_OFFLINE only once, when it is imported. A child can be set offline, to save half a minute
of retries when the hub is unreachable, and nothing changes in the caller's process.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.arrow import load_arrow, one_line
from gradebox.sandbox.children.channel import Channel
from gradebox.sandbox.children.child import Child

MAIN = "gradebox.eval.problems.dataset_library:answer_request"
HUB_TIMEOUT_S = 5.0
MAX_ERROR = 200


@dataclass(frozen=True)
class LoadedTable:
    """A loaded split of a dataset. `open_table` maps its Arrow table and may be called again."""

    subset: str
    fingerprint: str
    open_table: Callable[[], Any]


def load(
    name: str, split: str, subsets: Sequence[str] | None
) -> tuple[list[LoadedTable], list[str]]:
    """Load a split of some subsets of a dataset on the hub, or of a folder of data files.

    subsets  None for a folder that `Dataset.save_to_disk` wrote

    Return the tables of the subsets that exist, and one line for each subset that failed.
    """
    with tempfile.TemporaryDirectory(prefix="gradebox-dataset-") as folder:
        answer = _answer(name=name, split=split, subsets=subsets, folder=folder)
        failures = [one_line(why, 240) for why in answer["failures"]]
        return [_table(entry) for entry in answer["loaded"]], failures


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


def _answer(**job: Any) -> dict[str, Any]:
    """Return what the child answers. Raises InputError when the child ends without an answer."""
    with Child(MAIN, own_errors=False) as child:  # stderr is ours: users see progress bars
        try:
            child.channel.send(json.dumps(job).encode())
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

    if entry["temporary"]:  # the files are removed soon, so they are mapped now
        table = map_files()
        return LoadedTable(entry["subset"], entry["fingerprint"], lambda: table)
    return LoadedTable(entry["subset"], entry["fingerprint"], map_files)


# ---- in the child process ----


def answer_request(channel: Channel) -> None:
    """Answer a request."""
    job = json.loads(channel.receive())
    answer = _downloaded(job) if "files" in job else _loaded(job)
    channel.send(json.dumps(answer).encode())


def _downloaded(job: dict[str, Any]) -> dict[str, Any]:
    try:
        hub = importlib.import_module("huggingface_hub")
        paths = [hub.hf_hub_download(job["name"], f, repo_type="dataset") for f in job["files"]]
    except Exception as error:  # noqa: BLE001 - the library raises errors of any type
        return {"error": f"{type(error).__name__}: {_words(error)}"}
    return {"paths": paths}


def _loaded(job: dict[str, Any]) -> dict[str, Any]:
    if job["subsets"] is not None and not Path(job["name"]).is_dir() and not _hub_reachable():
        os.environ["HF_HUB_OFFLINE"] = "1"  # use the local cache
    datasets = importlib.import_module("datasets")
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    answer: dict[str, Any] = {"loaded": [], "failures": []}
    for subset in [None] if job["subsets"] is None else job["subsets"]:
        about = "" if subset is None else f"subset {subset}: "
        try:
            loaded = _load_split(datasets, job, subset)
        except Exception as error:  # noqa: BLE001 - the library raises errors of any type
            answer["failures"].append(about + _words(error))
            if isinstance(error, ConnectionError):
                break
            continue
        number = len(answer["loaded"])
        entry = _describe(loaded, Path(job["folder"]) / str(number))
        answer["loaded"].append({"subset": subset or Path(job["name"]).name, **entry})
    return answer


def _load_split(datasets: Any, job: dict[str, Any], subset: str | None) -> Any:
    name, split = job["name"], job["split"]
    if subset is None:
        loaded = datasets.load_from_disk(name)
        if not isinstance(loaded, datasets.DatasetDict):
            return loaded
        if split not in loaded:
            raise LookupError(f"there is no split {split}: it has {', '.join(map(str, loaded))}")
        return loaded[split]
    # Versions before 4 may run a Python script of the dataset unless this is False.
    options = {"trust_remote_code": False} if int(datasets.__version__.split(".")[0]) < 4 else {}
    return datasets.load_dataset(name, subset, split=split, **options)


def _describe(dataset: Any, copy: Path) -> dict[str, Any]:
    """Return a dataset's Arrow files, newly saved in `copy` where its own hold other rows, too."""
    arrow = load_arrow()
    files = [str(entry["filename"]) for entry in dataset.cache_files]
    temporary = getattr(dataset, "_indices", None) is not None or (
        _rows_in(arrow, files) != len(dataset)
    )
    if temporary:
        dataset.save_to_disk(str(copy))
        files = sorted(map(str, copy.glob("*.arrow")))
    fingerprint = str(getattr(dataset, "_fingerprint", ""))
    return {"fingerprint": fingerprint, "files": files, "temporary": temporary}


def _rows_in(arrow: Any, files: list[str]) -> int:
    """Count the rows of Arrow stream files; -1 for files in another format."""
    try:
        count = 0
        for name in files:
            with arrow.memory_map(name) as source:
                count += arrow.ipc.open_stream(source).read_all().num_rows
        return count
    except (arrow.ArrowException, OSError, ValueError):
        return -1


def _hub_reachable() -> bool:
    """Return whether the hub accepts connections; True behind a proxy, which can't be tested."""
    proxies = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    if any(os.environ.get(name) for name in proxies):
        return True
    hub = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    try:
        port = hub.port or (80 if hub.scheme == "http" else 443)
        socket.create_connection((hub.hostname or "", port), timeout=HUB_TIMEOUT_S).close()
    except (OSError, ValueError):
        return False
    return True


def _words(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:MAX_ERROR]

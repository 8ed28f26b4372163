"""The child process of `dataset_library`: it answers one request. Both are JSON.

    {"name", "split", "subsets", "cache_dir", "folder"}
        ─▶ {"loaded": [{"subset", "fingerprint", "files", "temporary"}],
            "failures": [one line for each subset]}
    {"name", "files"} ─▶ {"paths"} or {"error"}

`subsets` is null for a folder of `save_to_disk`. `folder` is for rows that are not whole files.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gradebox.sandbox.children.channel import Channel

HUB_TIMEOUT_S = 5.0
MAX_ERROR = 200


def main(channel: Channel) -> None:
    """Answer a request."""
    job = json.loads(channel.receive())
    answer = _downloaded(job) if "files" in job else _loaded(job)
    channel.send(json.dumps(answer).encode())


def _downloaded(job: dict[str, Any]) -> dict[str, Any]:
    try:
        hub = importlib.import_module("huggingface_hub")
        paths = [hub.hf_hub_download(job["name"], f, repo_type="dataset") for f in job["files"]]
    except Exception as error:  # noqa: BLE001 - the library raises errors of any type
        return {"error": f"{type(error).__name__}: {_one_line(error)}"}
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
            loaded = _load(datasets, job, subset)
        except _load_errors(datasets) as error:
            answer["failures"].append(about + _one_line(error))
            if isinstance(error, ConnectionError):
                break
            continue
        number = len(answer["loaded"])
        entry = _describe(loaded, Path(job["folder"]) / str(number))
        answer["loaded"].append({"subset": subset or Path(job["name"]).name, **entry})
    return answer


def _load(datasets: Any, job: dict[str, Any], subset: str | None) -> Any:
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
    return datasets.load_dataset(name, subset, split=split, cache_dir=job["cache_dir"], **options)


def _describe(dataset: Any, copy: Path) -> dict[str, Any]:
    """Return the Arrow files of a dataset; save its rows to `copy` when they aren't whole files."""
    arrow = importlib.import_module("pyarrow")
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


def _load_errors(datasets: Any) -> tuple[type[Exception], ...]:
    """Return what the library raises for wrong names, damaged files and network errors."""
    arrow_error = importlib.import_module("pyarrow").ArrowException
    known = (OSError, ValueError, RuntimeError, ImportError, LookupError, TypeError, AttributeError)
    return (arrow_error, datasets.exceptions.DatasetsError, *known)


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


def _one_line(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:MAX_ERROR]

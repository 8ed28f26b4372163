"""What `--dataset` names → an open ProblemSet.

    problems.jsonl | problems.parquet     read here with json and pyarrow, nothing cached
    a folder of `save_to_disk`            mapped by the `datasets` library
    any other folder, a hub name          load_dataset(name, subset, split=split)

A local file or saved dataset has no subsets; a file has no splits either.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from eval.arrow import arrow_errors, load_arrow
from eval.input_error import InputError, shown
from eval.problems.arrow_rows import MappedRows, ParquetRows
from eval.problems.json_rows import JsonRows
from eval.problems.problem_set import ProblemSet
from eval.problems.source import Source

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_LOCAL_COPY = (
    "give a local copy: --dataset FILE.jsonl, FILE.parquet or a folder made with save_to_disk"
)
_HASHED_BYTES = 32 << 20
_HUB_WAIT_S = 5.0


def open_problems(
    dataset: str,
    *,
    split: str = "test",
    subsets: Sequence[str] = ("verifiable", "default"),
    cache_dir: str | Path | None = None,
) -> ProblemSet:
    """The problems of a dataset; InputError says what is wrong with it, and what to give."""
    path = Path(dataset).expanduser()
    if path.is_file():
        return ProblemSet(dataset, None, [_open_file(path)])
    if path.is_dir():
        if _is_saved(path):
            return ProblemSet(dataset, split, [_open_saved(path, split)])
        return _open_folder(path, split, subsets, cache_dir)
    looks_local = path.suffix in (".jsonl", ".json", ".parquet", ".gz") or dataset[:1] in "./~"
    if looks_local or not _HUB_NAME.fullmatch(dataset):
        raise InputError(f"--dataset {shown(dataset)} does not exist: {_LOCAL_COPY}")
    _note_offline()
    return ProblemSet(dataset, split, _open_subsets(dataset, split, subsets, cache_dir))


def _open_file(path: Path) -> Source:
    try:
        with path.open("rb") as file:
            head = file.read(4)
        fingerprint = _fingerprint(path)
    except OSError as error:
        raise InputError(f"--dataset {path} cannot be read: {error.strerror or error}") from error
    if not head:
        raise InputError(f"--dataset {path} is empty: {_LOCAL_COPY}")
    if head == b"PAR1" or path.suffix == ".parquet":
        return ParquetRows(path, fingerprint)
    if head[:2] == b"\x1f\x8b":
        raise InputError(f"--dataset {path} is compressed: unpack it first (gunzip {path.name})")
    if head.lstrip()[:1] == b"[":
        raise InputError(f"--dataset {path} is a JSON array: give one object a line (jq -c .[])")
    return JsonRows(path, fingerprint)


def _fingerprint(path: Path) -> str:
    """SHA-256 of the size and of the contents, of their first and last part when large."""
    size = path.stat().st_size
    sha = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        sha.update(file.read(_HASHED_BYTES // 2))
        file.seek(max(file.tell(), size - _HASHED_BYTES // 2))
        sha.update(file.read(_HASHED_BYTES // 2))
    return sha.hexdigest()[:32]


def _open_folder(
    path: Path, split: str, subsets: Sequence[str], cache_dir: str | Path | None
) -> ProblemSet:
    """A folder of data files, as one downloads a dataset; any failure names the files there."""
    try:
        return ProblemSet(str(path), split, _open_subsets(str(path), split, subsets, cache_dir))
    except InputError as error:
        files = sorted(file for file in path.iterdir() if file.suffix in (".jsonl", ".parquet"))
        remedy = f"give the file itself: --dataset {files[0]}" if files else _LOCAL_COPY
        raise InputError(f"{error}: {remedy}") from error


def _is_saved(path: Path) -> bool:
    return any((path / name).is_file() for name in ("dataset_dict.json", "state.json"))


def _open_saved(path: Path, split: str) -> Source:
    datasets = datasets_library()
    try:
        loaded = datasets.load_from_disk(str(path))
    except load_errors(datasets) as error:
        raise InputError(
            f"--dataset {path} is no readable saved dataset ({_one_line(error)}): {_LOCAL_COPY}"
        ) from error
    if not isinstance(loaded, datasets.DatasetDict):
        return _mapped(loaded, path.name)
    if split not in loaded:
        raise InputError(
            f"--dataset-split {split} is not in {path}: it has {', '.join(map(str, loaded))}"
        )
    return _mapped(loaded[split], path.name)


def _open_subsets(
    name: str, split: str, subsets: Sequence[str], cache_dir: str | Path | None
) -> list[Source]:
    """A source for each subset there is; InputError when there is none."""
    if not subsets:
        raise InputError("--dataset-subsets is empty: give names, such as verifiable,default")
    datasets = datasets_library()
    # Older versions run a dataset's own Python script unless told not to; newer never do.
    options = {"trust_remote_code": False} if int(datasets.__version__.split(".")[0]) < 4 else {}
    sources: list[Source] = []
    failures: list[str] = []
    for subset in subsets:
        try:
            loaded = datasets.load_dataset(
                name,
                subset,
                split=split,
                cache_dir=None if cache_dir is None else str(cache_dir),
                **options,
            )
        except load_errors(datasets) as error:
            failures.append(f"subset {subset}: {_one_line(error)}")
            if isinstance(error, ConnectionError):
                break
            continue
        sources.append(_mapped(loaded, subset))
    if not sources:
        remedy = "" if Path(name).is_dir() else f": {_LOCAL_COPY}"
        raise InputError(
            f"--dataset {name} (split {split}) cannot be loaded: {'; '.join(failures)}{remedy}"
        )
    for failure in failures:
        sources[0].notes.add(f"--dataset {name}: {failure}: left out")
    return sources


def _mapped(dataset: Any, name: str) -> Source:
    """The rows of a loaded Dataset, mapped from its files where it is all of them."""
    arrow = load_arrow()
    fingerprint = str(getattr(dataset, "_fingerprint", ""))
    if getattr(dataset, "_indices", None) is not None:
        dataset = dataset.flatten_indices()
    files = [str(entry["filename"]) for entry in dataset.cache_files]

    def from_files() -> Any:
        tables = []
        for file in files:
            with arrow.memory_map(file) as source:
                tables.append(arrow.ipc.open_stream(source).read_all())
        return arrow.concat_tables(tables)

    table = dataset.data.table
    try:
        if files and from_files().num_rows == len(dataset):
            return MappedRows(name, fingerprint, from_files)
    except arrow_errors():
        pass  # files of another form: the library's own table is as good, but stays mapped
    return MappedRows(name, fingerprint, lambda: table)


def datasets_library() -> Any:
    """The `datasets` library, imported when first needed: it takes more than a second."""
    datasets = importlib.import_module("datasets")
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    return datasets


def load_errors(datasets: Any) -> tuple[type[Exception], ...]:
    """What loading is known to raise for names, files and networks that are wrong."""
    return (
        *arrow_errors(),
        datasets.exceptions.DatasetsError,
        RuntimeError,
        ImportError,
        LookupError,
        TypeError,
        AttributeError,
    )


def _note_offline() -> None:
    """Spares the library's half a minute of retries where the hub cannot be reached.

    What is in its cache is used then; the setting counts only before its first import.
    """
    proxies = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    if "datasets" in sys.modules or any(os.environ.get(name) for name in proxies):
        return
    hub = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    try:
        port = hub.port or (80 if hub.scheme == "http" else 443)
        socket.create_connection((hub.hostname or "", port), timeout=_HUB_WAIT_S).close()
    except (OSError, ValueError):
        os.environ["HF_HUB_OFFLINE"] = "1"


def _one_line(error: BaseException) -> str:
    return shown(" ".join(str(error).split()) or type(error).__name__, 200).strip("'\"")

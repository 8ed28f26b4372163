"""Open the problems that `--dataset` names.

    problems.jsonl | problems.parquet     read here with json and pyarrow, nothing is cached
    a folder written by `save_to_disk`    loaded by the `datasets` library
    a folder with IOI's files             subtasks and tests together (formats/ioi_rows.py)
    a folder with CodeContests+' files    read as they are
    LiveCodeBench                         its files, from a folder or the hub (formats/hub.py)
    any other folder, a name on the hub   load_dataset(name, subset, split=split)

Local files and saved datasets have no subsets. Files have no splits either.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.arrow_rows import Choose, MappedRows, ParquetRows
from gradebox.eval.problems.dataset_library import (
    download,
    is_saved_dataset,
    load_saved,
    load_subsets,
)
from gradebox.eval.problems.formats import OWN, Judge, Reading, Recognised, Row
from gradebox.eval.problems.formats.array_rows import ArrayRows
from gradebox.eval.problems.formats.hub import (
    FILES,
    parquet_in,
    release_files,
    release_in,
    whole,
)
from gradebox.eval.problems.formats.ioi_rows import IoiRows, ioi_files
from gradebox.eval.problems.json_rows import JsonRows, first_rows
from gradebox.eval.problems.problem_set import ProblemSet
from gradebox.eval.problems.source import RowSource
from gradebox.sandbox.input_file import check_input_file

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_LOCAL_COPY = (
    "give a local copy: --dataset FILE.jsonl, FILE.parquet or a folder made with save_to_disk"
)
_HASHED_BYTES = 32 << 20


def open_problems(
    dataset: str,
    *,
    split: str = "test",
    subsets: Sequence[str] = ("verifiable", "default"),
    cache_dir: str | Path | None = None,
    format_name: str | None = None,
    judge: Judge = "strict",
) -> ProblemSet:
    """Return the problems of a dataset.

    dataset    a .jsonl or .parquet file, a folder, or a name on the hub
    subsets    where problems are looked up, in this order
    cache_dir  the cache of the `datasets` library; None for its own
    format_name, judge  see `Reading`; None for the format that recognises the rows

    Raises InputError when the dataset can't be read, with what to give instead.
    """

    found: list[Recognised] = []

    def choose(rows: Iterable[Row], where: str) -> Reading:
        found.append(Recognised(rows))
        return Reading(found[-1].one(format_name, where), judge, format_name is not None)

    path = Path(dataset).expanduser()
    if path.is_dir() and not is_saved_dataset(path) and (ioi := ioi_files(path)):

        def read(file: Path, reading: Reading) -> RowSource:
            return open_file(file, lambda _rows, _where: reading)

        return ProblemSet(dataset, None, [IoiRows(path, ioi, read, judge)])
    opened = open_sources(dataset, split, subsets, choose, cache_dir)
    problems = ProblemSet(*opened, columns=found[-1].described() if found else "")
    for hint in dict.fromkeys(
        hint for rows in found if OWN in rows.formats for hint in rows.misnamed()
    ):
        problems.diagnostics.add(f"--dataset {dataset}: {hint}")
    return problems


def open_sources(
    dataset: str,
    split: str,
    subsets: Sequence[str],
    choose: Choose,
    cache_dir: str | Path | None = None,
) -> tuple[str, str | None, list[RowSource]]:
    """Return the name, the split (None where there are none) and the rows of a dataset.

    Raises InputError as `open_problems` does.
    """
    path = Path(dataset).expanduser()
    if path.exists() and not path.is_dir():
        return dataset, None, [open_file(path, choose)]
    if path.is_dir():
        if is_saved_dataset(path):
            return dataset, split, _open_saved(path, split, choose)
        if files := release_in(path, subsets) or parquet_in(path):
            return dataset, None, [open_file(file, choose) for file in files]
        return str(path), split, _open_subsets(str(path), split, subsets, cache_dir, choose)
    looks_local = path.suffix in (".jsonl", ".json", ".parquet", ".gz") or dataset[:1] in "./~"
    if looks_local or not _HUB_NAME.fullmatch(dataset):
        raise InputError(f"--dataset {shown(dataset)} does not exist: {_LOCAL_COPY}")
    if dataset in FILES:
        files = download(dataset, release_files(subsets))
        return dataset, None, [open_file(file, choose) for file in files]
    subsets, split = whole(dataset, subsets, split)
    return dataset, split, _open_subsets(dataset, split, subsets, cache_dir, choose)


def open_file(path: Path, choose: Choose) -> RowSource:
    """Return the rows of a data file. Raises InputError."""
    try:
        check_input_file(path)
        with path.open("rb") as file:
            head = file.read(4)
        fingerprint = _fingerprint(path)
    except OSError as error:
        raise InputError(f"--dataset {path} can't be read: {error.strerror or error}") from error
    if not head:
        raise InputError(f"--dataset {path} is empty: {_LOCAL_COPY}")
    if head == b"PAR1" or path.suffix == ".parquet":
        return ParquetRows(path, fingerprint, choose)
    if head[:2] == b"\x1f\x8b":
        raise InputError(f"--dataset {path} is compressed: unpack it first (gunzip {path.name})")
    if head.lstrip()[:1] == b"[":
        return ArrayRows(path, fingerprint, choose)
    return JsonRows(path, fingerprint, choose(first_rows(path), str(path)))


def _fingerprint(path: Path) -> str:
    """Hash the size and the contents of a file; of a large one its first and last 16 MiB."""
    size = path.stat().st_size
    sha = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        sha.update(file.read(_HASHED_BYTES // 2))
        file.seek(max(file.tell(), size - _HASHED_BYTES // 2))
        sha.update(file.read(_HASHED_BYTES // 2))
    return sha.hexdigest()[:32]


def _open_saved(path: Path, split: str, choose: Choose) -> list[RowSource]:
    tables, failures = load_saved(path, split)
    if failures:
        raise InputError(
            f"--dataset {path} (--dataset-split {split}) can't be loaded: {failures[0]}; "
            f"choose another split, or {_LOCAL_COPY}"
        )
    return [MappedRows(t.subset, t.fingerprint, t.open_table, choose) for t in tables]


def _open_subsets(
    name: str,
    split: str,
    subsets: Sequence[str],
    cache_dir: str | Path | None,
    choose: Choose,
) -> list[RowSource]:
    """Return a source for each subset that exists; raise InputError when none does."""
    if not subsets:
        raise InputError("--dataset-subsets is empty: give names, such as verifiable,default")
    tables, failures = load_subsets(name, split, subsets, cache_dir)
    if not tables:
        raise InputError(
            f"--dataset {name} (split {split}) can't be loaded: {'; '.join(failures)}: "
            f"{_remedy(Path(name))}"
        )
    sources: list[RowSource] = [
        MappedRows(t.subset, t.fingerprint, t.open_table, choose) for t in tables
    ]
    for failure in failures:
        sources[0].diagnostics.add(f"--dataset {name}: {failure}: the subset is not used")
    return sources


def _remedy(path: Path) -> str:
    """Suggest a data file of the folder, where there is one."""
    files = path.iterdir() if path.is_dir() else ()
    data = sorted(file for file in files if file.suffix in (".jsonl", ".parquet"))
    return f"give the file itself: --dataset {data[0]}" if data else _LOCAL_COPY

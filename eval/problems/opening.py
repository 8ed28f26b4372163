"""Open the problems that `--dataset` names.

    problems.jsonl | problems.parquet     read here with json and pyarrow, nothing is cached
    a folder written by `save_to_disk`    loaded by the `datasets` library
    a folder with IOI's files             subtasks and tests together (several_files.py)
    a folder with CodeContests+' files    read as they are
    usaco_…_dict.json                     with the folder of tests beside it (several_files.py)
    LiveCodeBench                         its files, from a folder or the hub
    a package, a zip or a folder of them  packages/; several with commas between them
    any other folder, a name on the hub   load_dataset(name, subset, split=split)

Local files and saved datasets have no subsets. Files have no splits either.

livecodebench/code_generation_lite has a loading script, which `datasets` 4 refuses and we never
run. Its files are lines of JSON: test.jsonl, test2.jsonl, …; a release is the first N of them.

    --dataset-subsets release_v3 ──▶ test.jsonl test2.jsonl test3.jsonl
    --dataset-subsets v5_v6      ──▶ test5.jsonl test6.jsonl
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.arrow import MappedRows, ParquetRows, arrow_errors, load_parquet
from gradebox.eval.problems.dataset_library import (
    download,
    is_saved_dataset,
    load,
)
from gradebox.eval.problems.formats import OWN, Judge, Reading, Recognised, Row
from gradebox.eval.problems.formats.contests import CODE_CONTESTS_PLUS
from gradebox.eval.problems.packages import PackageRows, find_packages
from gradebox.eval.problems.problem_set import ProblemSet
from gradebox.eval.problems.rows import Choose, JsonRows, Rows
from gradebox.eval.problems.several_files import IoiRows, UsacoRows, ioi_files, usaco_tests
from gradebox.sandbox.input_file import check_input_file

FILES = {"livecodebench/code_generation_lite", "livecodebench/code_generation"}
# the subsets and the split that hold the whole data set, where these are not `default` and `test`
WHOLE = {
    "openai/openai_humaneval": (("openai_humaneval",), "test"),
    "openai_humaneval": (("openai_humaneval",), "test"),
    "google-research-datasets/mbpp": (("full",), "train+test+validation+prompt"),
    "ByteDance-Seed/Code-Contests-Plus": (("1x",), "train"),
    "mbpp": (("full",), "train+test+validation+prompt"),
}
DEFAULT_SUBSETS, DEFAULT_SPLIT = ("verifiable", "default"), "test"
LATEST = 6
_RELEASE = re.compile(r"release_v([1-9])|v([1-9])(?:_v([1-9]))?")


def whole(name: str, subsets: Sequence[str], split: str) -> tuple[Sequence[str], str]:
    """Return the subsets and the split to load; those given, unless they are the defaults."""
    if tuple(subsets) != DEFAULT_SUBSETS:
        return subsets, split
    known_subsets, known_split = WHOLE.get(name, (subsets, split))
    return known_subsets, known_split if split == DEFAULT_SPLIT else split


def parquet_in(folder: Path) -> list[Path]:
    """Return the parquet files of a folder of CodeContests+, which `datasets` does not load.

    Its rows hold nested columns of gigabytes; ParquetRows reads them by row groups.
    """
    files = sorted(folder.glob("*.parquet"))
    if not files:
        return []
    try:
        names = load_parquet().read_schema(files[0]).names
    except arrow_errors():
        return []
    return files if CODE_CONTESTS_PLUS.matched(frozenset(names)) else []


def release_files(subsets: Sequence[str]) -> list[str]:
    """Return the names of a release's files. Raises InputError for an unknown release."""
    if tuple(subsets) == DEFAULT_SUBSETS or tuple(subsets) == ("release_latest",):
        subsets = (f"release_v{LATEST}",)
    numbers: dict[int, None] = {}
    for name in subsets:
        found = _RELEASE.fullmatch(name)
        if found is None:
            raise InputError(
                f"--dataset-subsets {shown(name)}: give release_latest, release_v1 to "
                f"release_v{LATEST}, v3, or v3_v5"
            )
        release, first, last = found.groups()
        start, end = (1, int(release)) if release else (int(first), int(last or first))
        numbers |= dict.fromkeys(range(start, end + 1))
    return [f"test{number if number > 1 else ''}.jsonl" for number in numbers]


def release_in(folder: Path, subsets: Sequence[str]) -> list[Path]:
    """Return a release's files in a folder, none when it is not a copy of LiveCodeBench.

    The latest release is what there is. Raises InputError for a file that is missing.
    """
    if not (folder / "test.jsonl").is_file() or not (folder / "test2.jsonl").is_file():
        return []
    files = [folder / name for name in release_files(subsets)]
    if tuple(subsets) in (DEFAULT_SUBSETS, ("release_latest",)):
        files = [file for file in files if file.is_file()]
    missing = next((file for file in files if not file.is_file()), None)
    if missing is not None:
        raise InputError(f"--dataset {folder} has no {missing.name}: copy it there as well")
    return files


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
    format_name: str | None = None,
    judge: Judge = "strict",
    testlib: str | None = None,
) -> ProblemSet:
    """Return the problems of a dataset.

    dataset    a .jsonl or .parquet file, a folder, or a name on the hub
    subsets    where problems are looked up, in this order
    testlib    path of testlib.h, for packages that lack it
    format_name, judge  see `Reading`; None for the format that recognises the rows

    Raises InputError when the dataset can't be read, with what to give instead.
    """

    found: list[Recognised] = []

    def choose(rows: Iterable[Row], where: str) -> Reading:
        found.append(Recognised(rows))
        return Reading(found[-1].one(format_name, where), judge, format_name is not None)

    path = Path(dataset).expanduser()
    packages = None if format_name else open_packages(dataset, testlib)
    if packages is not None:
        return ProblemSet(dataset, None, [packages])
    if path.is_dir() and not is_saved_dataset(path) and (ioi := ioi_files(path)):

        def read(file: Path, reading: Reading) -> Rows:
            return open_file(file, lambda _rows, _where: reading)

        return ProblemSet(dataset, None, [IoiRows(path, ioi, read, judge)])
    if path.is_file() and (tests := usaco_tests(path)):
        return ProblemSet(dataset, None, [UsacoRows(path, _fingerprint(path), tests, judge)])
    opened = open_sources(dataset, split, subsets, choose)
    problems = ProblemSet(*opened, columns=found[-1].described() if found else "")
    for hint in dict.fromkeys(
        hint for rows in found if OWN in rows.formats for hint in rows.misnamed()
    ):
        problems.diagnostics.add(f"--dataset {dataset}: {hint}")
    return problems


def dataset_paths(dataset: str) -> list[Path]:
    """Return the local paths that --dataset names: one, or several with commas between them."""
    whole = Path(dataset).expanduser()
    paths = [Path(part).expanduser() for part in dataset.split(",")]
    try:
        if whole.exists():
            return [whole]
        return paths if len(paths) > 1 and all(path.exists() for path in paths) else []
    except OSError:  # too long for a path
        return []


def open_packages(dataset: str, testlib: str | None = None) -> PackageRows | None:
    """Return the rows of the packages that a data set is; None when it is another.

    Raises InputError for several paths that hold none, and for a zip that can't be read.
    """
    paths = dataset_paths(dataset)
    if not paths or (len(paths) == 1 and is_saved_dataset(paths[0])):
        return None
    found, messages = find_packages(paths)
    if found:
        return PackageRows(dataset, found, messages, testlib)
    if messages or len(paths) > 1 or paths[0].suffix == ".zip":
        why = messages[0] if messages else "there is no problem.yaml, problem.xml or init.yml"
        raise InputError(f"--dataset {dataset} has no problem package: {why}")
    return None


def open_sources(
    dataset: str,
    split: str,
    subsets: Sequence[str],
    choose: Choose,
) -> tuple[str, str | None, list[Rows]]:
    """Return the name, the split (None where there are none) and the rows of a dataset.

    Raises InputError as `open_problems` does.
    """
    path = Path(dataset).expanduser()
    if path.exists() and not path.is_dir():
        return dataset, None, [open_file(path, choose)]
    if path.is_dir():
        if is_saved_dataset(path):
            return dataset, split, _open_tables(dataset, split, None, choose)
        if files := release_in(path, subsets) or parquet_in(path):
            return dataset, None, [open_file(file, choose) for file in files]
        return str(path), split, _open_tables(str(path), split, subsets, choose)
    suffixes = (".jsonl", ".json", ".parquet", ".csv", ".gz")
    looks_local = path.suffix in suffixes or dataset[:1] in "./~"
    if looks_local or not _HUB_NAME.fullmatch(dataset):
        raise InputError(f"--dataset {shown(dataset)} does not exist: {_LOCAL_COPY}")
    if dataset in FILES:
        files = download(dataset, release_files(subsets))
        return dataset, None, [open_file(file, choose) for file in files]
    subsets, split = whole(dataset, subsets, split)
    return dataset, split, _open_tables(dataset, split, subsets, choose)


def open_file(path: Path, choose: Choose) -> Rows:
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
    if head == b"\x28\xb5\x2f\xfd":
        raise InputError(f"--dataset {path} is compressed by zstd: unzstd it, or use gzip")
    return JsonRows(path, fingerprint, choose)


def _fingerprint(path: Path) -> str:
    """Hash the size and the contents of a file; of a large one its first and last 16 MiB."""
    size = path.stat().st_size
    sha = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        sha.update(file.read(_HASHED_BYTES // 2))
        file.seek(max(file.tell(), size - _HASHED_BYTES // 2))
        sha.update(file.read(_HASHED_BYTES // 2))
    return sha.hexdigest()[:32]


def _open_tables(
    name: str, split: str, subsets: Sequence[str] | None, choose: Choose
) -> list[Rows]:
    """Return a source for each subset that exists; raise InputError when none does.

    subsets  None for a saved dataset, which has none
    """
    if subsets is not None and not subsets:
        raise InputError("--dataset-subsets is empty: give names, such as verifiable,default")
    tables, failures = load(name, split, subsets)
    if not tables:
        raise InputError(
            f"--dataset {name} (split {split}) can't be loaded: {'; '.join(failures)}: "
            f"choose another --dataset-split, or {_remedy(Path(name))}"
        )
    sources: list[Rows] = [
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

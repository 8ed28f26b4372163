"""Data sets of the hub that are read from their files, or have subsets of their own.

livecodebench/code_generation_lite has a loading script, which `datasets` 4 refuses and we never
run. Its files are lines of JSON: test.jsonl, test2.jsonl, …; a release is the first N of them.

    --dataset-subsets release_v3 ──▶ test.jsonl test2.jsonl test3.jsonl
    --dataset-subsets v5_v6      ──▶ test5.jsonl test6.jsonl
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.arrow import arrow_errors, load_parquet
from gradebox.eval.problems.formats.code_contests_plus import CODE_CONTESTS_PLUS

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

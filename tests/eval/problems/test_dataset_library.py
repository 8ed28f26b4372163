"""Datasets loaded by the Hugging Face library in a child process.

Tests of what is loaded run the child's function in this process: a child takes seconds to import
the library, and that it leaves its caller alone is tested at the end.
"""

import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import ProblemSet, dataset_library, open_problems
from testing.commands import ROOT, run_command

pytestmark = pytest.mark.slow  # importing `datasets` takes a second or two
ROWS = [{"id": "1/A", "title": "a"}, {"id": "2/B", "title": "b"}, {"id": "3/C", "title": "c"}]


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import datasets

    class InThisProcess(contextlib.AbstractContextManager):
        """The child, its channel and its work."""

        def __init__(self, main: str, own_errors: bool) -> None:
            assert (main, own_errors) == (dataset_library.MAIN, False)
            self.channel = self
            self.messages: list[bytes] = []

        def send(self, message: bytes) -> None:
            own = SimpleNamespace(receive=lambda: message, send=self.messages.append)
            dataset_library.answer_request(own)  # type: ignore[arg-type]

        def receive(self) -> bytes:
            return self.messages.pop()

        def __exit__(self, *_: Any) -> None: ...

    monkeypatch.setattr(dataset_library, "Child", InThisProcess)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.fixture
def make_dataset(tmp_path: Path) -> Callable[..., str]:
    """Return a function that writes a dataset of several subsets, as on the hub."""

    def make(**subsets: list[dict[str, Any]]) -> str:
        folder = tmp_path / "dataset"
        folder.mkdir()
        configs = []
        for name, rows in subsets.items():
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / f"{name}.jsonl").write_text(lines)
            files = [{"split": "test", "path": f"{name}.jsonl"}]
            configs.append({"config_name": name, "data_files": files})
        (folder / "README.md").write_text(f"---\nconfigs: {json.dumps(configs)}\n---\n")
        return str(folder)

    return make


def titles(problems: ProblemSet, *names: str) -> list[str | None]:
    return [p.title if (p := problems.get(name)) else None for name in names]


@pytest.mark.usefixtures("in_this_process")
def test_the_first_subset_with_a_problem_is_used(tmp_path, make_dataset):
    dataset = make_dataset(
        verifiable=[{"id": "1/A", "title": "v", "aliases": ["2/B"]}],
        default=[{**row, "title": "d", "aliases": []} for row in ROWS],
    )
    problems = open_problems(dataset)
    assert titles(problems, "1/A", "2/B", "3/C", "4/D") == ["v", "v", "d", None]
    assert problems.ids() == ["1/A", "3/C"]
    problems = open_problems(dataset, subsets=("default", "verifiable", "other"))
    assert titles(problems, "1/A", "2/B", "3/C") == ["d", "d", "d"]
    (message,) = problems.messages()
    assert "subset other: BuilderConfig 'other' not found" in message
    assert message.endswith("the subset is not used")


def test_an_unreachable_hub_is_reported_with_the_remedy():
    with pytest.raises(InputError) as caught:
        open_problems("someone/problems")
    message = str(caught.value)
    assert "--dataset someone/problems (split test)" in message
    assert "subset verifiable: Couldn't reach" in message and "subset default" not in message
    assert "give a local copy: --dataset FILE.jsonl" in message
    with pytest.raises(InputError, match="--dataset-subsets is empty: give names"):
        open_problems("someone/problems", subsets=())


@pytest.mark.usefixtures("in_this_process")
def test_a_saved_dataset_has_splits(tmp_path):
    import datasets

    rows = datasets.Dataset.from_list(ROWS)
    splits = datasets.DatasetDict(test=rows, train=rows.select([2, 0]))
    splits.save_to_disk(str(tmp_path / "both"))
    assert len(open_problems(str(tmp_path / "both"))) == 3
    train = open_problems(str(tmp_path / "both"), split="train")
    assert train.ids() == ["3/C", "1/A"]
    assert titles(train, "1/A", "3/C") == ["a", "c"]
    with pytest.raises(InputError, match=r"no split dev: it has test, train: choose another --d"):
        open_problems(str(tmp_path / "both"), split="dev")


@pytest.mark.usefixtures("in_this_process")
def test_a_folder_of_files_is_a_dataset(tmp_path):
    def open_folder(name: str, split: str) -> ProblemSet:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        return open_problems(str(folder), split=split, subsets=("default",))

    (tmp_path / "files").mkdir()
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "files" / "test.jsonl").write_text(lines)
    assert open_folder("files", "test").ids() == ["1/A", "2/B", "3/C"]
    part = open_folder("files", "test[1:]")  # rows of a file, not a whole file
    assert titles(part, "1/A", "2/B", "3/C") == [None, "b", "c"]
    with pytest.raises(InputError, match=r"give the file itself: --dataset .*/files/test.jsonl"):
        open_folder("files", "dev")
    with pytest.raises(InputError, match=r"can't be loaded: .*give a local copy"):
        open_folder("empty", "test")


def test_opening_changes_and_imports_nothing_in_the_process(
    tmp_path: Path, make_dataset: Callable[..., str]
) -> None:
    code = """
import json, os, sys
from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import open_problems

open_problems(sys.argv[1], subsets=["default"]).get("1/A")
loaded = {"datasets", "pandas", "huggingface_hub"} & set(sys.modules)
assert not loaded, loaded  # this caller's
import datasets, huggingface_hub.constants

def state():
    modules = datasets.config, huggingface_hub.constants
    return [dict(os.environ), os.getcwd(), datasets.are_progress_bars_disabled(),
            *({k: repr(v) for k, v in vars(m).items() if k.isupper()} for m in modules)]

before = state()
try:
    open_problems("someone/problems")
except InputError as error:
    assert "Couldn't reach" in str(error), error
    assert state() == before, "after a failed opening"
    print("unchanged", before[-1]["HF_HUB_OFFLINE"])
"""
    hidden = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    environment["HF_ENDPOINT"] = "http://127.0.0.1:9"  # refuses connections
    environment["PYTHONPATH"] = str(ROOT / "src")
    environment["HF_DATASETS_CACHE"] = str(tmp_path / "cache")
    command = [sys.executable, "-c", code, make_dataset(default=ROWS)]
    run = run_command(command, env=environment)
    assert run.stdout == "unchanged False\n", run.stderr

"""LiveCodeBench is read from its files, and hub names have their own subsets."""

import json
from pathlib import Path

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.problems import open_problems
from gradebox.eval.problems.dataset_library import download
from gradebox.eval.problems.opening import DEFAULT_SUBSETS, release_files, whole
from tests.eval.problems.dataset_rows import call_row, stdin_row

FAKE_HUB = """
import pathlib
def hf_hub_download(repo, name, repo_type):
    assert (repo, repo_type) == ("livecodebench/code_generation_lite", "dataset")
    path = pathlib.Path({folder!r}) / name
    if not path.exists():
        raise OSError("no such file: " + name)
    return str(path)
"""


@pytest.mark.parametrize(
    ("subsets", "numbers"),
    [
        (DEFAULT_SUBSETS, "123456"),
        (("release_latest",), "123456"),
        (("release_v1",), "1"),
        (("release_v3",), "123"),
        (("v3",), "3"),
        (("v2_v4",), "234"),
        (("v5", "v1"), "51"),
    ],
)
def test_a_release_is_its_first_files(subsets, numbers):
    names = ["test.jsonl" if n == "1" else f"test{n}.jsonl" for n in numbers]
    assert release_files(subsets) == names


def test_an_unknown_release_names_those_there_are():
    with pytest.raises(InputError, match="give release_latest, release_v1 to release_v6"):
        release_files(("release_best",))


def copy(folder: Path) -> None:
    for i in (1, 2, 3):
        row = call_row(question_id=str(i)) if i < 3 else stdin_row()
        (folder / f"test{i if i > 1 else ''}.jsonl").write_text(json.dumps(row) + "\n")


def test_a_folder_with_the_files_is_a_release(tmp_path):
    copy(tmp_path)
    assert open_problems(str(tmp_path)).ids() == ["1", "2", "1900_A"]
    assert open_problems(str(tmp_path), subsets=("release_v2",)).ids() == ["1", "2"]
    assert open_problems(str(tmp_path), subsets=("v3",)).ids() == ["1900_A"]
    with pytest.raises(InputError, match=r"has no test4.jsonl: copy it there"):
        open_problems(str(tmp_path), subsets=("release_v4",))


def test_a_hub_name_is_its_files(tmp_path, monkeypatch):
    copy(tmp_path)
    fake = tmp_path / "library"
    fake.mkdir()
    (fake / "huggingface_hub.py").write_text(FAKE_HUB.format(folder=str(tmp_path)))
    monkeypatch.syspath_prepend(str(fake))
    name = "livecodebench/code_generation_lite"
    assert open_problems(name, subsets=("release_v3",)).ids() == ["1", "2", "1900_A"]
    with pytest.raises(InputError, match=r"cannot be downloaded: .*no such file: test6.jsonl"):
        open_problems(name, subsets=("v6",))


def test_known_names_have_their_own_subsets():
    assert whole("google-research-datasets/mbpp", DEFAULT_SUBSETS, "test") == (
        ("full",),
        "train+test+validation+prompt",
    )
    assert whole("google-research-datasets/mbpp", ("sanitized",), "test") == (
        ("sanitized",),
        "test",
    )
    assert whole("openai/openai_humaneval", DEFAULT_SUBSETS, "test")[0] == ("openai_humaneval",)
    assert whole("open-r1/codeforces", DEFAULT_SUBSETS, "test") == (DEFAULT_SUBSETS, "test")


def test_problems_are_chosen_by_date_difficulty_and_platform(tmp_path):
    rows = [call_row(), stdin_row(), stdin_row(question_id="x", contest_date="", difficulty=None)]
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    problems = open_problems(str(path))
    assert problems.matching(since="2024-03-05", until="2024-03-05") == ["2900"]
    assert problems.matching(until="2024-03-04") == ["1900_A"]
    assert problems.matching(difficulty=["hard", "medium"]) == ["1900_A"]
    assert problems.matching(platform=["codeforces"]) == ["1900_A", "x"]
    assert problems.matching(since="2025-01-01") == []


def test_a_download_imports_nothing_from_the_working_folder(tmp_path, monkeypatch):
    library, here = tmp_path / "library", tmp_path / "here"
    for folder in (library, here):
        folder.mkdir()
        (folder / "huggingface_hub.py").write_text(
            f"def hf_hub_download(*_, **__): return '{folder.name}'"
        )
    (here / "json.py").write_text("open('was_run', 'w')\n")
    monkeypatch.syspath_prepend(library)
    monkeypatch.chdir(here)
    assert download("a/b", ["x"]) == [Path("library")]
    assert not (here / "was_run").exists()

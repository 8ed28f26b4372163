"""Checker programs that rows of a local data set name: files of its folder, and no others."""

from pathlib import Path

import pytest

from testing.rows import rows
from tests.eval.cli.test_run import RunFolder

FILES = ("checker.py", "main.cpp", "testlib.h")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


def checked(folder: RunFolder, *checkers: str):
    """Grade a solution, which prints ok, of a problem for each checker; return the records."""
    rows = [
        {"id": f"mine/{i}", "checker": checker, "official_tests": [1]}
        for i, checker in enumerate(checkers)
    ]
    folder.write_problems(rows)
    _, _, records = folder.run(*((row["id"], "ok") for row in rows))
    return records


def test_each_problem_of_a_local_data_set_may_have_a_checker_file(folder):
    (folder.path / "check").mkdir()
    (folder.path / "check" / "a.py").write_text("one")
    (folder.path / "b.py").write_text("two")
    (folder.path / "c.cpp").write_text("three")
    (folder.path / "testlib.h").write_text("the header")
    records = checked(folder, "python:check/a.py", "python:b.py", "testlib:c.cpp -q", "wcmp")
    programs = [call.program.files for call in folder.sandbox.calls]
    sources = {name: [files[name] for files in programs if name in files] for name in FILES}
    assert sources == {
        "checker.py": [b"one", b"two"],
        "main.cpp": [b"three"],
        "testlib.h": [b"the header"],
    }
    assert [r["has_checker"] for r in records] == [True] * 4


@pytest.mark.parametrize(
    ("checker", "why"),
    rows(__file__, "checkers"),
)
def test_a_data_set_chooses_no_file_outside_its_folder(tmp_path, checker, why):
    (tmp_path / "data").mkdir()
    folder = RunFolder(tmp_path / "data")
    for name in ("out.cpp", "out.py"):
        (tmp_path / name).write_text("private")
    (folder.path / "link.py").symlink_to(tmp_path / "out.py")
    (folder.path / "link").symlink_to(tmp_path)
    (folder.path / "loop").symlink_to("loop")
    (folder.path / "folder").mkdir()
    (folder.path / "folder" / "main.py").symlink_to(tmp_path / "out.py")
    (folder.path / "uses_link.py").write_text("import link\n")
    [record] = checked(folder, checker)
    assert (record["status"], record["details"]) == ("invalid", [])
    assert why in record["error"]
    assert not any(b"private" in call.program.files.values() for call in folder.sandbox.calls)

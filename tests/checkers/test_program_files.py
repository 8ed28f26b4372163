"""read_program: which files belong to a checker's or interactor's program."""

from pathlib import Path

import pytest

from gradebox.checkers.check import CheckerError
from gradebox.checkers.opening import MOST_BYTES, read_program
from testing.rows import named_rows

# files of a folder · what is named · language · the program's files, the main one first
ROWS = named_rows(__file__, "programs")


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


@pytest.mark.parametrize(("files", "name", "language", "found"), ROWS.values(), ids=ROWS)
def test_the_files_of_a_program(tmp_path, files, name, language, found):
    write(tmp_path, files)
    program = read_program("kattis", tmp_path / name)
    assert (program.language, list(program.files)) == (language, found)


def test_testlib_programs_have_their_headers_too(tmp_path):
    write(
        tmp_path,
        {"c.cpp": '#include "testlib.h"\n#include "own.h"\n', "own.h": "", "testlib.h": "T"},
    )
    assert read_program("testlib", tmp_path / "c.cpp").files["testlib.h"] == b"T"
    write(tmp_path / "shared", {"testlib.h": "S"})
    for given in ("shared", "shared/testlib.h"):
        files = read_program("testlib", tmp_path / "c.cpp", str(tmp_path / given)).files
        assert (list(files), files["testlib.h"]) == (["main.cpp", "own.h", "testlib.h"], b"S")


@pytest.mark.parametrize(
    ("files", "name", "words"),
    [
        ({"v.rs": ""}, "v.rs", "'v.rs' must end in .py, .cpp"),
        ({}, "v.cpp", "v.cpp' can't be read: No such file"),
        ({"README": ""}, "", "has no file that ends in .py, .cpp"),
        ({"a.py": "", "b.py": ""}, "", "has 2 Python files: name the one to start"),
        ({"v.cpp": "x" * (MOST_BYTES + 1)}, "v.cpp", "is longer than 16 MiB"),
        ({"v.cpp": '#include "v.h"', "v.h": "x" * (MOST_BYTES + 1)}, "v.cpp", "v.h' is longer"),
    ],
)
def test_unusable_programs_are_reported(tmp_path, files, name, words):
    write(tmp_path, files)
    with pytest.raises(CheckerError, match=words):
        read_program("kattis", tmp_path / name)


@pytest.mark.parametrize("name", ["v.cpp", ""])
def test_no_file_outside_of_the_folder_is_read(tmp_path, name):
    """A data set must not choose files of this machine, not even through links."""
    (tmp_path / "secret").write_text("secret")
    data = (tmp_path / "data").resolve()
    write(data, {"v.cpp": '#include "v.h"\n#include "../secret"\n'})
    files = read_program("kattis", data / name, within=data).files
    assert b"secret" not in files.values()
    (data / "v.h").symlink_to(tmp_path / "secret")
    with pytest.raises(CheckerError, match=r"'v\.h' is a link out of"):
        read_program("kattis", data / name, within=data)
    assert b"secret" in read_program("kattis", data / name).files.values()


@pytest.mark.parametrize("name", ["v.cpp", ""])
def test_links_to_one_large_file_do_not_fill_the_memory(tmp_path, name, monkeypatch):
    monkeypatch.setattr("gradebox.checkers.opening.MOST_BYTES", 1 << 20)
    heads = [f"h{i}.h" for i in range(6)]
    write(
        tmp_path,
        {"v.cpp": "".join(f'#include "{head}"\n' for head in heads), heads[0]: "x" * 2**20},
    )
    for head in heads[1:]:
        (tmp_path / head).symlink_to(tmp_path / heads[0])
    with pytest.raises(CheckerError, match="have more than 4 MiB: leave out"):
        read_program("kattis", tmp_path / name)
